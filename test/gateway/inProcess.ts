/** The gateway in this process, over memory stores and a real socket: for what the program cannot be made to do from outside. */
import { Effect, Layer, Redacted } from "effect"
import * as Local from "../../adapters/local/Local.ts"
import * as RuntimeEntropy from "../../adapters/runtimes/entropy.ts"
import * as NodeServer from "../../adapters/runtimes/node.ts"
import { Backtests } from "../../core/Backtests.ts"
import { EventLog } from "../../core/EventLog.ts"
import { Ids } from "../../core/Ids.ts"
import * as Ingest from "../../core/Ingest.ts"
import { KeyStore } from "../../core/KeyStore.ts"
import { Keys } from "../../core/Keys.ts"
import { LiveMatches } from "../../core/LiveMatches.ts"
import { Matches } from "../../core/Matches.ts"
import { MatchStore } from "../../core/MatchStore.ts"
import { Platforms } from "../../core/Platform.ts"
import { PLATFORM_IDS } from "../../core/PlatformId.ts"
import { RecentEvents } from "../../core/RecentEvents.ts"
import { Registrations } from "../../core/Registrations.ts"
import { RuleStore } from "../../core/RuleStore.ts"
import { Rules } from "../../core/Rules.ts"
import { StreamStore } from "../../core/StreamStore.ts"
import { unreadableRequest } from "../../gateway/errors.ts"
import { gateway } from "../../gateway/gateway.ts"
import type { Target } from "./client.ts"

const HOST = "127.0.0.1"

/** How many rules on x an account may hold here. */
export const X_LIMIT = 2

const runtime = Layer.provideMerge(Ids.layer, RuntimeEntropy.layer)
const stores = Layer.provideMerge(
  MatchStore.layerMemory,
  Layer.mergeAll(RuleStore.layerMemory, StreamStore.layerMemory, KeyStore.layerMemory)
)
const platforms = Layer.provideMerge(
  Local.layerWith({ platforms: PLATFORM_IDS, rulesPerAccount: new Map([["x", X_LIMIT]]) }),
  Platforms.layer
)
const recent = Layer.provide(RecentEvents.layerWith({ keep: 1_000 }), EventLog.layerMemory)
const useCases = Layer.provideMerge(
  Layer.mergeAll(Rules.layer, Matches.layer, Keys.layer, Backtests.layer),
  Layer.merge(Registrations.layerWith({ isAlone: true }), LiveMatches.layer)
)

/** Everything that the gateway calls, as the program composes it. */
export const service = Ingest.layer.pipe(
  Layer.provideMerge(useCases),
  Layer.provideMerge(platforms),
  Layer.provideMerge(recent),
  Layer.provideMerge(stores),
  Layer.provideMerge(runtime)
)

/** Serves what is in the context until the scope closes; gives a caller with a new key of the account. */
export const serve = Effect.gen(function* () {
  const handler = yield* gateway({
    docsScript: Effect.succeed(new TextEncoder().encode("// Scalar")),
    observeProcess: Effect.void,
    version: "0.0.0"
  })
  const port = yield* NodeServer.serve({ host: HOST, port: 0, handler, unreadable: unreadableRequest })
  return (account: string) => Effect.map(newKey(account), ({ secret }) => targetOf(port, Redacted.value(secret)))
})

// ---- helpers ----

const newKey = (account: string) => Effect.flatMap(Keys, (keys) => keys.create({ account, name: "test" }))

const targetOf = (port: number, key: string): Target => ({ url: `http://${HOST}:${port}`, host: HOST, port, key })
