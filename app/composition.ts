/** The use cases of the service, on any stores and platforms. */
import { Layer, type Option } from "effect"
import { Accounts } from "../core/accounts/Accounts.ts"
import { Backtests } from "../core/backtests/Backtests.ts"
import { RecentEvents } from "../core/backtests/RecentEvents.ts"
import { PostBudget } from "../core/budget/PostBudget.ts"
import { Redactions } from "../core/compliance/Redactions.ts"
import { Withdrawals } from "../core/compliance/Withdrawals.ts"
import { Explanations } from "../core/explanations/Explanations.ts"
import { Feeds } from "../core/feeds/Feeds.ts"
import { Clients } from "../core/grants/Clients.ts"
import { Grants, type Issuer } from "../core/grants/Grants.ts"
import { Idempotency } from "../core/idempotency/Idempotency.ts"
import { DeadLetters } from "../core/ingest/DeadLetters.ts"
import { Keys } from "../core/keys/Keys.ts"
import { LiveMatches } from "../core/matches/LiveMatches.ts"
import { Matches } from "../core/matches/Matches.ts"
import { MatchingLimits } from "../core/matching/MatchingLimits.ts"
import { Reapply } from "../core/reapply/Reapply.ts"
import * as CaughtUpFeed from "../core/rules/caughtUpFeed.ts"
import { Registrations } from "../core/rules/Registrations.ts"
import { Rules } from "../core/rules/Rules.ts"
import { Shadows } from "../core/shadows/Shadows.ts"
import { Status } from "../core/status/Status.ts"
import { Subscriptions } from "../core/webhooks/Subscriptions.ts"
import { Webhooks } from "../core/webhooks/Webhooks.ts"
import { eventDataLayer } from "../gateway/mcp/eventData.ts"
import { runtime } from "./stores.ts"

/** `platforms`: with the feed of local events, and the quotas. */
export const useCasesOn = <P, PE, PR, S, SE, SR, W, WE, WR>({
  platforms,
  stores,
  sender,
  recentEvents,
  issuer
}: {
  readonly platforms: Layer.Layer<P, PE, PR>
  /** With their `Ownership`, unless this process is alone on them. */
  readonly stores: Layer.Layer<S, SE, SR>
  /** Of webhooks, with the reader of documents of OAuth clients. */
  readonly sender: Layer.Layer<W, WE, WR>
  readonly recentEvents: number
  /** None turns sign-in with OAuth off. */
  readonly issuer: Option.Option<Issuer>
}) =>
  Layer.mergeAll(
    Matches.layer,
    Keys.layerWithGrants,
    Webhooks.layer,
    Feeds.layer,
    Status.layer,
    DeadLetters.layer,
    Accounts.layer,
    Layer.provideMerge(Withdrawals.layer, Redactions.layer),
    Layer.provideMerge(
      Layer.mergeAll(Shadows.layer, Reapply.layer, Explanations.layer, Subscriptions.layer),
      Layer.merge(Rules.layer, Backtests.layer)
    ),
    Idempotency.layer
  ).pipe(
    Layer.provideMerge(CaughtUpFeed.layer),
    Layer.provideMerge(LiveMatches.layer),
    Layer.provideMerge(Grants.layerWith({ issuer })),
    Layer.provideMerge(Clients.layer),
    Layer.provideMerge(Layer.merge(sender, eventDataLayer)),
    Layer.provideMerge(MatchingLimits.layer),
    Layer.provideMerge(PostBudget.layer),
    Layer.provideMerge(Registrations.layerWithChanges),
    Layer.provideMerge(platforms),
    Layer.provideMerge(RecentEvents.layerWith({ keep: recentEvents })),
    Layer.provideMerge(stores),
    Layer.provideMerge(runtime)
  )
