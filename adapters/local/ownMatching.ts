/** Matches the events of one account against its own rules among those that a platform holds. */
import { Effect, Either } from "effect"
import type { Language } from "../../core/languages/Language.ts"
import type { RuleStore } from "../../core/rules/RuleStore.ts"
import type { HeldRules } from "./HeldRules.ts"
import { OwnRules } from "./OwnRules.ts"

export interface OwnMatching extends Pick<HeldRules, "register" | "unregister"> {
  /** See `OwnRules.prepare`. */
  readonly prepare: OwnRules["prepare"]
}

/** Use its `register` and `unregister` in place of those of `held`. */
export const ownMatching = (held: HeldRules, { id }: Language, store: RuleStore["Type"]): OwnMatching => {
  const own = new OwnRules({
    ...held,
    all: held.rules,
    held: held.texts,
    emptyRules: () => held.emptyRules(false),
    textsOf: (account, among) => store.textsOf(account, id, among)
  })
  return {
    register: (texts) =>
      Effect.tap(held.register(texts), (outcomes) =>
        Effect.sync(() => {
          for (const outcome of outcomes) if (Either.isRight(outcome)) own.registered(outcome.right.translatedValue)
        })
      ),
    unregister: (platformRuleIds) =>
      Effect.tap(held.unregister(platformRuleIds), () =>
        Effect.sync(() => {
          for (const platformRuleId of platformRuleIds) own.unregistered(platformRuleId)
        })
      ),
    prepare: (account) => own.prepare(account)
  }
}
