/** The gateway in this process with memory stores and a real socket, for tests that replace services. */
import { Effect, Either, Layer, Option, Redacted } from "effect"
import * as RuntimeEntropy from "../../adapters/runtimes/entropy.ts"
import * as NodeServer from "../../adapters/runtimes/node.ts"
import type { StoreCannotOpen } from "../../adapters/sql/StoreCannotOpen.ts"
import { Addresses } from "../../adapters/webhooks/addresses.ts"
import * as HttpSender from "../../adapters/webhooks/HttpSender.ts"
import { Accounts } from "../../core/accounts/Accounts.ts"
import { Backtests } from "../../core/backtests/Backtests.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { PostBudget } from "../../core/budget/PostBudget.ts"
import { Explanations } from "../../core/explanations/Explanations.ts"
import { Idempotency } from "../../core/idempotency/Idempotency.ts"
import * as Ingest from "../../core/ingest/Ingest.ts"
import type { Scope } from "../../core/keys/Key.ts"
import { Keys } from "../../core/keys/Keys.ts"
import { LiveMatches } from "../../core/matches/LiveMatches.ts"
import { Matches } from "../../core/matches/Matches.ts"
import { MatchingLimits } from "../../core/matching/MatchingLimits.ts"
import { Ids } from "../../core/model/Ids.ts"
import { Reapply } from "../../core/reapply/Reapply.ts"
import { Registrations } from "../../core/rules/Registrations.ts"
import { Rules } from "../../core/rules/Rules.ts"
import { Shadows } from "../../core/shadows/Shadows.ts"
import { Status } from "../../core/status/Status.ts"
import * as WebhookDelivery from "../../core/webhooks/WebhookDelivery.ts"
import { Webhooks } from "../../core/webhooks/Webhooks.ts"
import { unreadableRequest } from "../../gateway/errors.ts"
import { gateway } from "../../gateway/gateway.ts"
import { localPlatforms } from "../platforms.ts"
import { memoryStores, type Stores } from "../stores.ts"
import type { Target } from "./client.ts"

const HOST = "127.0.0.1"

/** Rules per account on x. */
export const X_LIMIT = 2

/** The webhook receivers of these tests. */
const LOOPBACK = Either.getOrThrow(Addresses.parse("127.0.0.0/8"))

const runtime = Layer.provideMerge(Ids.layer, RuntimeEntropy.layer)
const recent = RecentEvents.layerWith({ keep: 1_000 })
const useCases = Layer.provideMerge(
  Layer.mergeAll(
    Layer.provideMerge(
      Layer.mergeAll(Shadows.layer, Reapply.layer, Explanations.layer),
      Layer.merge(Rules.layer, Backtests.layer)
    ),
    Matches.layer,
    Keys.layer,
    Webhooks.layer,
    Status.layer,
    Accounts.layer,
    Idempotency.layerWith({ isOnlyProcess: true })
  ),
  Layer.mergeAll(LiveMatches.layer, HttpSender.layerWith(LOOPBACK))
)

/** Everything that the gateway calls, composed as in the program. */
export const serviceOn = (
  platforms: ReturnType<typeof localPlatforms>,
  stores: Layer.Layer<Stores, StoreCannotOpen> = memoryStores
) =>
  Layer.merge(Ingest.layer, WebhookDelivery.layerWith({ isOnlyProcess: true })).pipe(
    Layer.provideMerge(useCases),
    Layer.provideMerge(MatchingLimits.layer),
    Layer.provideMerge(PostBudget.layer),
    Layer.provideMerge(Registrations.layerWith({ isOnlyProcess: true })),
    Layer.provideMerge(platforms),
    Layer.provideMerge(recent),
    Layer.provideMerge(stores),
    Layer.provideMerge(runtime)
  )

export const service = serviceOn(localPlatforms({ x: X_LIMIT }, { webhooks: 20 }))

/** Serves until the scope closes. Returns a function that creates a key for an account. */
export const serve = Effect.gen(function* () {
  const handler = yield* gateway({
    host: Option.some(HOST),
    docsScript: Effect.succeed(new TextEncoder().encode("// Scalar")),
    console: Option.none(),
    observeProcess: Effect.void,
    version: "0.0.0"
  })
  const port = yield* NodeServer.serve({ host: HOST, port: 0, handler, unreadable: unreadableRequest })
  return (account: string, scope: Scope = "admin") =>
    Effect.map(newKey(account, scope), ({ secret }) => targetOf(port, Redacted.value(secret)))
})

// ---- helpers ----

const newKey = (account: string, scope: Scope) =>
  Effect.gen(function* () {
    const keys = yield* Keys
    return yield* keys.create(yield* keys.account(account), { name: "test", scope })
  })

const targetOf = (port: number, key: string): Target => ({ url: `http://${HOST}:${port}`, host: HOST, port, key })
