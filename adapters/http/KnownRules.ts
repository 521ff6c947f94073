/** Which rules of the platform are worth a connection. */
import { Effect } from "effect"

export class KnownRules {
  private readonly ids = new Set<string>()
  private readonly some = Effect.unsafeMakeLatch(false)
  private readonly none = Effect.unsafeMakeLatch(true)

  /** Waits until there is a rule. */
  readonly hasRules: Effect.Effect<void> = this.some.await
  /** Waits until there is none. */
  readonly hasNoRules: Effect.Effect<void> = this.none.await

  get isEmpty(): boolean {
    return this.ids.size === 0
  }

  add(ids: Iterable<string>): void {
    for (const id of ids) this.ids.add(id)
    this.changed()
  }

  delete(ids: Iterable<string>): void {
    for (const id of ids) this.ids.delete(id)
    this.changed()
  }

  /** What the platform holds now: others are gone, also those that were known. */
  found(rules: Iterable<{ readonly platformRuleId: string; readonly isOurs: boolean }>): void {
    const known = new Set(this.ids)
    this.ids.clear()
    for (const { platformRuleId, isOurs } of rules) {
      if (isOurs || known.has(platformRuleId)) this.ids.add(platformRuleId)
    }
    this.changed()
  }

  /** The platform says that it holds none. */
  clear(): void {
    this.ids.clear()
    this.changed()
  }

  private changed(): void {
    const [open, closed] = this.isEmpty ? [this.none, this.some] : [this.some, this.none]
    open.unsafeOpen()
    closed.unsafeClose()
  }
}
