/** The account use cases: its limits with what is used of them, and how the operator changes a limit. */
import { Clock, Context, Effect, Layer, type Option, Schema } from "effect"
import { MatchStore } from "../matches/MatchStore.ts"
import { InvalidArgument, type StoreUnavailable } from "../model/Errors.ts"
import { AccountId } from "../model/Ids.ts"
import { Platforms } from "../platforms/Platform.ts"
import { describeLimit, type LimitName, limitNames, platformOf } from "../quotas/Limit.ts"
import { Quotas, secondsLeft } from "../quotas/Quotas.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { WebhookStore } from "../webhooks/WebhookStore.ts"

export const LimitUsage = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  limit: Schema.NullOr(Schema.Number).annotations({ description: "null: no limit" }),
  used: Schema.Number.annotations({ description: "For a limit per minute: in the present minute" }),
  resets_in_seconds: Schema.optionalWith(Schema.Number, { exact: true }).annotations({
    description: "For a limit per minute: when `used` starts again at 0"
  })
}).annotations({ identifier: "LimitUsage" })
export type LimitUsage = typeof LimitUsage.Type

export const Account = Schema.Struct({
  id: AccountId,
  limits: Schema.Array(LimitUsage)
})
export type Account = typeof Account.Type

export class Accounts extends Context.Tag("core/Accounts")<
  Accounts,
  {
    readonly get: (account: AccountId) => Effect.Effect<Account, StoreUnavailable>
    /** `name` may be any text. `value`: 0 for no limit, none for the default. */
    readonly setLimit: (
      account: AccountId,
      name: string,
      value: Option.Option<number>
    ) => Effect.Effect<Account, InvalidArgument | StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Accounts, never, Quotas | RuleStore | WebhookStore | MatchStore | Platforms> =
    Layer.effect(
      Accounts,
      Effect.gen(function* () {
        const quotas = yield* Quotas
        const rules = yield* RuleStore
        const webhooks = yield* WebhookStore
        const matches = yield* MatchStore
        const platforms = yield* Platforms

        const used = (account: AccountId, name: LimitName): Effect.Effect<number, StoreUnavailable> => {
          switch (name) {
            case "requests":
            case "checks":
            case "events":
            case "streams":
              return quotas.used(account, name)
            case "webhooks":
              return Effect.map(webhooks.list(account), ({ length }) => length)
            case "matches":
            case "bytes":
              return Effect.map(matches.usage(account), (usage) => usage[name])
            default:
              return rules.count(account, platformOf(name))
          }
        }

        const usageOf = (account: AccountId, name: LimitName) =>
          Effect.gen(function* () {
            const limit = yield* quotas.limitOf(account, name)
            const usage: LimitUsage = {
              name,
              description: describeLimit(name),
              limit: limit === 0 ? null : limit,
              used: Number((yield* used(account, name)).toFixed(1))
            }
            return name === "requests" || name === "checks" || name === "events"
              ? { ...usage, resets_in_seconds: secondsLeft(yield* Clock.currentTimeMillis) }
              : usage
          })

        const get = (account: AccountId) =>
          Effect.gen(function* () {
            const names = limitNames(yield* platforms.ids)
            return { id: account, limits: yield* Effect.forEach(names, (name) => usageOf(account, name)) }
          })

        const setLimit = (account: AccountId, text: string, value: Option.Option<number>) =>
          Effect.gen(function* () {
            const names = limitNames(yield* platforms.ids)
            const name = names.find((known) => known === text)
            if (name === undefined) {
              const message = `There is no limit "${text}": expected one of ${names.join(", ")}`
              return yield* new InvalidArgument({ issues: [{ path: "limit", message }] })
            }
            yield* quotas.setLimit(account, name, value)
            return yield* get(account)
          })

        return Accounts.of({ get, setLimit })
      })
    )
}
