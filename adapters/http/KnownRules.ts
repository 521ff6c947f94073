/** The rules that the platform holds for us. Without any, the stream stays closed. */
import { Effect } from "effect"

export class KnownRules {
  private readonly ids = new Set<string>()
  private readonly nonEmpty = Effect.unsafeMakeLatch(false)
  private readonly empty = Effect.unsafeMakeLatch(true)

  readonly awaitRules: Effect.Effect<void> = this.nonEmpty.await
  readonly awaitNoRules: Effect.Effect<void> = this.empty.await

  get isEmpty(): boolean {
    return this.ids.size === 0
  }

  add(ids: Iterable<string>): void {
    for (const id of ids) this.ids.add(id)
    this.updateLatches()
  }

  delete(ids: Iterable<string>): void {
    for (const id of ids) this.ids.delete(id)
    this.updateLatches()
  }

  /** Replaces the set by the platform's list. A rule without our tag stays only if it was known before. */
  replace(rules: Iterable<{ readonly platformRuleId: string; readonly isOurs: boolean }>): void {
    const known = new Set(this.ids)
    this.ids.clear()
    for (const { platformRuleId, isOurs } of rules) {
      if (isOurs || known.has(platformRuleId)) this.ids.add(platformRuleId)
    }
    this.updateLatches()
  }

  clear(): void {
    this.ids.clear()
    this.updateLatches()
  }

  private updateLatches(): void {
    const [open, closed] = this.isEmpty ? [this.empty, this.nonEmpty] : [this.nonEmpty, this.empty]
    open.unsafeOpen()
    closed.unsafeClose()
  }
}
