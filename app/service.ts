/** The service without a gateway: its layers and background work. */
import process from "node:process"
import { Deferred, Effect, Either, identity, Layer, Option, type Scope } from "effect"
import { urlRefusal } from "../adapters/feeds/fetch.ts"
import * as DemoFeed from "../adapters/local/DemoFeed.ts"
import * as Local from "../adapters/local/Local.ts"
import * as Off from "../adapters/off/Off.ts"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import * as Otlp from "../adapters/telemetry/otlp.ts"
import * as HttpDocuments from "../adapters/webhooks/HttpDocuments.ts"
import * as HttpSender from "../adapters/webhooks/HttpSender.ts"
import * as Enforcer from "../core/budget/Enforcer.ts"
import * as Compliance from "../core/compliance/Compliance.ts"
import { Withdrawals } from "../core/compliance/Withdrawals.ts"
import { Disk } from "../core/disk/Disk.ts"
import { EventRoom } from "../core/disk/EventRoom.ts"
import { FeedAddresses } from "../core/feeds/Feeds.ts"
import { signInAt } from "../core/grants/signIn.ts"
import { expireAnswers } from "../core/idempotency/expireAnswers.ts"
import * as Ingest from "../core/ingest/Ingest.ts"
import { Matches } from "../core/matches/Matches.ts"
import * as Retention from "../core/matches/Retention.ts"
import * as EnforceMatching from "../core/matching/enforceMatching.ts"
import { type Failpoint, Failpoints } from "../core/model/Failpoints.ts"
import type { AccountId } from "../core/model/Ids.ts"
import { Ownership } from "../core/ownership/Ownership.ts"
import { Platforms } from "../core/platforms/Platform.ts"
import type { Defaults } from "../core/quotas/Limit.ts"
import { Quotas } from "../core/quotas/Quotas.ts"
import * as Reconciler from "../core/rules/Reconciler.ts"
import { forgetReplaced } from "../core/shadows/forgetReplaced.ts"
import { type Drill, DrillMode, WEBHOOKS_OFF } from "../core/status/Drill.ts"
import * as MonitorStore from "../core/status/monitorStore.ts"
import * as WebhookDelivery from "../core/webhooks/WebhookDelivery.ts"
import { WebhookSender } from "../core/webhooks/WebhookSender.ts"
import { useCasesOn } from "./composition.ts"
import { type InstalledPlatform, installed } from "./platforms.ts"
import { type CrashPoint, type ServiceSettings, serviceSettings } from "./settings.ts"
import { storesFor } from "./stores.ts"
import { VERSION } from "./version.ts"

export interface ServiceOptions {
  readonly settings: ServiceSettings
  readonly platforms: ReadonlyArray<InstalledPlatform>
}

export const serviceOptions = Effect.gen(function* () {
  const settings = yield* serviceSettings
  return { settings, platforms: yield* installed(settings) }
})

export const service = <S, SE>(options: ServiceOptions, stores: Layer.Layer<S, SE>) => {
  const { settings } = options
  const quotas = Layer.unwrapEffect(Effect.map(defaultLimits(settings), (defaults) => Quotas.layerWith({ defaults })))
  const platforms = Layer.merge(Local.feed, registered(options)).pipe(
    Layer.provideMerge(Layer.merge(quotas, EventRoom.layer)),
    Layer.provideMerge(Layer.merge(Platforms.layer, Local.Sinks.layer))
  )
  return useCasesOn({
    platforms,
    stores,
    sender: sender(settings),
    recentEvents: settings.recentEvents,
    issuer: Either.getRight(signInOf(settings))
  }).pipe(
    Layer.provide(Layer.succeed(FeedAddresses, { refusal: (url) => urlRefusal(url, settings.feedAddresses) })),
    Layer.provideMerge(Layer.succeed(DrillMode, drillOf(settings)))
  )
}

const serverOn = (options: ServiceOptions) => service(options, storesFor({ isServer: true }))

type Running = Layer.Layer.Success<ReturnType<typeof serverOn>> | Scope.Scope

