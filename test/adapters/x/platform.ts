/** Runs the X adapter on the test clock, against the simulator or a fake network. */

import { Cause, Duration, Effect, Fiber, Layer, Logger, Option, Redacted, type Scope, Stream } from "effect"
import { Fetch } from "../../../adapters/http/Fetch.ts"
import { Freezes } from "../../../adapters/http/Freshness.ts"
import * as X from "../../../adapters/x/X.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { type Delivery, type Platform, Platforms, type Signal } from "../../../core/platforms/Platform.ts"
import type { SettingsPatch } from "../../../simulator/settings.ts"
import { defaults, pass, type Stage, settle, stage } from "../../simulator/stage.ts"
import { memoryRules } from "../../stores/memoryRules.ts"

/** The tag of rules from the memory store. */
export const TAG = "earshot:memory"

export const TOKEN = defaults.x.bearer_token

export interface Watcher {
  /** Apart from events and signs of life. */
  readonly signals: ReadonlyArray<Exclude<Signal, { _tag: "Event" | "Alive" }>>
  /** The last sign of life, in milliseconds. */
  readonly aliveAt: () => number
  readonly deliveries: ReadonlyArray<Delivery>
  readonly texts: () => ReadonlyArray<string>
  readonly isRunning: Effect.Effect<boolean>
  readonly stop: Effect.Effect<void>
}

export interface Adapter {
  readonly platform: Platform
  /** Recent events. */
  readonly recorded: ReadonlyArray<unknown>
  /** With causes and annotations. */
  readonly logs: ReadonlyArray<string>
  readonly watch: (from?: string) => Effect.Effect<Watcher, never, Scope.Scope>
}

export const withX = <A, E, R>(
  send: (request: Request) => Promise<Response>,
  body: (adapter: Adapter) => Effect.Effect<A, E, R>,
  options: {
    readonly token?: string
    readonly baseUrl?: string
    readonly lookUpInterval?: Duration.Duration
    /** None by default: the test process itself may be slow. */
    readonly freezes?: Freezes["Type"]
  } = {}
) => {
  const { token = TOKEN, baseUrl = "http://x.test/", lookUpInterval = Duration.zero, freezes = noFreezes } = options
  const logs: Array<string> = []
  const logger = Logger.make(({ message, cause, annotations }) => {
    const messages = Array.isArray(message) ? message.map(String) : [String(message)]
    logs.push([...messages, Cause.pretty(cause), String(annotations)].join(" "))
  })
  const x = X.layerWith({
    baseUrl,
    token: Redacted.make(token),
    rulesPerAccount: 25,
    pricePerPost: 0.005,
    lookUpInterval
  })
  const recorded: Array<unknown> = []
  // The real one writes every second, which makes hours on the test clock slow.
  const recent = Layer.succeed(RecentEvents, {
    keep: 1,
    record: (_, records) => Effect.sync(() => void recorded.push(...records)),
    newest: () => Stream.empty,
    remove: () => Effect.void
  })
  const layer = Layer.provideMerge(x, Layer.mergeAll(Platforms.layer, memoryRules, Entropy.layerCounting, recent))
  return Effect.gen(function* () {
    const platform = yield* (yield* Platforms).get("x")
    return yield* body({ platform, logs, recorded, watch: (from) => watch(platform, from) })
  }).pipe(
    Effect.provide(layer),
    Effect.provideService(Fetch, { send }),
    Effect.provideService(Freezes, freezes),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger))
  )
}

export const noFreezes: Freezes["Type"] = { count: Effect.succeed(0), run: Effect.void }

export const withSimulator = <A, E, R>(
  settings: SettingsPatch,
  body: (on: Stage, adapter: Adapter) => Effect.Effect<A, E, R>
) => Effect.flatMap(stage(settings), (on) => withX(on.handler, (adapter) => body(on, adapter)))

/** Advances the clock in steps shorter than any wait of the adapter or the simulator. */
export const passInSteps = (seconds: number, step = 5) =>
  Effect.gen(function* () {
    for (let left = seconds; left > 0; left -= step) yield* pass(Math.min(step, left))
  })

/** Connection attempts: seconds since the first, and status. */
export const attempts = (on: Stage) =>
  Effect.map(on.control.state, ({ connection_attempts }) =>
    connection_attempts.map(({ at, status }): readonly [number, number] => [
      (at - (connection_attempts[0]?.at ?? at)) / 1_000,
      status
    ])
  )

export const fired = (on: Stage, kind: string) =>
  Effect.map(on.control.state, ({ faults_fired }) => faults_fired[`x.${kind}`] ?? 0)

// ---- helpers ----

const watch = (platform: Platform, from: string | undefined) =>
  Effect.gen(function* () {
    const deliveries: Array<Delivery> = []
    const signals: Array<Exclude<Signal, { _tag: "Event" | "Alive" }>> = []
    let aliveAt = 0
    const collect = Stream.runForEach(platform.watch(Option.fromNullable(from)), (signal) =>
      Effect.sync(() => {
        if (signal._tag === "Event") deliveries.push(signal.delivery)
        else if (signal._tag === "Alive") aliveAt = signal.at
        else signals.push(signal)
      })
    )
    const fiber = yield* Effect.forkDaemon(collect)
    yield* Effect.addFinalizer(() => Fiber.interrupt(fiber))
    yield* settle
    return {
      deliveries,
      signals,
      aliveAt: () => aliveAt,
      texts: () => deliveries.map(({ payload }) => textIn(payload)),
      isRunning: Effect.map(Fiber.poll(fiber), Option.isNone),
      stop: Effect.zipRight(Fiber.interrupt(fiber), settle)
    }
  })

const textIn = ({ data }: Record<string, unknown>): string =>
  typeof data === "object" && data !== null && "text" in data ? String(data.text) : ""
