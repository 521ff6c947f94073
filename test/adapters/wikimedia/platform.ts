/** Runs the Wikimedia adapter on the test clock, against the simulator or a fake network. */
import { Chunk, Clock, Context, Effect, Layer, Logger, Option, type Scope, Stream } from "effect"
import { Fetch } from "../../../adapters/http/Fetch.ts"
import { layerWith } from "../../../adapters/wikimedia/Wikimedia.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { type Platform, Platforms, type Signal } from "../../../core/platforms/Platform.ts"
import { settle } from "../../simulator/stage.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { memoryRules } from "../../stores/memoryRules.ts"

export const makeAdapter = (
  send: (request: Request) => Promise<Response>
): Effect.Effect<Platform, never, Scope.Scope> =>
  Effect.gen(function* () {
    const services = Layer.mergeAll(Platforms.layer, memoryRules, Entropy.layerCounting, recentEvents)
    const quiet = Logger.replace(Logger.defaultLogger, Logger.none)
    const context = yield* layerWith({ baseUrl: "http://simulator/", contact: "earshot@example.org" }).pipe(
      Layer.provideMerge(services),
      Layer.build
    )
    const real = yield* Effect.orDie(Context.get(context, Platforms).get("wikimedia"))
    return {
      ...real,
      watch: (from) => real.watch(from).pipe(Stream.provideService(Fetch, { send }), Stream.provideSomeLayer(quiet))
    }
  })

/** Collects the signals until the scope closes, and acknowledges each event at once. */
export const collect = (platform: Platform, cursor: Option.Option<string> = Option.none()) =>
  Effect.gen(function* () {
    const signals: Array<Signal> = []
    yield* Stream.runForEachChunk(platform.watch(cursor), (chunk) =>
      Effect.forEach(
        Chunk.toReadonlyArray(chunk),
        (signal) =>
          Effect.zipRight(
            Effect.sync(() => void signals.push(signal)),
            signal._tag === "Event" ? signal.delivery.ack : Effect.void
          ),
        { discard: true }
      )
    ).pipe(Effect.forkScoped)
    yield* settle
    return signals
  })

export const idsIn = (signals: ReadonlyArray<Signal>): ReadonlyArray<string> =>
  signals.flatMap((signal) => (signal._tag === "Event" ? [signal.delivery.platformPostId] : []))

/** The last one, as it would be stored. */
export const cursorIn = (signals: ReadonlyArray<Signal>): Option.Option<string> => {
  const found = signals.flatMap((signal) =>
    signal._tag === "Event"
      ? Option.toArray(signal.delivery.cursor)
      : signal._tag === "Alive"
        ? Option.toArray(signal.cursor ?? Option.none())
        : []
  )
  return Option.fromNullable(found.at(-1))
}

export const change = (id: string, title: string, now: number) => ({
  meta: { id, dt: new Date(now).toISOString() },
  wiki: "enwiki",
  type: "edit",
  title
})

// ---- helpers ----

/** On the real clock: it works every second, which makes simulated days slow. */
const recentEvents = Layer.scopedContext(
  Effect.withClock(Layer.build(RecentEvents.layerWith({ keep: 1_000 }).pipe(Layer.provide(memoryEvents))), Clock.make())
)
