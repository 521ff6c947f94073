/** The X adapter as the rest of Earshot sees it, on the test clock, with the simulator or anyone else as X. */
import { Cause, Effect, Fiber, Layer, Logger, Option, Redacted, type Scope, Stream } from "effect"
import { Fetch } from "../../../adapters/http/Fetch.ts"
import type { SettingsPatch } from "../../../adapters/simulator/settings.ts"
import * as X from "../../../adapters/x/X.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { type Delivery, type Platform, Platforms } from "../../../core/platforms/Platform.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { deliveriesOf } from "../deliveries.ts"
import { defaults, pass, type Stage, settle, stage } from "../simulator/stage.ts"

/** What rules of the memory store carry. */
export const TAG = "earshot:memory"

export const TOKEN = defaults.x.bearer_token

export interface Watching {
  /** So far, in their order. */
  readonly deliveries: ReadonlyArray<Delivery>
  readonly texts: () => ReadonlyArray<string>
  readonly isRunning: Effect.Effect<boolean>
  /** The stream is left, as by a service that stops. */
  readonly leave: Effect.Effect<void>
}

export interface Adapter {
  readonly platform: Platform
  /** What was taken note of as recent events. */
  readonly recorded: ReadonlyArray<unknown>
  /** Everything that was logged, with its causes and annotations. */
  readonly logs: ReadonlyArray<string>
  readonly watch: (from?: string) => Effect.Effect<Watching, never, Scope.Scope>
}

/** Runs the body with `send` as the network. */
export const withX = <A, E, R>(
  send: (request: Request) => Promise<Response>,
  body: (adapter: Adapter) => Effect.Effect<A, E, R>,
  options: { readonly token?: string; readonly baseUrl?: string } = {}
) => {
  const { token = TOKEN, baseUrl = "http://x.test/" } = options
  const logs: Array<string> = []
  const logger = Logger.make(({ message, cause, annotations }) => {
    const said = Array.isArray(message) ? message.map(String) : [String(message)]
    logs.push([...said, Cause.pretty(cause), String(annotations)].join(" "))
  })
  const x = X.layerWith({ baseUrl, token: Redacted.make(token), rulesPerAccount: 25 })
  const recorded: Array<unknown> = []
  // The real one writes every second, which takes hours of the test clock minutes.
  const recent = Layer.succeed(RecentEvents, {
    keep: 1,
    record: (_, records) => Effect.sync(() => void recorded.push(...records)),
    newest: () => Stream.empty
  })
  const layer = Layer.provideMerge(x, Layer.mergeAll(Platforms.layer, RuleStore.layerMemory, recent))
  return Effect.gen(function* () {
    const platform = yield* (yield* Platforms).get("x")
    return yield* body({ platform, logs, recorded, watch: (from) => watching(platform, from) })
  }).pipe(
    Effect.provide(layer),
    Effect.provideService(Fetch, { send }),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger))
  )
}

/** Runs the body with the simulator as X. */
export const onStage = <A, E, R>(
  settings: SettingsPatch,
  body: (on: Stage, adapter: Adapter) => Effect.Effect<A, E, R>
) => Effect.flatMap(stage(settings), (on) => withX(on.handler, (adapter) => body(on, adapter)))

/** Lets time pass in steps that are shorter than any wait of the adapter or the simulator. */
export const passSlowly = (seconds: number, step = 5) =>
  Effect.gen(function* () {
    for (let left = seconds; left > 0; left -= step) yield* pass(Math.min(step, left))
  })

/** Seconds since the first connection, with the status of each. */
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

const watching = (platform: Platform, from: string | undefined) =>
  Effect.gen(function* () {
    const deliveries: Array<Delivery> = []
    const collect = Stream.runForEachChunk(deliveriesOf(platform, Option.fromNullable(from)), (chunk) =>
      Effect.sync(() => void deliveries.push(...chunk))
    )
    const fiber = yield* Effect.forkDaemon(collect)
    yield* Effect.addFinalizer(() => Fiber.interrupt(fiber))
    yield* settle
    return {
      deliveries,
      texts: () => deliveries.map(({ payload }) => textIn(payload)),
      isRunning: Effect.map(Fiber.poll(fiber), Option.isNone),
      leave: Effect.zipRight(Fiber.interrupt(fiber), settle)
    }
  })

const textIn = ({ data }: Record<string, unknown>): string =>
  typeof data === "object" && data !== null && "text" in data ? String(data.text) : ""
