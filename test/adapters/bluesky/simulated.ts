/** A service on the simulated Jetstream that can be stopped and started again on the same store. */
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import * as Bluesky from "../../../adapters/bluesky/Bluesky.ts"
import * as WebSockets from "../../../adapters/runtimes/webSockets.ts"
import { Platforms } from "../../../core/platforms/Platform.ts"
import { Registrations } from "../../../core/rules/Registrations.ts"
import * as Simulator from "../../../simulator/Simulator.ts"
import { serve as serveSimulator } from "../../../simulator/server.ts"
import { untilTrue } from "../../eventually.ts"
import { call, type Json } from "../../gateway/client.ts"
import { serve, serviceOn } from "../../gateway/inProcess.ts"
import { localPlatforms } from "../../platforms.ts"
import { memoryStores } from "../../stores/memoryStores.ts"

export const ANN = "did:plc:ann"
export const BEN = "did:plc:ben"

export const simulated = Effect.gen(function* () {
  const simulator = yield* Simulator.make({ seed: 1 })
  const { jetstream } = simulator
  const port = yield* serveSimulator(simulator, { host: "127.0.0.1", port: 0 })
  const stores = Layer.succeedContext(yield* Layer.build(memoryStores))
  jetstream.handles.set(ANN, "ann.example.com")
  jetstream.handles.set(BEN, "ben.example.com")

  const start = Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const platform = Bluesky.layerWith({ baseUrl: `http://127.0.0.1:${port}` })
    const platforms = Layer.provideMerge(Layer.provide(platform, WebSockets.layer), localPlatforms())
    const context = yield* Layer.buildWithScope(serviceOn(platforms, stores), scope)
    const targetFor = yield* serve.pipe(Effect.provide(context), Scope.extend(scope))
    const target = yield* targetFor("ann").pipe(Effect.provide(context))
    const { reconcileOne } = Context.get(context, Registrations)
    const ask = (path: string, body: unknown) => Effect.promise(() => call(target, path, body))
    const rule = Effect.map(
      Effect.promise(() => call(target, "/api.ListRules")),
      ({ body }): Json | undefined => [...(body["rules"] ?? [])][0]
    )
    const matches = Effect.map(ask("/matches", {}), ({ body }) => ({
      ids: [...(body["matches"] ?? [])].map((match) => String(match["platform_post_id"]).split("/").at(-1)).toSorted(),
      gaps: [...(body["coverage"]?.["platforms"]?.[0]?.["gaps"] ?? [])].filter((gap) => gap["rule_id"] !== undefined),
      ofAllRules: [...(body["coverage"]?.["platforms"]?.[0]?.["gaps"] ?? [])].filter(
        (gap) => gap["rule_id"] === undefined
      ),
      suspected: [...(body["coverage"]?.["platforms"]?.[0]?.["suspected"] ?? [])].map(({ detail }) => String(detail))
    }))
    return {
      create: (filter: string) =>
        ask("/api.CreateRule", {
          name: "Ann",
          intent: "Read Ann",
          platforms: ["bluesky"],
          overrides: { bluesky: filter }
        }),
      reconcile: Effect.flatMap(Context.get(context, Platforms).get("bluesky"), reconcileOne),
      state: Effect.map(rule, (one) => String(one?.["platforms"]?.["bluesky"]?.["state"])),
      reason: Effect.map(rule, (one) => String(one?.["platforms"]?.["bluesky"]?.["reason"])),
      matches,
      untilMatched: (ids: string) =>
        untilTrue(
          ids,
          Effect.map(matches, (found) => found.ids.join(" ") === ids)
        ),
      stop: Scope.close(scope, Exit.void)
    }
  })

  const post = (did: string, rkey: string, text = "hello") =>
    Effect.map(Clock.currentTimeMillis, (now) => jetstream.publish({ did, commit: { rkey, record: { text } } }, now))
  const untilOpen = untilTrue(
    "the stream is open",
    Effect.sync(() => jetstream.connected > 0)
  )
  return { jetstream, start, post, untilOpen }
})
