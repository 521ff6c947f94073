/** Runs operations. */
import { Effect, Option } from "effect"
import type { AnyContract, Contract } from "../../api/Contract.ts"
import { contracts, contractsOfPlatforms } from "../../api/contracts.ts"
import { type Answered, Idempotency } from "../../core/idempotency/Idempotency.ts"
import type { CoreError } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import { Quotas } from "../../core/quotas/Quotas.ts"
import { accountHandlers } from "./account.ts"
import { feedHandlers } from "./feeds.ts"
import { grantHandlers } from "./grants.ts"
import type { Handler, Handlers, Services } from "./Handlers.ts"
import type { Asked } from "./idempotency.ts"
import { keyHandlers } from "./keys.ts"
import { matchHandlers } from "./matches.ts"
import { platformHandlers } from "./platforms.ts"
import { ruleHandlers } from "./rules.ts"
import { webhookHandlers } from "./webhooks.ts"

/** Runs an operation, with an idempotency key only once. An account has a few short ones at a time. */
export const perform = <A, I, O, OI>(
  contract: Contract<A, I, O, OI>,
  account: AccountId,
  { input, key }: Asked<A>
): Effect.Effect<Answered<O>, CoreError, Services> => {
  const { name, isLong = false } = contract
  const request = { key, account: Option.some(account), operation: name, content: input, isLong }
  const run = Effect.flatMap(Idempotency, ({ once }) => once(request, handlerOf(contract)(account, input)))
  return isLong ? run : Effect.flatMap(Quotas, (quotas) => quotas.withSlot(account, run))
}

// ---- helpers ----

const nouns = { ...contracts, ...contractsOfPlatforms }

const handlers: { readonly [Noun in keyof typeof nouns]: Handlers<(typeof nouns)[Noun]> } = {
  rules: ruleHandlers,
  matches: matchHandlers,
  platforms: platformHandlers,
  webhooks: webhookHandlers,
  account: accountHandlers,
  keys: keyHandlers,
  grants: grantHandlers,
  feeds: feedHandlers
}

type AnyHandler = Handler<unknown, unknown>

const byContract = new Map<AnyContract, AnyHandler>(
  Object.entries(nouns).flatMap(([noun, group]) => {
    const ofNoun = handlers[noun as keyof typeof handlers] as Readonly<Record<string, AnyHandler>>
    return Object.entries<AnyContract>(group).map(([name, contract]) => [contract, ofNoun[name] as AnyHandler] as const)
  })
)

/** Every contract has a handler with its types: `handlers` has been checked. */
const handlerOf = <A, I, O, OI>(contract: Contract<A, I, O, OI>): Handler<A, O> =>
  byContract.get(contract) as unknown as Handler<A, O>
