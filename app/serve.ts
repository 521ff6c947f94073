/** `earshot serve`: runs the service with its HTTP gateway until it is stopped. */
import { resolve } from "node:path"
import { Config, Console, Duration, Effect, Either, Option, Redacted, Schedule } from "effect"
import * as Assets from "../adapters/runtimes/assets.ts"
import * as DenoServer from "../adapters/runtimes/deno.ts"
import * as FirstKey from "../adapters/runtimes/firstKey.ts"
import * as NodeServer from "../adapters/runtimes/node.ts"
import { checkFree, GRACE_MILLIS } from "../adapters/runtimes/server.ts"
import * as Vitals from "../adapters/runtimes/vitals.ts"
import { isActive } from "../core/keys/Key.ts"
import { DEFAULT_ACCOUNT, EVERY_ACCOUNT, Keys } from "../core/keys/Keys.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import * as Timestamp from "../core/model/Timestamp.ts"
import { Platforms } from "../core/platforms/Platform.ts"
import { describeDrill } from "../core/status/Drill.ts"
import { unreadableRequest } from "../gateway/errors.ts"
import { gateway } from "../gateway/gateway.ts"
import { CONSOLE_PATH, isBuilt } from "../gateway/http/console.ts"
import { withOperatorKey } from "../gateway/operator.ts"
import { serveOperator } from "./operator.ts"
import { output } from "./output.ts"
import { demoFeedOffReason, drillOf, running, type ServiceOptions, signInOf, startDemoFeed } from "./service.ts"
import { misspelt, outputSettings, serviceSettings, storeSettings, variables } from "./settings.ts"
import { VERSION } from "./version.ts"

/** For the command line, which provides console and log. */
export const serve = Effect.gen(function* () {
  // Before the store is created.
  yield* checkFree(yield* serviceSettings)
  return yield* open
})

/** With its own console and log, without loading the command line. */
export const serveAlone = Effect.gen(function* () {
  // Reads all settings, so that all invalid ones are reported at once.
  const settings = yield* Config.all({ output: outputSettings, service: serviceSettings, store: storeSettings })
  yield* Effect.provide(serve, output(settings.output))
})

// ---- helpers ----

const open = running((options) =>
  Effect.gen(function* () {
    const { settings } = options
    for (const warning of misspelt(yield* variables)) yield* Effect.logWarning(warning)
    const keys = yield* Keys
    const { storeWait } = yield* storeSettings
    if (Option.isSome(settings.bootstrapKey)) {
      yield* retried(keys.adopt(settings.bootstrapKey.value), storeWait)
    }

    const gatewayOptions = {
      host: Option.some(settings.host),
      console: settings.console === "on" ? Option.some(yield* Assets.consoleFiles) : Option.none(),
      observeProcess: yield* Vitals.measure(VERSION),
      version: VERSION,
      signIn: signInOf(settings)
    }
    const keyed = yield* gateway(gatewayOptions)
    const handler = Option.isSome(settings.operatorKey)
      ? yield* withOperatorKey(settings.operatorKey.value, keyed)
      : keyed
    const listen = "Deno" in globalThis ? DenoServer.serve : NodeServer.serve
    const port = yield* listen({ ...settings, handler, unreadable: unreadableRequest })
    yield* serveOperator({ ...gatewayOptions, host: Option.none(), console: Option.none() })

    const url = `http://${reachable(settings.host)}:${port}`
    const where = wildcards.has(settings.host) ? `all addresses, port ${port}: ${url}` : url
    yield* Console.log(`Earshot listens on ${where} (API documentation: ${url}/docs)`)
    yield* Console.log(yield* describeStore)
    yield* Console.log(yield* describePlatforms(options))
    for (const sentence of describeDrill(drillOf(settings))) yield* Console.log(sentence)
    yield* describeSignIn(settings)
    const demoFeedOn = yield* startDemoFeed(options)
    yield* Console.log(
      demoFeedOn
        ? "Demo feed: on (made-up posts and pages); turn it off with EARSHOT_DEMO_FEED=off"
        : `Demo feed: off${demoFeedOffReason(options)}`
    )
    if (demoFeedOn) yield* Console.log("Real posts: EARSHOT_BLUESKY=on npm start")
    if (Option.exists(settings.feedUrls, (urls) => urls.length === 0)) {
      yield* Console.log("Feeds: add some with EARSHOT_FEEDS=on earshot feeds add https://example.org/feed.xml")
    }
    // After listening: a failed start must not use up the first key, which is shown only once.
    const firstKey = yield* retried(showFirstKey(url, demoFeedOn, options), storeWait)
    // The browser does not send the fragment: the key is in no request and in no log.
    const fragment = Option.match(firstKey, { onNone: () => "", onSome: (key) => `#key=${encodeURIComponent(key)}` })
    if (Option.exists(gatewayOptions.console, isBuilt)) {
      yield* Console.log(`Console: ${url}${CONSOLE_PATH}${fragment}`)
    }
    yield* Effect.never
  }).pipe(
    // Logged before the scope closes, which takes a while.
    Effect.onInterrupt(() => Effect.logInfo(STOPPING))
  )
)

