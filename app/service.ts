/** The service without a door: its layers, and what goes on for as long as a door is open. */
import process from "node:process"
import { Effect, identity, Layer, Option, Schedule, type Scope } from "effect"
import * as Firehose from "../adapters/firehose/Firehose.ts"
import * as DemoFeed from "../adapters/local/DemoFeed.ts"
import * as Local from "../adapters/local/Local.ts"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import * as Otlp from "../adapters/telemetry/otlp.ts"
import * as HttpSender from "../adapters/webhooks/HttpSender.ts"
import * as X from "../adapters/x/X.ts"
import { Backtests } from "../core/backtests/Backtests.ts"
import { RecentEvents } from "../core/backtests/RecentEvents.ts"
import * as Ingest from "../core/ingest/Ingest.ts"
import { Keys } from "../core/keys/Keys.ts"
import { LiveMatches } from "../core/matches/LiveMatches.ts"
import { Matches } from "../core/matches/Matches.ts"
import * as Retention from "../core/matches/Retention.ts"
import { PLATFORM_IDS, type PlatformId } from "../core/model/PlatformId.ts"
import { type Step, Steps } from "../core/model/Steps.ts"
import { Platforms } from "../core/platforms/Platform.ts"
import { Registrations } from "../core/rules/Registrations.ts"
import { Rules } from "../core/rules/Rules.ts"
import * as WebhookDelivery from "../core/webhooks/WebhookDelivery.ts"
import { Webhooks } from "../core/webhooks/Webhooks.ts"
import { type CrashPoint, type ServiceSettings, serviceSettings, storeSettings } from "./settings.ts"
import { runtime, stores } from "./stores.ts"
import { VERSION } from "./version.ts"

export const service = (settings: ServiceSettings, isAlone: boolean) => {
  const local = Local.layerWith({
    platforms: localPlatforms(settings),
    rulesPerAccount: new Map([["x", settings.xRulesPerAccount]])
  })
  const x = Option.match(settings.xToken, {
    onNone: () => Layer.empty,
    onSome: (token) => X.layerWith({ baseUrl: settings.xBaseUrl, token, rulesPerAccount: settings.xRulesPerAccount })
  })
  const firehose = Option.match(settings.firehoseToken, {
    onNone: () => Layer.empty,
    onSome: (token) => Firehose.layerWith({ baseUrl: settings.firehoseBaseUrl, token })
  })
  const platforms = Layer.provideMerge(Layer.mergeAll(local, x, firehose), Platforms.layer)
  const useCases = Layer.mergeAll(Rules.layer, Matches.layer, Keys.layer, Backtests.layer, Webhooks.layer)
  return useCases.pipe(
    Layer.provideMerge(LiveMatches.layer),
    Layer.provideMerge(HttpSender.layerWith(settings.webhookAddresses)),
    Layer.provideMerge(Registrations.layerWith({ isAlone })),
    Layer.provideMerge(platforms),
    Layer.provideMerge(RecentEvents.layerWith({ keep: settings.recentEvents })),
    Layer.provideMerge(stores),
    Layer.provideMerge(runtime)
  )
}

/** What a door finds there. */
type Running = Layer.Layer.Success<ReturnType<typeof service>> | Scope.Scope

/** Reconciles, ingests, delivers and deletes what is old for as long as the door is open. */
export const running = <A, E>(door: (settings: ServiceSettings) => Effect.Effect<A, E, Running>) =>
  Effect.gen(function* () {
    const settings = yield* serviceSettings
    const isAlone = Option.isNone((yield* storeSettings).databaseUrl)

    return yield* Effect.gen(function* () {
      const { reconcile } = yield* Registrations
      // A platform that hangs goes on in the background.
      yield* Effect.timeoutOption(Effect.disconnect(reconcile), "10 seconds")
      yield* Effect.forkScoped(Effect.delay(Effect.repeat(reconcile, Schedule.spaced("2 minutes")), "2 minutes"))
      yield* Layer.build(Ingest.layer)
      yield* Layer.build(Retention.layerWith(settings))
      yield* Layer.build(WebhookDelivery.layerWith({ isAlone }))
      return yield* door(settings)
    }).pipe(
      Effect.scoped,
      Effect.provide(service(settings, isAlone)),
      // The last to go: what ends with the service leaves a span, too.
      Effect.provide(traces(settings)),
      Option.isNone(settings.crashAt) ? identity : Effect.provideService(Steps, crashing(settings.crashAt.value))
    )
  })

/** Platforms without a credential. */
export const localPlatforms = (settings: ServiceSettings): ReadonlyArray<PlatformId> => {
  const tokens = { x: settings.xToken, firehose: settings.firehoseToken }
  return PLATFORM_IDS.filter((id) => Option.isNone(tokens[id]))
}

/** Starts the demo feed, and says whether it did: never beside a real platform, where made-up events would mislead. */
export const startDemoFeed = (settings: ServiceSettings) =>
  settings.demoFeed === "on" && localPlatforms(settings).length === PLATFORM_IDS.length
    ? Effect.as(Layer.build(DemoFeed.layer), true)
    : Effect.succeed(false)

// ---- helpers ----

/** Spans are not even made where nobody collects them. */
const traces = ({ otlpEndpoint, serviceName }: ServiceSettings) =>
  Option.match(otlpEndpoint, {
    onNone: () => Layer.setTracerEnabled(false),
    onSome: (endpoint) =>
      Layer.provide(Otlp.layerWith({ endpoint, serviceName, version: VERSION }), RuntimeEntropy.layer)
  })

/** For tests of recovery: the process ends at that step as if the power had failed. */
const crashing = (at: CrashPoint) => {
  let left = at.passes
  return {
    reached: (step: Step) =>
      Effect.sync(() => {
        if (step === at.step && left-- === 0) process.kill(process.pid, "SIGKILL")
      })
  }
}
