/** The account use cases: its limits with what is used of them, and what the operator does: list accounts, change a limit. */
import { Array as Arr, Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { FeedStore } from "../feeds/FeedStore.ts"
import { isActive } from "../keys/Key.ts"
import { KeyStore } from "../keys/KeyStore.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { InvalidArgument, type StoreUnavailable } from "../model/Errors.ts"
import { AccountId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Platforms } from "../platforms/Platform.ts"
import { describeLimit, isWindowLimit, type LimitName, limitNames, platformOf } from "../quotas/Limit.ts"
import { Quotas, secondsLeft } from "../quotas/Quotas.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { WebhookStore } from "../webhooks/WebhookStore.ts"

export const LimitUsage = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  limit: Schema.NullOr(Schema.Number).annotations({ description: "null: no limit" }),
  used: Schema.Number.annotations({ description: "For a limit per minute: in the present minute" }),
  resets_in_seconds: optional(Schema.Number, "For a limit per minute: when `used` starts again at 0")
}).annotations({ identifier: "LimitUsage" })
export type LimitUsage = typeof LimitUsage.Type

export const Account = Schema.Struct({
  id: AccountId,
  name: Schema.String,
  limits: Schema.Array(LimitUsage)
})
export type Account = typeof Account.Type

/** For the operator. */
export const AccountSummary = Schema.Struct({
  id: AccountId,
  name: Schema.String,
  created_at: Timestamp.Timestamp,
  active_keys: Schema.Number,
  rules: Schema.Number
})
export type AccountSummary = typeof AccountSummary.Type

export class Accounts extends Context.Tag("core/Accounts")<
  Accounts,
  {
    readonly get: (account: AccountId) => Effect.Effect<Account, StoreUnavailable>
    /** All accounts, oldest first. */
    readonly list: () => Effect.Effect<ReadonlyArray<AccountSummary>, StoreUnavailable>
    /** `name` may be any text. `value`: 0 for no limit, none for the default. */
    readonly setLimit: (
      account: AccountId,
      name: string,
      value: Option.Option<number>
    ) => Effect.Effect<Account, InvalidArgument | StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<
    Accounts,
    never,
    Quotas | RuleStore | WebhookStore | MatchStore | FeedStore | Platforms | KeyStore
  > = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const quotas = yield* Quotas
      const rules = yield* RuleStore
      const webhooks = yield* WebhookStore
      const matches = yield* MatchStore
      const feeds = yield* FeedStore
      const platforms = yield* Platforms
      const keys = yield* KeyStore

      const used = (account: AccountId, name: LimitName): Effect.Effect<number, StoreUnavailable> => {
        switch (name) {
          case "requests":
          case "checks":
          case "matching":
          case "events":
          case "streams":
          case "challenges":
            return quotas.used(account, name)
          case "webhooks":
            return Effect.map(
              webhooks.list(account),
              (all) => all.filter(({ subscription }) => Option.isNone(subscription)).length
            )
          case "subscriptions":
            return Effect.map(
              webhooks.list(account),
              (all) => all.filter(({ subscription }) => Option.isSome(subscription)).length
            )
          case "feeds":
            return feeds.count(account)
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
          return isWindowLimit(name)
            ? { ...usage, resets_in_seconds: secondsLeft(yield* Clock.currentTimeMillis) }
            : usage
        })

      const get = (account: AccountId) =>
        Effect.gen(function* () {
          const names = limitNames(yield* platforms.ids)
          const [known] = yield* keys.accounts(Option.some(account))
          return {
            id: account,
            name: known?.name ?? "",
            limits: yield* Effect.forEach(names, (name) => usageOf(account, name))
          }
        })

      const list = () =>
        Effect.gen(function* () {
          const now = yield* Timestamp.now
          const active = (yield* keys.list(Option.none())).filter((key) => isActive(key, now))
          const perAccount = Arr.groupBy(active, (key) => key.account_id)
          const ruleCounts = yield* rules.counts
          const all = yield* keys.accounts(Option.none())
          return all.map(({ id, name, createdAt }) => ({
            id,
            name,
            created_at: createdAt,
            active_keys: perAccount[id]?.length ?? 0,
            rules: ruleCounts.get(id) ?? 0
          }))
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

      return Accounts.of({ get, list, setLimit })
    })
  )
}
