/** Our gateway on Node's HTTP server. Streams are measured, not a store: matches are kept in an array. */
import { Clock, Effect, Layer, Option, PubSub, Runtime, Scope, Stream } from "effect"
import * as NodeServer from "../../adapters/runtimes/node.ts"
import { watermarkAt, withIdsAfter } from "../../core/matches/idOrder.ts"
import { type Change, MatchStore } from "../../core/matches/MatchStore.ts"
import type { MatchId } from "../../core/model/Ids.ts"
import { handler, layerWith } from "../gateway/earshot.ts"
import { matchAt } from "./match.ts"
import type { Broadcaster } from "./server.ts"

export const earshot = (): Promise<Broadcaster> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(layerWith(matchStore), scope)
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

// ---- helpers ----

/** What live streams call. All matches belong to the one account that listens. */
const matchStore = Layer.unwrapEffect(
  Effect.map(PubSub.sliding<void>(1), (changes) => {
    const stored: Array<Change> = []
    let newest = Option.none<MatchId>()
    const storedAfter = (id: Option.Option<MatchId>) =>
      stored.filter((change) => !Option.exists(id, (after) => change.id <= after))

    return Layer.mock(MatchStore, {
      insert: (matches) =>
        Effect.suspend(() => {
          for (const match of withIdsAfter(matches, newest)) {
            newest = Option.some(match.id)
            stored.push({ _tag: "Matched", id: match.id, match })
          }
          return Effect.as(PubSub.publish(changes, undefined), matches.length)
        }),
      next: ({ after }) => Effect.sync(() => ({ items: storedAfter(after), hasMore: false, bytes: 0 })),
      nextForAccounts: ({ accounts, after }) =>
        Effect.sync(() => {
          const owned = (change: Change) => accounts.map((account) => ({ account, change, bytes: 0 }))
          return { items: storedAfter(after).flatMap(owned), hasMore: false, bytes: 0 }
        }),
      newest: Effect.sync(() => newest),
      watermark: Effect.map(Clock.currentTimeMillis, (now) => {
        const watermark = watermarkAt(now, newest)
        newest = Option.some(watermark)
        return watermark
      }),
      floor: () => Effect.succeedNone,
      changes: Stream.fromPubSub(changes)
    })
  })
)
