/** Our gateway over in-memory stores, on Node's HTTP server. */
import { Effect, Layer, Runtime, Scope } from "effect"
import * as NodeServer from "../../adapters/runtimes/node.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { handler, layer } from "../gateway/earshot.ts"
import { matchAt } from "./match.ts"
import type { Broadcaster } from "./server.ts"

export const earshot = (): Promise<Broadcaster> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(layer, scope)
      return yield* Effect.gen(function* () {
        const store = yield* MatchStore
        const serving = NodeServer.serve({ host: "127.0.0.1", port: 0, handler: yield* handler, unreadable: "" })
        const port = yield* Scope.extend(serving, scope)
        const runtime = yield* Effect.runtime()
        const insert = Effect.suspend(() => store.insert([matchAt(performance.timeOrigin + performance.now())]))
        return { port, publish: () => Runtime.runPromise(runtime)(Effect.asVoid(insert)) }
      }).pipe(Effect.provide(context))
    })
  )
