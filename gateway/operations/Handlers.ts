/** What a handler of an operation is, and the use cases that handlers call. */
import type { Effect, Schema } from "effect"
import type { AnyContract } from "../../api/Contract.ts"
import type { Accounts } from "../../core/accounts/Accounts.ts"
import type { Backtests } from "../../core/backtests/Backtests.ts"
import type { Explanations } from "../../core/explanations/Explanations.ts"
import type { Feeds } from "../../core/feeds/Feeds.ts"
import type { Grants } from "../../core/grants/Grants.ts"
import type { Idempotency } from "../../core/idempotency/Idempotency.ts"
import type { Keys } from "../../core/keys/Keys.ts"
import type { Matches } from "../../core/matches/Matches.ts"
import type { CoreError } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import type { Platforms } from "../../core/platforms/Platform.ts"
import type { Quotas } from "../../core/quotas/Quotas.ts"
import type { Reapply } from "../../core/reapply/Reapply.ts"
import type { Rules } from "../../core/rules/Rules.ts"
import type { Shadows } from "../../core/shadows/Shadows.ts"
import type { Status } from "../../core/status/Status.ts"
import type { Subscriptions } from "../../core/webhooks/Subscriptions.ts"
import type { Webhooks } from "../../core/webhooks/Webhooks.ts"

export type Services =
  | Rules
  | Shadows
  | Reapply
  | Matches
  | Explanations
  | Platforms
  | Backtests
  | Status
  | Webhooks
  | Feeds
  | Subscriptions
  | Keys
  | Grants
  | Accounts
  | Quotas
  | Idempotency

export type Handler<A, O> = (account: AccountId, input: A) => Effect.Effect<O, CoreError, Services>

/** One for each contract of a noun. */
export type Handlers<Group extends Readonly<Record<string, AnyContract>>> = {
  readonly [Name in keyof Group]: Handler<
    Schema.Schema.Type<Group[Name]["input"]>,
    Schema.Schema.Type<Group[Name]["output"]>
  >
}
