/** The rules of a platform whose events this process matches itself. */
import { Either } from "effect"
import { NamedRules } from "../../core/engine/NamedRules.ts"
import type { Language } from "../../core/languages/Language.ts"
import type { Entropy } from "../../core/model/Entropy.ts"
import { PlatformRefused } from "../../core/model/Errors.ts"
import type { MatchingCost, Registered } from "../../core/platforms/Platform.ts"
import type { ValidRule } from "../../core/syntax/expression/checked.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { coarseFields } from "../../core/syntax/expression/FieldNames.ts"
import type { Turns } from "../../core/work/turns.ts"

export class HeldRules {
  /** Texts by id. */
  readonly texts = new Map<string, string>()
  readonly rules: NamedRules
  private readonly language: Language
  private readonly entropy: Entropy["Type"]
  /** The rules that the engine has left undecided at least once. */
  private readonly expensive = new Map<string, Expression>()

  constructor(language: Language, entropy: Entropy["Type"]) {
    this.language = language
    this.entropy = entropy
    this.rules = this.empty(true)
  }

  empty(largeCapacity: boolean): NamedRules {
    return new NamedRules({
      // Random: authors of rules and posts cannot provoke hash collisions.
      seed: this.entropy.bytes(4).reduce((seed, byte) => (seed << 8) | byte, 0),
      largeCapacity,
      coarseFields: coarseFields(this.language.fieldNames)
    })
  }

  /** Derived from the text: the same text has the same id, also after a restart. */
  idOf(text: string): string {
    return this.entropy.sha256(`${this.language.id}\n${text}`).slice(0, 32)
  }

  check(text: string): Either.Either<ValidRule, PlatformRefused> {
    const { rule, issues } = this.language.check(text, { fixes: "none" })
    if (rule !== undefined) return Either.right(rule)
    const reason = issues[0]?.message ?? "the filter is not valid"
    return Either.left(new PlatformRefused({ platform: this.language.id, reason, upstream: issues }))
  }

  /** Idempotent. */
  add(text: string): Either.Either<Registered, PlatformRefused> {
    return Either.map(this.check(text), ({ expression }) => {
      const platformRuleId = this.idOf(text)
      if (!this.rules.has(platformRuleId)) {
        this.rules.set(platformRuleId, expression)
        this.texts.set(platformRuleId, text)
      }
      return { platformRuleId, translatedValue: text }
    })
  }

  delete(platformRuleId: string): void {
    this.rules.delete(platformRuleId)
    this.texts.delete(platformRuleId)
    this.expensive.delete(platformRuleId)
  }

  match(event: PlatformEvent): Turns<ReadonlyArray<string>> {
    return this.rules.matchInTurns(event, this.expressionOf, { isCharged: true })
  }

  readonly parse = (platformRuleId: string): Expression | undefined => {
    const text = this.texts.get(platformRuleId)
    return text === undefined ? undefined : this.language.check(text, { fixes: "none" }).rule?.expression
  }

  /** Like `parse`, for a rule that the engine left undecided. */
  readonly expressionOf = (platformRuleId: string): Expression | undefined => {
    const expression = this.expensive.get(platformRuleId) ?? this.parse(platformRuleId)
    if (expression !== undefined) this.expensive.set(platformRuleId, expression)
    return expression
  }

  drainCosts(): ReadonlyArray<MatchingCost> {
    return this.rules.drainCosts().map(({ name, seconds }) => ({
      platformRuleId: name,
      text: this.texts.get(name) ?? "",
      seconds
    }))
  }
}
