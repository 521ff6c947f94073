/** `earshot serve`: the service with all its doors, until it is told to stop. */
import { Config, Console, Effect, Option, Redacted } from "effect"
import * as Assets from "../adapters/runtimes/assets.ts"
import * as DenoServer from "../adapters/runtimes/deno.ts"
import * as NodeServer from "../adapters/runtimes/node.ts"
import { checkFree, GRACE_MILLIS } from "../adapters/runtimes/server.ts"
import * as Vitals from "../adapters/runtimes/vitals.ts"
import { Keys } from "../core/keys/Keys.ts"
import { unreadableRequest } from "../gateway/errors.ts"
import { gateway } from "../gateway/gateway.ts"
import { output } from "./output.ts"
import { running, type ServiceOptions, startDemoFeed } from "./service.ts"
import { misspelt, outputSettings, serviceSettings, storeSettings, variables } from "./settings.ts"
import { VERSION } from "./version.ts"

/** As a command among others, which sets up what is printed and logged. */
export const serve = Effect.gen(function* () {
  // The port is tried before the store is prepared.
  yield* checkFree(yield* serviceSettings)
  return yield* open
})

/** As the whole program. */
export const serveAlone = Effect.gen(function* () {
  // Read together, so that all settings that are wrong are reported at once.
  const settings = yield* Config.all({ output: outputSettings, service: serviceSettings, store: storeSettings })
  yield* Effect.provide(serve, output(settings.output))
})

// ---- helpers ----

const open = running((options) =>
  Effect.gen(function* () {
    const { settings } = options
    for (const warning of misspelt(yield* variables)) yield* Effect.logWarning(warning)
    const keys = yield* Keys
    if (Option.isSome(settings.bootstrapKey)) yield* keys.adopt(settings.bootstrapKey.value)

    const handler = yield* gateway({
      docsScript: Assets.docsScript,
      observeProcess: yield* Vitals.watch(VERSION),
      version: VERSION
    })
    const listen = "Deno" in globalThis ? DenoServer.serve : NodeServer.serve
    const port = yield* listen({ ...settings, handler, unreadable: unreadableRequest })

    const url = `http://${settings.host}:${port}`
    yield* Console.log(`Earshot listens on ${url} (the API as a page: ${url}/docs)`)
    yield* Console.log(yield* describeStore)
    yield* Console.log(describePlatforms(options))
    const demoFeedOn = yield* startDemoFeed(options)
    yield* Console.log(
      demoFeedOn
        ? "Demo feed: on, with made-up posts and pages; turn it off with EARSHOT_DEMO_FEED=off"
        : "Demo feed: off"
    )
    // Not before it listens: a key that is never shown would be the first one all the same.
    yield* showFirstKey(url, demoFeedOn, options)
    yield* Effect.never
  }).pipe(
    // Before the scope closes, which is what takes its time.
    Effect.onInterrupt(() => Effect.logInfo(STOPPING))
  )
)

const STOPPING = `Stopping: no new connections; requests in flight have ${GRACE_MILLIS / 1_000} seconds to finish, then the streams and the store are closed`

const describeStore = Effect.map(storeSettings, ({ databaseUrl, dataDir }) =>
  Option.isSome(databaseUrl) ? "Store: Postgres, by DATABASE_URL" : `Store: embedded, in ${dataDir}`
)

const describePlatforms = ({ platforms }: ServiceOptions): string =>
  platforms
    .map(({ language: { id }, remote }) =>
      Option.isSome(remote)
        ? `Platform ${id}: the real service; for its status: earshot platforms`
        : `Platform ${id}: in process (no credentials configured); send events to POST /local/events`
    )
    .join("\n")

/** The demo feed matches it within seconds. */
const firstRule = ({ platforms }: ServiceOptions): string =>
  JSON.stringify({
    name: "NASA",
    intent: "Hear what is said of NASA",
    platforms: platforms.map(({ language }) => language.id),
    overrides: Object.fromEntries(platforms.map(({ language, demo }) => [language.id, demo.filter]))
  })

/** The first key of a new store is shown once; nothing is shown when there are keys already. */
const showFirstKey = (url: string, demoFeedOn: boolean, options: ServiceOptions) =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const issued = yield* keys.issueFirst
    if (Option.isNone(issued)) return
    const secret = Redacted.value(issued.value.secret)
    yield* Console.log(
      [
        "\nYour API key. It is shown this once:",
        `  ${secret}`,
        `Try it: create a rule, and ${demoFeedOn ? "a little later ask what it matched" : "ask what it matched once something came in"}:`,
        `  curl -s ${url}/api.CreateRule -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '${firstRule(options)}'`,
        `  curl -s ${url}/matches -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"limit": 3}'\n`
      ].join("\n\n")
    )
  })
