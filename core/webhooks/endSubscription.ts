/** Removes a subscription, and the rule that was made for it. */
import { Effect, Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { RuleChanges } from "../rules/RuleChanges.ts"
import type { StoredWebhook, WebhookStore } from "./WebhookStore.ts"

export interface EndServices {
  readonly store: WebhookStore["Type"]
  readonly changes: RuleChanges["Type"]
}

/** True if it existed. Idempotent: after a crash it goes on where it stopped. */
export const endSubscription = (
  { store, changes }: EndServices,
  { id, account, subscription }: Pick<StoredWebhook, "id" | "account" | "subscription">
): Effect.Effect<boolean, StoreUnavailable> =>
  Effect.gen(function* () {
    const rule = Option.flatMap(subscription, ({ ownRule }) => ownRule)
    if (Option.isSome(rule) && !(yield* store.passOwnRule(id, rule.value))) {
      // Before the subscription, which is how the rule is found again.
      yield* changes.remove(account, rule.value)
    }
    return yield* store.remove(account, id)
  })
