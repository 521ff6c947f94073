/** The rules that the platform holds for us. Without any, the stream stays closed. */
import { Effect, Either } from "effect"
import type { Registered, UpstreamRule } from "../../core/platforms/Platform.ts"

export class KnownRules {
  /** Texts by id. */
  private readonly texts = new Map<string, string>()
  /** Ids of our rules that are gone, and of rules of others: late events still name them. Oldest first. */
  private readonly former = new Set<string>()
  private readonly foreign = new Set<string>()
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

  /** How often the platform has listed its rules. */
  lists = 0

  /** Also of a rule that is gone. */
  isOurs(id: string): boolean {
    return this.texts.has(id) || this.former.has(id)
  }

  /** The platform has listed the rule, and it is not ours. */
  isForeign(id: string): boolean {
    return this.foreign.has(id)
  }

  /** Those that the platform has accepted. */
  addAll(outcomes: ReadonlyArray<Either.Either<Registered, unknown>>): void {
    for (const outcome of outcomes) if (Either.isRight(outcome)) this.add(outcome.right)
  }

  add({ platformRuleId, translatedValue }: Registered): void {
    this.texts.set(platformRuleId, translatedValue)
    this.updateLatches()
  }

  delete(ids: Iterable<string>): void {
    for (const id of ids) if (this.texts.delete(id)) remember(this.former, id)
    this.updateLatches()
  }

  /** Replaces the set by the platform's list. A rule without our tag stays only if it was known before. */
  replace(rules: Iterable<UpstreamRule>): void {
    const known = new Set(this.texts.keys())
    this.texts.clear()
    this.lists++
    for (const { platformRuleId, translatedValue, isOurs } of rules) {
      if (isOurs || known.has(platformRuleId)) this.texts.set(platformRuleId, translatedValue)
      else remember(this.foreign, platformRuleId)
    }
    for (const id of known) if (!this.texts.has(id)) remember(this.former, id)
    this.updateLatches()
  }

  clear(): void {
    for (const id of this.texts.keys()) remember(this.former, id)
    this.texts.clear()
    this.updateLatches()
  }

  private updateLatches(): void {
    const [open, closed] = this.isEmpty ? [this.empty, this.nonEmpty] : [this.nonEmpty, this.empty]
    open.unsafeOpen()
    closed.unsafeClose()
  }
}

// ---- helpers ----

/** More than any plan's rules. */
const MAX_REMEMBERED = 100_000

const remember = (ids: Set<string>, id: string): void => {
  ids.add(id)
  for (const oldest of ids) {
    if (ids.size <= MAX_REMEMBERED) return
    ids.delete(oldest)
  }
}