/** Runs the background work (budgets, reconciler, ingest, limits on matching, retention, webhooks, compliance) while the gateway effect runs. */
export const running = <A, E>(gateway: (options: ServiceOptions) => Effect.Effect<A, E, Running>) =>
  Effect.gen(function* () {
    const options = yield* serviceOptions
    const { settings } = options

    return yield* Effect.gen(function* () {
      yield* Layer.build(MonitorStore.layer)
      yield* Layer.build(Enforcer.layer)
      yield* Layer.build(Reconciler.layer)
      yield* Layer.build(Ingest.layer)
      yield* Layer.build(EnforceMatching.layer)
      const { limitOf } = yield* Quotas
      const limitsOf = (account: AccountId) =>
        Effect.all({ matches: limitOf(account, "matches"), bytes: limitOf(account, "bytes") })
      const withdrawals = yield* Withdrawals
      const forgetOthers = Effect.all(
        [yield* forgetReplaced(settings.keepDays), yield* expireAnswers, withdrawals.trim(settings.keepDays)],
        { discard: true }
      )
      yield* Layer.build(Retention.layerWith({ ...settings, limitsOf, forgetOthers }))
      if (settings.webhooks === "on") yield* Layer.build(WebhookDelivery.layer)
      yield* Layer.build(Compliance.layer)
      const { outdated } = yield* Ownership
      const { stopWaiting } = yield* Matches
      return yield* Effect.raceFirst(gateway(options), Deferred.await(outdated)).pipe(
        // Before the scope closes, which lets requests in flight finish.
        Effect.ensuring(stopWaiting)
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(serverOn(options)),
      // Outermost, so that spans of the shutdown are exported too.
      Effect.provide(traces(settings)),
      Option.isNone(settings.crashAt) ? identity : Effect.provideService(Failpoints, crashing(settings.crashAt.value))
    )
  })

export const startDemoFeed = (options: ServiceOptions) =>
  hasDemoFeed(options)
    ? Effect.as(Layer.build(DemoFeed.layerWith(options.platforms.map(({ demo }) => demo))), true)
    : Effect.succeed(false)

/** Why there is no demo feed, if a real platform is the reason. */
export const demoFeedOffReason = ({ settings, platforms }: ServiceOptions): string => {
  if (settings.demoFeed === "off" || settings.upstream === "off") return ""
  const idsOf = (isReal: boolean) =>
    platforms.filter(({ remote }) => Option.isSome(remote) === isReal).map(({ language }) => language.id)
  const [real, inProcess] = [idsOf(true), idsOf(false)]
  const silent =
    inProcess.length === 0 ? "" : `; ${inProcess.join(" and ")} only get what you send to POST /local/events`
  return ` (it never runs next to a real platform: ${real.join(", ")})${silent}`
}

// ---- helpers ----

const defaultLimits = (settings: ServiceSettings): Effect.Effect<Defaults> =>
  Effect.gen(function* () {
    const space = yield* (yield* Disk).space
    const ofDisk = Option.map(space, ({ total }) => Math.floor(total / 4))
    return {
      requests: settings.limitRequests,
      checks: settings.limitChecks,
      matching: settings.limitMatching,
      events: settings.limitEvents,
      streams: settings.limitStreams,
      webhooks: settings.limitWebhooks,
      subscriptions: settings.limitSubscriptions,
      challenges: settings.limitChallenges,
      feeds: settings.limitFeeds,
      matches: settings.limitMatches,
      bytes: Option.getOrElse(settings.limitBytes, () => Math.min(10 * 1024 ** 3, ...Option.toArray(ofDisk)))
    }
  })

/** Only if every platform runs in process: beside a real platform, made-up events would mislead. */
const hasDemoFeed = ({ settings, platforms }: ServiceOptions): boolean =>
  settings.demoFeed === "on" && settings.upstream !== "off" && platforms.every(({ remote }) => Option.isNone(remote))

/** Sequential: platforms are listed in the order of registration. */
const registered = (options: ServiceOptions) =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const isOff = options.settings.upstream === "off"
      for (const { language, remote, rulesPerAccount } of options.platforms) {
        // A drill without credentials, too: made-up matches have no place in a copy.
        if (isOff) yield* Layer.build(Off.platform(language, rulesPerAccount))
        else if (Option.isSome(remote)) yield* Layer.build(remote.value.layer)
        else yield* Layer.build(Local.platform(language, rulesPerAccount, { hasDemoFeed: hasDemoFeed(options) }))
      }
    })
  )

const sender = ({ webhookAddresses, webhooks }: ServiceSettings) => {
  const http = HttpSender.layerWith(webhookAddresses)
  const sending = webhooks === "on" ? http : Layer.provide(WebhookSender.layerOff(WEBHOOKS_OFF), http)
  return Layer.merge(sending, HttpDocuments.layerWith(webhookAddresses))
}

/** Left: why agents cannot sign in with OAuth. */
export const signInOf = ({ publicUrl, console }: ServiceSettings) => signInAt(publicUrl, console === "on")

export const drillOf = ({ upstream, webhooks }: ServiceSettings): Drill => ({
  upstream: upstream === "off" ? "off" : "on",
  webhooks
})

/** Without a collector no spans are created. */
const traces = ({ otlpEndpoint, serviceName }: ServiceSettings) =>
  Option.match(otlpEndpoint, {
    onNone: () => Layer.setTracerEnabled(false),
    onSome: (endpoint) =>
      Layer.provide(Otlp.layerWith({ endpoint, serviceName, version: VERSION }), RuntimeEntropy.layer)
  })

/** For recovery tests: kills the process at a failpoint, without any cleanup. */
const crashing = (at: CrashPoint) => {
  let left = at.passes
  return {
    hit: (failpoint: Failpoint) =>
      Effect.sync(() => {
        if (failpoint === at.failpoint && left-- === 0) process.kill(process.pid, "SIGKILL")
      })
  }
}
