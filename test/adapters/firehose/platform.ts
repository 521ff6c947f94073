/** Runs the Firehose adapter on the test clock, against the simulator or a fake network. */

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
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { type Delivery, type Platform, Platforms } from "../../../core/platforms/Platform.ts"
import type { RuleStore } from "../../../core/rules/RuleStore.ts"
import type { SettingsPatch } from "../../../simulator/settings.ts"
import { defaults, type Stage, settle, stage } from "../../simulator/stage.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { deliveriesOf } from "../deliveries.ts"

export const TOKEN = defaults.firehose.tap_token

export interface Adapter {
  readonly platform: Platform
  readonly recent: RecentEvents["Type"]
  /** With causes and annotations. */
  readonly logs: ReadonlyArray<string>
}

export const BASE_URL = "http://simulator/"

/** One rule store for several adapters: what one registers is known to the next one. */
export const sharedRules: Effect.Effect<Layer.Layer<RuleStore>, never, Scope.Scope> = Effect.map(
  Layer.build(memoryRules),
  Layer.succeedContext
)

export const makeAdapter = (
  send: (request: Request) => Promise<Response>,
  token = TOKEN,
  baseUrl = BASE_URL,
  rules: Layer.Layer<RuleStore, never, never> = memoryRules
): Effect.Effect<Adapter, never, Scope.Scope> =>
  Effect.gen(function* () {
    const logs: Array<string> = []
    const logger = Logger.map(Logger.logfmtLogger, (line) => void logs.push(line))
    const services = Layer.mergeAll(Platforms.layer, rules, Entropy.layerCounting, recentEvents)
    const logging = Logger.replace(Logger.defaultLogger, logger)
    const context = yield* layerWith({ baseUrl, token: Redacted.make(token), rulesPerAccount: 0 }).pipe(
      Layer.provideMerge(services),
      Layer.provide(logging),
      Layer.build
    )
    const real = yield* Effect.orDie(Context.get(context, Platforms).get("firehose"))
    const withServices = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(Effect.provideService(Fetch, { send }), Effect.provide(logging))
    const platform: Platform = {
      ...real,
      verify: (text) => withServices(real.verify(text)),
      register: (texts) => withServices(real.register(texts)),
      unregister: (ids) => withServices(real.unregister(ids)),
      inventory: withServices(real.inventory),
      watch: (from) => real.watch(from).pipe(Stream.provideService(Fetch, { send }), Stream.provideSomeLayer(logging))
    }
    return { platform, recent: Context.get(context, RecentEvents), logs }
  })

export interface Watched extends Stage, Adapter {
  readonly deliveries: Array<Delivery>
  /** Page titles, in order of delivery. */
  readonly titles: () => ReadonlyArray<unknown>
}

/** With our own rule "cat" and an open stream. */
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
    const adapter = yield* makeAdapter(on.handler)
    yield* Effect.orDie(adapter.platform.register(options.texts ?? ["cat"]))
    yield* options.before?.(on) ?? Effect.void
    return { ...on, ...adapter, ...(yield* collect(adapter.platform, options.from)) } satisfies Watched
  })

/** Runs the stream until the scope closes. */
export const collect = (platform: Platform, from?: string) =>
  Effect.gen(function* () {
    const deliveries: Array<Delivery> = []
    const fiber = yield* Stream.runForEach(deliveriesOf(platform, Option.fromNullable(from)), (delivery) =>
      Effect.sync(() => void deliveries.push(delivery))
    ).pipe(Effect.forkScoped)
    yield* settle
    const isRunning = Effect.map(Fiber.poll(fiber), Option.isNone)
    return { deliveries, isRunning, titles: () => deliveries.map(titleOf) }
  })

/** Advances the clock from one pending sleep to the next. */
export const passInSteps = (seconds: number) =>
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
export const intervals = (on: Stage) =>
  Effect.map(on.control.state, ({ connection_attempts }) => {
    const times = connection_attempts.map(({ at }) => at / 1_000)
    return times.slice(1).map((at, index) => at - (times[index] ?? 0))
  })

// ---- helpers ----

/** On the real clock: it works every second, which makes simulated days slow. */
const recentEvents = Layer.scopedContext(
  Effect.withClock(Layer.build(RecentEvents.layerWith({ keep: 1_000 }).pipe(Layer.provide(memoryEvents))), Clock.make())
)

const titleOf = ({ payload }: Delivery): unknown => {
  const document = payload["document"]
  return typeof document === "object" && document !== null && "title" in document ? document.title : undefined
}
