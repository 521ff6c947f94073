/** The whole service in process, on a simulated clock, with the simulator as both platforms. */

import { Cause, Clock, Context, Effect, Layer, Logger, LogLevel, Option, Redacted, Schedule, type Scope } from "effect"
import * as Firehose from "../../adapters/firehose/Firehose.ts"
import { Fetch } from "../../adapters/http/Fetch.ts"
import { Freezes } from "../../adapters/http/Freshness.ts"
import * as X from "../../adapters/x/X.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import * as Enforcer from "../../core/budget/Enforcer.ts"
import { PostBudget } from "../../core/budget/PostBudget.ts"
import { PostCounts } from "../../core/budget/PostCounts.ts"
import { Redactions } from "../../core/compliance/Redactions.ts"
import { Withdrawals } from "../../core/compliance/Withdrawals.ts"
import { StreamStore } from "../../core/coverage/StreamStore.ts"
import * as Ingest from "../../core/ingest/Ingest.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { Ids } from "../../core/model/Ids.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { Registrations } from "../../core/rules/Registrations.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { Rules } from "../../core/rules/Rules.ts"
import type { PlatformId } from "../../fixtures/languages.ts"
import type { State } from "../../simulator/Control.ts"
import * as Simulator from "../../simulator/Simulator.ts"
import type { SettingsPatch } from "../../simulator/settings.ts"
import { quotas } from "../quotas.ts"
import { memoryEvents } from "../stores/memoryEvents.ts"
import { memoryKeys } from "../stores/memoryKeys.ts"
import { memoryMatches } from "../stores/memoryMatches.ts"
import { memoryPostCounts } from "../stores/memoryPostCounts.ts"
import { memoryRules } from "../stores/memoryRules.ts"
import { memoryShadows } from "../stores/memoryShadows.ts"
import { memoryStoredPosts } from "../stores/memoryStoredPosts.ts"
import { memoryStreams } from "../stores/memoryStreams.ts"
import { SimulatedClock, settle } from "./SimulatedClock.ts"
import { TrafficRecorder } from "./TrafficRecorder.ts"

export const START = Date.UTC(2026, 10, 15, 12)

export interface Options {
  /** In milliseconds. */
  readonly start?: number
  /** On x. */
  readonly monthlyPostBudget?: number
  /** Of the simulator. */
  readonly settings?: SettingsPatch
  /** How long each write of matches, of counts and of a paused rule waits, in seconds. */
  readonly writeSeconds?: number
}

/** What the tags of the service's rules on the platforms begin with, with the memory store. */
export const TAG = "earshot:memory:"

export interface Service {
  readonly clock: SimulatedClock
  readonly control: Simulator.Simulator["control"]
  /** Calls the simulator directly, as another client. */
  readonly handler: Simulator.Simulator["handler"]
  readonly traffic: TrafficRecorder
  readonly rules: Rules["Type"]
  readonly platforms: Platforms["Type"]
  readonly store: RuleStore["Type"]
  readonly matches: MatchStore["Type"]
  readonly streams: StreamStore["Type"]
  /** All log lines, with their simulated time. */
  readonly log: ReadonlyArray<string>
  readonly addToLog: (line: string) => void
}