const STOPPING = `Stopping: no new connections; requests in flight have ${GRACE_MILLIS / 1_000} seconds to finish, then the streams and the store are closed`

/** Postgres may also go away after its first answer. */
const retried = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>, seconds: number) =>
  Effect.retry(effect, {
    while: ({ _tag }) => _tag === "StoreUnavailable",
    schedule: Schedule.upTo(Schedule.spaced("500 millis"), Duration.seconds(seconds))
  })

/** Addresses that mean "all interfaces" and cannot be called, and one to call instead. */
const wildcards = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "localhost"]
])

const reachable = (host: string): string => wildcards.get(host) ?? (host.includes(":") ? `[${host}]` : host)

const describeStore = Effect.map(storeSettings, ({ databaseUrl, dataDir }) =>
  Option.isSome(databaseUrl) ? "Store: Postgres (DATABASE_URL)" : `Store: embedded, in ${resolve(dataDir)}`
)

const describePlatforms = ({ platforms, settings }: ServiceOptions) =>
  Effect.gen(function* () {
    const running = yield* (yield* Platforms).all
    const budgetOf = (id: PlatformId) => running.find((platform) => platform.id === id)?.capabilities.monthlyBudget ?? 0
    return platforms
      .map(({ language: { id }, remote }) => {
        if (settings.upstream === "off") return `Platform ${id}: off`
        if (Option.isNone(remote)) {
          return `Platform ${id}: in process (no credentials configured); send events to POST /local/events`
        }
        const budget = budgetOf(id) === 0 ? "" : `, with a monthly budget of ${budgetOf(id)} posts`
        return `Platform ${id}: connects to ${remote.value.baseUrl}${budget}; show its status with earshot platforms`
      })
      .join("\n")
  })

const describeSignIn = (settings: ServiceOptions["settings"]) =>
  Either.match(signInOf(settings), {
    onRight: ({ issuer, resource }) => Console.log(`Sign-in with OAuth: on at ${issuer}, for agents at ${resource}`),
    onLeft: (reason) =>
      Option.isSome(settings.publicUrl)
        ? Effect.logWarning(`Sign-in with OAuth is off: ${reason}`)
        : Console.log(`Sign-in with OAuth: off (${reason})`)
  })

/** The demo feed matches it within seconds. */
const firstRule = ({ platforms }: ServiceOptions): string =>
  JSON.stringify({
    name: "NASA",
    intent: "Follow posts and pages about NASA",
    platforms: platforms.map(({ language }) => language.id),
    overrides: Object.fromEntries(platforms.map(({ language, demo }) => [language.id, demo.filter]))
  })

/**
 * Issues the first key of a new store. Prints and returns it if standard output is a terminal, and otherwise writes it to
 * a file in the data folder. Without such a folder, or in any other store, says how to create a key if "default" has none.
 */
const showFirstKey = (url: string, demoFeedOn: boolean, options: ServiceOptions) =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const isTerminal = yield* FirstKey.isTerminal
    const { databaseUrl, dataDir } = yield* storeSettings
    const issued = isTerminal || Option.isNone(databaseUrl) ? yield* keys.issueFirst : Option.none()
    if (Option.isNone(issued)) {
      const now = yield* Timestamp.now
      const all = yield* keys.list(EVERY_ACCOUNT)
      if (!all.some((key) => key.account === DEFAULT_ACCOUNT && isActive(key, now))) {
        yield* Console.log(
          `The account "${DEFAULT_ACCOUNT}" has no active API key: create one with earshot keys create`
        )
      }
      return Option.none()
    }
    const secret = Redacted.value(issued.value.secret)
    if (!isTerminal) {
      const path = yield* FirstKey.writeKey(dataDir, secret)
      yield* Console.log(`Your first API key is in ${path}: read it, then delete the file`)
      return Option.none()
    }
    yield* Console.log(
      [
        "\nYour API key, shown only once:",
        `  ${secret}`,
        `Try it: create a rule, and list its matches ${demoFeedOn ? "a few seconds later" : "once an event has come in"}:`,
        `  curl -s ${url}/api.CreateRule -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '${firstRule(options)}'`,
        `  curl -s ${url}/matches -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"limit": 3}'\n`
      ].join("\n\n")
    )
    return Option.some(secret)
  })
