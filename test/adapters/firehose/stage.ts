/** The Firehose platform against the simulator in process, on the test clock, and how tests watch it. */
import {
  Chunk,
  Clock,
  Context,
  Effect,
  Fiber,
  Layer,
  Logger,
  Option,
  Redacted,
  type Scope,
  Stream,
  TestClock
} from "effect"
import { layerWith } from "../../../adapters/firehose/Firehose.ts"
import { Fetch } from "../../../adapters/http/Fetch.ts"
import type { SettingsPatch } from "../../../adapters/simulator/settings.ts"
import { EventLog } from "../../../core/backtests/EventLog.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { type Delivery, type Platform, Platforms } from "../../../core/platforms/Platform.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { deliveriesOf } from "../deliveries.ts"
import { defaults, type Stage, settle, stage } from "../simulator/stage.ts"

export const TOKEN = defaults.firehose.tap_token

/** Every line that is logged, with all that is logged along. */
export type Lines = Array<string>

export interface Scene {
  readonly platform: Platform
  readonly recent: RecentEvents["Type"]
  readonly lines: Lines
}

/** The platform on its own, with the other side played by `send`. */
export const scene = (
  send: (request: Request) => Promise<Response>,
  token = TOKEN,
  baseUrl = "http://simulator/"
): Effect.Effect<Scene, never, Scope.Scope> =>
  Effect.gen(function* () {
    const lines: Lines = []
    const logger = Logger.map(Logger.logfmtLogger, (line) => void lines.push(line))
    const services = Layer.mergeAll(Platforms.layer, RuleStore.layerMemory, Entropy.layerCounting, recentEvents)
    const logging = Logger.replace(Logger.defaultLogger, logger)
    const context = yield* layerWith({ baseUrl, token: Redacted.make(token) }).pipe(
      Layer.provideMerge(services),
      Layer.provide(logging),
      Layer.build
    )
    const real = yield* Effect.orDie(Context.get(context, Platforms).get("firehose"))
    const here = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(Effect.provideService(Fetch, { send }), Effect.provide(logging))
    const platform: Platform = {
      ...real,
      verify: (text) => here(real.verify(text)),
      register: (texts) => here(real.register(texts)),
      unregister: (ids) => here(real.unregister(ids)),
      inventory: here(real.inventory),
      watch: (from) => real.watch(from).pipe(Stream.provideService(Fetch, { send }), Stream.provideSomeLayer(logging))
    }
    return { platform, recent: Context.get(context, RecentEvents), lines }
  })

export interface Watched extends Stage, Scene {
  readonly deliveries: Array<Delivery>
  /** Titles of the pages, in the order in which they came. */
  readonly titles: () => ReadonlyArray<unknown>
}

/** With a rule for "cat" that is ours, and the stream open. */
export const watched = (
  options: {
    readonly settings?: SettingsPatch
    readonly texts?: ReadonlyArray<string>
    readonly from?: string
    readonly before?: (on: Stage) => Effect.Effect<unknown>
  } = {}
) =>
  Effect.gen(function* () {
    const on = yield* stage(options.settings)
    const made = yield* scene(on.handler)
    yield* Effect.orDie(made.platform.register(options.texts ?? ["cat"]))
    yield* options.before?.(on) ?? Effect.void
    return { ...on, ...made, ...(yield* listened(made.platform, options.from)) } satisfies Watched
  })

/** Runs the stream until the scope closes. */
export const listened = (platform: Platform, from?: string) =>
  Effect.gen(function* () {
    const deliveries: Array<Delivery> = []
    const fiber = yield* Stream.runForEach(deliveriesOf(platform, Option.fromNullable(from)), (delivery) =>
      Effect.sync(() => void deliveries.push(delivery))
    ).pipe(Effect.forkScoped)
    yield* settle
    const isRunning = Effect.map(Fiber.poll(fiber), Option.isNone)
    return { deliveries, isRunning, titles: () => deliveries.map(titleOf) }
  })

/** Time passes from one thing that is to happen to the next, and each of them happens when it should. */
export const passing = (seconds: number) =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + seconds * 1_000
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      if (now >= end) return
      const due = Chunk.filter(yield* TestClock.sleeps(), (at) => at > now)
      yield* TestClock.setTime(Math.min(end, ...due))
      yield* settle
    }
  })

/** Seconds from one connection attempt to the next. */
export const gaps = (on: Stage) =>
  Effect.map(on.control.state, ({ connection_attempts }) => {
    const times = connection_attempts.map(({ at }) => at / 1_000)
    return times.slice(1).map((at, index) => at - (times[index] ?? 0))
  })

// ---- helpers ----

/** On the real clock: what it does every second would make simulated days long. */
const recentEvents = Layer.scopedContext(
  Effect.withClock(
    Layer.build(RecentEvents.layerWith({ keep: 1_000 }).pipe(Layer.provide(EventLog.layerMemory))),
    Clock.make()
  )
)

const titleOf = ({ payload }: Delivery): unknown => {
  const document = payload["document"]
  return typeof document === "object" && document !== null && "title" in document ? document.title : undefined
}