/** Starts a service, runs the body and stops the service. */
export const withService = <A, E>(
  seed: number,
  body: (service: Service) => Effect.Effect<A, E, Scope.Scope>,
  { start = START, monthlyPostBudget = 0, settings = {}, writeSeconds = 0 }: Options = {}
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const clock = new SimulatedClock(start)
    const log: Array<string> = []
    const addToLog = (line: string) => {
      log.push(`${new Date(clock.unsafeCurrentTimeMillis()).toISOString()} ${line}`)
    }
    const logger = Logger.make(({ logLevel, message, cause }) => {
      const text = Array.isArray(message) ? message.map(String).join(" ") : String(message)
      addToLog([logLevel.label, text, ...(Cause.isEmpty(cause) ? [] : [Cause.pretty(cause)])].join(" "))
    })
    return Effect.gen(function* () {
      const { control, handler } = yield* Simulator.make({ seed, settings })
      const traffic = new TrafficRecorder(handler, () => clock.unsafeCurrentTimeMillis())
      const started = Effect.gen(function* () {
        const { reconcile, reconcileDue } = yield* Registrations
        yield* reconcile
        yield* Effect.forkScoped(Effect.delay(Effect.repeat(reconcileDue, Schedule.spaced("20 seconds")), "20 seconds"))
        yield* Layer.build(Enforcer.layer)
        yield* Layer.build(Ingest.layer)
        yield* settle
        return yield* body({
          clock,
          control,
          handler,
          traffic,
          log,
          addToLog,
          rules: yield* Rules,
          platforms: yield* Platforms,
          store: yield* RuleStore,
          matches: yield* MatchStore,
          streams: yield* StreamStore
        })
      })
      return yield* started.pipe(
        Effect.provide(layerOf(control.settings, { monthlyPostBudget, writeSeconds })),
        Effect.provideService(Fetch, traffic),
        Effect.provideService(Freezes, { count: Effect.sync(() => traffic.freezes), run: Effect.void })
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(LogLevel.Debug),
      // Like the program: the fiber that waits for another one reports its failure.
      Effect.withUnhandledErrorLogLevel(Option.none()),
      clock.run
    )
  })

/** All rules on a platform, including those of other clients. */
export const rulesOn = ({ x, firehose }: State, platform: PlatformId): State["x"]["rules"] =>
  platform === "x" ? x.rules : firehose.taps.flatMap(({ rules }) => rules)

// ---- helpers ----

const layerOf = (
  { x, firehose }: Simulator.Simulator["control"]["settings"],
  { monthlyPostBudget, writeSeconds }: Required<Pick<Options, "monthlyPostBudget" | "writeSeconds">>
) => {
  const baseUrl = "http://simulator"
  const adapters = Layer.mergeAll(
    X.layerWith({
      baseUrl,
      token: Redacted.make(x.bearer_token),
      rulesPerAccount: 25,
      pricePerPost: 0.005,
      monthlyPostBudget
    }),
    Firehose.layerWith({ baseUrl, token: Redacted.make(firehose.tap_token), rulesPerAccount: 0 })
  )
  return Rules.layer.pipe(
    Layer.provideMerge(Layer.provideMerge(PostBudget.layer, Registrations.layerWithChanges)),
    Layer.provideMerge(Withdrawals.layer),
    Layer.provideMerge(Redactions.layer),
    Layer.provideMerge(quotas()),
    Layer.provideMerge(Layer.provideMerge(adapters, Platforms.layer)),
    Layer.provideMerge(recentEvents),
    Layer.provideMerge(writeSeconds > 0 ? slowWrites(writeSeconds) : Layer.empty),
    Layer.provideMerge(
      Layer.provideMerge(
        Layer.provideMerge(Layer.provideMerge(memoryShadows, memoryMatches), memoryStreams),
        Layer.mergeAll(memoryRules, memoryPostCounts, memoryStoredPosts, memoryKeys)
      )
    ),
    Layer.provideMerge(Layer.provideMerge(Ids.layer, Entropy.layerCounting))
  )
}

/** On the real clock: its work every second would slow down a simulated day. */
const recentEvents = Layer.scopedContext(
  Effect.withClock(Layer.build(RecentEvents.layerWith({ keep: 1_000 }).pipe(Layer.provide(memoryEvents))), Clock.make())
)

/** Each write waits first. */
const slowWrites = (seconds: number) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const [matches, counts, rules] = [yield* MatchStore, yield* PostCounts, yield* RuleStore]
      const wait = Effect.sleep(`${seconds} seconds`)
      return Context.make(MatchStore, {
        ...matches,
        insertNext: (all, progress) => Effect.zipRight(wait, matches.insertNext(all, progress))
      }).pipe(
        Context.add(PostCounts, {
          ...counts,
          add: (platform, periods, added) => Effect.zipRight(wait, counts.add(platform, periods, added))
        }),
        Context.add(RuleStore, {
          ...rules,
          fail: (rule, platform, pause) => Effect.zipRight(wait, rules.fail(rule, platform, pause))
        })
      )
    })
  )
