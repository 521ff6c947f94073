/** The rules that the platform holds for us. Without any, the stream stays closed. */
import { Effect } from "effect"
import type { Registered, UpstreamRule } from "../../core/platforms/Platform.ts"

export class KnownRules {
  /** Texts by id. */
  private readonly texts = new Map<string, string>()
  private readonly nonEmpty = Effect.unsafeMakeLatch(false)
  private readonly empty = Effect.unsafeMakeLatch(true)

  readonly awaitRules: Effect.Effect<void> = this.nonEmpty.await
  readonly awaitNoRules: Effect.Effect<void> = this.empty.await

  get isEmpty(): boolean {
    return this.texts.size === 0
  }

  /** Ids and texts. */
  get all(): Iterable<readonly [id: string, text: string]> {
    return this.texts
  }

  add({ platformRuleId, translatedValue }: Registered): void {
    this.texts.set(platformRuleId, translatedValue)
    this.updateLatches()
  }

  delete(ids: Iterable<string>): void {
    for (const id of ids) this.texts.delete(id)
    this.updateLatches()
  }

  /** Replaces the set by the platform's list. A rule without our tag stays only if it was known before. */
  replace(rules: Iterable<UpstreamRule>): void {
    const known = new Set(this.texts.keys())
    this.texts.clear()
    for (const { platformRuleId, translatedValue, isOurs } of rules) {
      if (isOurs || known.has(platformRuleId)) this.texts.set(platformRuleId, translatedValue)
    }
    this.updateLatches()
  }

  clear(): void {
    this.texts.clear()
    this.updateLatches()
  }

  private updateLatches(): void {
    const [open, closed] = this.isEmpty ? [this.empty, this.nonEmpty] : [this.nonEmpty, this.empty]
    open.unsafeOpen()
    closed.unsafeClose()
  }
}
