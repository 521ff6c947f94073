#!/usr/bin/env node
/** The composition root: reads the settings, picks the layers, opens the doors. Nothing else does any of the three. */
import process from "node:process"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import {
  Cause,
  Config,
  ConfigError,
  Console,
  Context,
  Data,
  Effect,
  Either,
  Exit,
  Fiber,
  identity,
  Layer,
  Logger,
  LogLevel,
  Option,
  Redacted,
  Schedule,
  type Scope
} from "effect"
import * as Firehose from "./adapters/firehose/Firehose.ts"
import { Fetch } from "./adapters/http/Fetch.ts"
import * as DemoFeed from "./adapters/local/demo/DemoFeed.ts"
import * as Local from "./adapters/local/Local.ts"
import * as Remote from "./adapters/remote/Remote.ts"
import * as Assets from "./adapters/runtimes/assets.ts"
import * as PlainConsole from "./adapters/runtimes/console.ts"
import * as DenoServer from "./adapters/runtimes/deno.ts"
import * as RuntimeEntropy from "./adapters/runtimes/entropy.ts"
import * as FileInput from "./adapters/runtimes/input.ts"
import * as Log from "./adapters/runtimes/log.ts"
import * as NodeServer from "./adapters/runtimes/node.ts"
import { GRACE_MILLIS } from "./adapters/runtimes/server.ts"
import * as CliTerminal from "./adapters/runtimes/terminal.ts"
import * as Vitals from "./adapters/runtimes/vitals.ts"
import * as Simulator from "./adapters/simulator/Simulator.ts"
import * as SimulatorServer from "./adapters/simulator/server.ts"
import { settingLines } from "./adapters/simulator/settings.ts"
import { FolderInUse } from "./adapters/sql/FolderLock.ts"
import * as Pglite from "./adapters/sql/pglite.ts"
import * as Postgres from "./adapters/sql/postgres.ts"
import { StoreCannotOpen } from "./adapters/sql/StoreCannotOpen.ts"
import * as SqlStores from "./adapters/sql/stores.ts"
import * as Otlp from "./adapters/telemetry/otlp.ts"
import { Addresses } from "./adapters/webhooks/addresses.ts"
import * as HttpSender from "./adapters/webhooks/HttpSender.ts"
import * as X from "./adapters/x/X.ts"
import { earshot } from "./cli/earshot.ts"
import { AlreadyTold, errorBodyOf, exitCodeOf, WrongUsage } from "./cli/failures.ts"
import { accountNamed, type Place } from "./cli/remote.ts"
import { misspelt } from "./cli/settings.ts"
import type { SimulateOptions } from "./cli/simulate.ts"
import { Backtests } from "./core/Backtests.ts"
import { Entropy } from "./core/Entropy.ts"
import { Ids } from "./core/Ids.ts"
import * as Ingest from "./core/Ingest.ts"
import { DEFAULT_ACCOUNT, Keys } from "./core/Keys.ts"
import { LiveMatches } from "./core/LiveMatches.ts"
import { Matches } from "./core/Matches.ts"
import { Platforms } from "./core/Platform.ts"
import { PLATFORM_IDS, type PlatformId } from "./core/PlatformId.ts"
import { RecentEvents } from "./core/RecentEvents.ts"
import { Registrations } from "./core/Registrations.ts"
import * as Retention from "./core/Retention.ts"
import { Rules } from "./core/Rules.ts"
import { STEPS, type Step, Steps } from "./core/Steps.ts"
import * as WebhookDelivery from "./core/WebhookDelivery.ts"
import { Webhooks } from "./core/Webhooks.ts"
import { unreadableRequest } from "./gateway/errors.ts"
import { gateway } from "./gateway/gateway.ts"
import { type Call, callAs, callRemote } from "./gateway/mcp/calls.ts"
import { serveOnStdio } from "./gateway/mcp/stdio.ts"
import { newSecret } from "./gateway/mcp/untrusted.ts"

const VERSION = "0.1.0"

const MOST_RECENT_EVENTS = 1_000_000

const storeSettings = Config.all({
  databaseUrl: Config.option(Config.redacted(Config.nonEmptyString("DATABASE_URL"))),
  dataDir: Config.withDefault(Config.nonEmptyString("EARSHOT_DATA_DIR"), "./data")
})

const serveSettings = Config.all({
  // Not `Config.port`, which refuses 0: any free port.
  port: Config.withDefault(wholeNumber("PORT", 0, 65_535), 8787),
  host: Config.withDefault(Config.nonEmptyString("HOST"), "127.0.0.1"),
  bootstrapKey: secretSetting("EARSHOT_BOOTSTRAP_KEY"),
  xToken: secretSetting("X_BEARER_TOKEN"),
  xBaseUrl: Config.withDefault(address("X_BASE_URL"), "https://api.x.com"),
  firehoseToken: secretSetting("FIREHOSE_TAP_TOKEN"),
  firehoseBaseUrl: Config.withDefault(address("FIREHOSE_BASE_URL"), "https://api.firehose.com"),
  crashAt: Config.option(crashPoint("EARSHOT_CRASH_AT")),
  xRulesPerAccount: Config.withDefault(wholeNumber("X_RULES_PER_ACCOUNT", 0, 1_000_000), 25),
  keepDays: Config.withDefault(wholeNumber("EARSHOT_KEEP_DAYS", 0, 36_500), 30),
  keepMatches: Config.withDefault(wholeNumber("EARSHOT_KEEP_MATCHES", 0, 999_999_999), 0),
  recentEvents: Config.withDefault(wholeNumber("EARSHOT_RECENT_EVENTS", 0, MOST_RECENT_EVENTS), 10_000),
  webhookAddresses: Config.withDefault(addressRanges("EARSHOT_WEBHOOK_ALLOW"), new Addresses()),
  demoFeed: Config.withDefault(Config.literal("on", "off")("EARSHOT_DEMO_FEED"), "on" as const),
  otlpEndpoint: Config.option(address("OTEL_EXPORTER_OTLP_ENDPOINT")),
  serviceName: Config.withDefault(Config.nonEmptyString("OTEL_SERVICE_NAME"), "earshot")
})

function secretSetting(name: string): Config.Config<Option.Option<Redacted.Redacted>> {
  // Not `Config.redacted`, which hides what is wrong with the value along with the value.
  const valid = Config.validate(Config.nonEmptyString(name), {
    message: "Expected 16 or more characters, none of them a space",
    validation: (text) => /^[!-~]{16,512}$/.test(text)
  })
  return Config.option(Config.map(valid, Redacted.make))
}

interface CrashPoint {
  readonly step: Step
  /** How often the step is passed before. */
  readonly passes: number
}

/** A step, or one that is passed a few times first: `ingest.stored:3`. */
function crashPoint(name: string): Config.Config<CrashPoint> {
  return Config.mapOrFail(Config.string(name), (text) => {
    const [, wanted, passes = "0"] = /^([^:]*)(?::(\d{1,6}))?$/.exec(text) ?? []
    const step = STEPS.find((known) => known === wanted)
    return step === undefined
      ? Either.left(ConfigError.InvalidData([], `Expected one of ${STEPS.join(", ")}`))
      : Either.right({ step, passes: Number(passes) })
  })
}

function address(name: string): Config.Config<string> {
  return Config.validate(Config.nonEmptyString(name), {
    message: "Expected an address like https://api.example.com",
    validation: (text) => /^https?:\/\/[^\s/?#@]+[^\s?#@]*$/.test(text) && URL.canParse(text)
  })
}

function addressRanges(name: string): Config.Config<Addresses> {
  return Config.mapOrFail(Config.nonEmptyString(name), (text) =>
    Either.mapLeft(Addresses.parse(text), (problem) => ConfigError.InvalidData([], problem))
  )
}

function wholeNumber(name: string, min: number, max: number): Config.Config<number> {
  // Not `Config.integer`, which takes an empty value, as a settings file may hold it, for 0.
  const digits = Config.validate(Config.nonEmptyString(name), {
    message: `Expected a whole number from ${min} to ${max}`,
    validation: (text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max
  })
  return Config.map(digits, Number)
}

const remoteSettings = Config.all({
  url: Config.option(Config.nonEmptyString("EARSHOT_URL")),
  key: Config.option(Config.redacted(Config.nonEmptyString("EARSHOT_API_KEY")))
})

const LOG_LEVELS = {
  trace: LogLevel.Trace,
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  error: LogLevel.Error,
  fatal: LogLevel.Fatal,
  none: LogLevel.None
}

const logSettings = Config.all({
  level: Config.map(
    Config.withDefault(
      Config.literal("trace", "debug", "info", "warning", "error", "fatal", "none")("LOG_LEVEL"),
      "info" as const
    ),
    (name) => LOG_LEVELS[name]
  ),
  format: Config.withDefault(
    Config.literal("json", "pretty")("LOG_FORMAT"),
    process.stderr.isTTY ? ("pretty" as const) : ("json" as const)
  )
})

/** As https://no-color.org has it. */
const colourSettings = Config.map(Config.withDefault(Config.string("NO_COLOR"), ""), (value) => value === "")

const runtime = Layer.provideMerge(Ids.layer, RuntimeEntropy.layer)

const stores = Layer.unwrapEffect(
  Effect.map(storeSettings, ({ databaseUrl, dataDir }) =>
    Layer.provide(
      SqlStores.layer,
      Option.match(databaseUrl, {
        onNone: () => Pglite.layerWith({ dataDir }),
        onSome: (url) => Postgres.layerWith({ url })
      })
    )
  )
)

type Settings = Config.Config.Success<typeof serveSettings>

/** Platforms without a credential. */
const localPlatforms = (settings: Settings): ReadonlyArray<PlatformId> => {
  const tokens = { x: settings.xToken, firehose: settings.firehoseToken }
  return PLATFORM_IDS.filter((id) => Option.isNone(tokens[id]))
}

const service = (settings: Settings, isAlone: boolean) => {
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

/** Spans are not even made where nobody collects them. */
const traces = ({ otlpEndpoint, serviceName }: Settings) =>
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

const storePlace = Effect.map(storeSettings, ({ databaseUrl, dataDir }) =>
  Option.isSome(databaseUrl) ? "Store: Postgres, by DATABASE_URL" : `Store: embedded, in ${dataDir}`
)

/** The demo feed meets it within seconds. */
const FIRST_RULE =
  '{"name": "NASA", "intent": "Hear what is said of NASA", "platforms": ["x", "firehose"], "overrides": {"x": "nasa -is:retweet", "firehose": "nasa"}}'

const platformsInWords = (local: ReadonlyArray<PlatformId>): string => {
  const real = PLATFORM_IDS.filter((id) => !local.includes(id))
  return [
    ...(real.length === 0
      ? []
      : [`Platforms: ${real.join(" and ")} as the real service; see how with: earshot platforms`]),
    ...(local.length === 0
      ? []
      : [
          `Platforms: ${local.join(" and ")} in process, for want of a credential; hand in events with POST /local/events`
        ])
  ].join("\n")
}

/** The first key of a new store is shown once; nothing is shown when there are keys already. */
const firstKey = (url: string, isFed: boolean) =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const issued = yield* keys.issueFirst
    if (Option.isNone(issued)) return
    const secret = Redacted.value(issued.value.secret)
    yield* Console.log(
      [
        "\nYour API key. It is shown this once:",
        `  ${secret}`,
        `Try it: create a rule, and ${isFed ? "a little later ask what it matched" : "ask what it matched once something came in"}:`,
        `  curl -s ${url}/api.CreateRule -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '${FIRST_RULE}'`,
        `  curl -s ${url}/matches -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"limit": 3}'\n`
      ].join("\n\n")
    )
  })

/** Those that are set. On Deno they cannot be listed unless all of them may be read. */
const variables = Effect.orElseSucceed(
  Effect.try(() => Object.keys(process.env)),
  () => []
)

const STOPPING = `Stopping: no new connections; requests in flight have ${GRACE_MILLIS / 1_000} seconds to finish, then the streams and the store are closed`

/** The service without a door: it reconciles, ingests, delivers and forgets for as long as the door is open. */
const running = <A, E>(door: (settings: Settings) => Effect.Effect<A, E, Running>) =>
  Effect.gen(function* () {
    const settings = yield* serveSettings
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

/** What a door finds there. */
type Running = Layer.Layer.Success<ReturnType<typeof service>> | Scope.Scope

/** Whether it runs: never beside a real platform, for what is made up must not be taken for what happened. */
const demoFeed = (settings: Settings) =>
  settings.demoFeed === "on" && localPlatforms(settings).length === PLATFORM_IDS.length
    ? Effect.as(Layer.build(DemoFeed.layer), true)
    : Effect.succeed(false)

const serve = running((settings) =>
  Effect.gen(function* () {
    for (const warning of misspelt(yield* variables)) yield* Effect.logWarning(warning)
    const keys = yield* Keys
    if (Option.isSome(settings.bootstrapKey)) yield* keys.adopt(settings.bootstrapKey.value)

    const handler = yield* gateway({
      docsScript: Assets.scalar,
      observeProcess: yield* Vitals.watch(VERSION),
      version: VERSION
    })
    const open = "Deno" in globalThis ? DenoServer.serve : NodeServer.serve
    const port = yield* open({ ...settings, handler, unreadable: unreadableRequest })

    const url = `http://${settings.host}:${port}`
    yield* Console.log(`Earshot listens on ${url} (the API as a page: ${url}/docs)`)
    yield* Console.log(yield* storePlace)
    yield* Console.log(platformsInWords(localPlatforms(settings)))
    const isFed = yield* demoFeed(settings)
    yield* Console.log(
      isFed ? "Demo feed: on, with made-up posts and pages; turn it off with EARSHOT_DEMO_FEED=off" : "Demo feed: off"
    )
    // Not before it listens: a key that is never shown would be the first one all the same.
    yield* firstKey(url, isFed)
    yield* Effect.never
  }).pipe(
    // Before the scope closes, which is what takes its time.
    Effect.onInterrupt(() => Effect.logInfo(STOPPING))
  )
)

const simulate = ({ port, seed, rate, tier }: SimulateOptions) =>
  Effect.gen(function* () {
    const feed = { posts_per_second: rate, pages_per_second: rate }
    const simulator = yield* Simulator.make({ seed, settings: { x: { tier }, feed } })
    const host = "127.0.0.1"
    const url = `http://${host}:${yield* SimulatorServer.serve(simulator, { host, port })}`
    const { x, firehose } = simulator.control.settings
    yield* Console.log(
      [
        `The simulator plays X and Firehose on ${url} (what goes on, settings and faults: ${url}/control)`,
        "Point a client at it:",
        `  export X_BASE_URL=${url} X_BEARER_TOKEN=${x.bearer_token}`,
        `  export FIREHOSE_BASE_URL=${url} FIREHOSE_TAP_TOKEN=${firehose.tap_token}`,
        `The key for Firehose's taps: ${firehose.management_key}`
      ].join("\n")
    )
    yield* Effect.never
  }).pipe(Effect.scoped)

/** The server that the settings name; the address here goes before theirs. */
const remote = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    const settings = yield* remoteSettings
    const named = Option.orElse(url, () => settings.url)
    const server = yield* Remote.connect({
      url: Option.getOrElse(named, () => "http://127.0.0.1:8787"),
      key: settings.key
    })
    return { ...server, isLive: true }
  })

/** An Earshot in this process, on the store that the settings name, to which every caller is the account. */
const local = (account: string) =>
  Effect.gen(function* () {
    const settings = yield* serveSettings
    const { databaseUrl, dataDir } = yield* storeSettings
    const isAlone = Option.isNone(databaseUrl)
    if (isAlone) yield* Pglite.checkExists(dataDir)
    // As many events as there can be: a command must not delete what the server keeps by other settings.
    const layer = service({ ...settings, recentEvents: MOST_RECENT_EVENTS }, isAlone)
    const context = yield* Effect.mapError(Layer.build(layer), orServerOnStore(GO_THROUGH_SERVER))
    const keys = Context.get(context, Keys)
    const accountId = yield* Effect.provideService(accountNamed(account), Keys, keys)
    const send = yield* gateway({ docsScript: Assets.scalar, observeProcess: Effect.void, version: VERSION }).pipe(
      Effect.provide(Context.add(context, Keys, { ...keys, authenticate: () => Effect.succeed(accountId) }))
    )
    const server = yield* Remote.connect({ url: "http://localhost", key: Option.some(Redacted.make("anything")) }).pipe(
      Effect.provideService(Fetch, { send })
    )
    return { ...server, isLive: !isAlone }
  })

/** A server has the store. A folder of its own, as for a second server, is no help to who wants something of this one. */
class ServerOnStore extends Data.TaggedError("ServerOnStore")<{ readonly place: string; readonly remedy: string }> {
  override get message() {
    return `A server, or another Earshot, is running on the store in "${this.place}": ${this.remedy}`
  }
}

const GO_THROUGH_SERVER =
  "to go through the server, set EARSHOT_API_KEY to one of its keys (and EARSHOT_URL, if it is not at http://127.0.0.1:8787)"

/** For what no server offers. */
const STOP_SERVER =
  "stop it first, for the embedded store belongs to one process at a time; on Postgres (DATABASE_URL) this command works beside a server"

const orServerOnStore =
  (remedy: string) =>
  <E>(error: E): E | ServerOnStore =>
    error instanceof StoreCannotOpen && error.cause instanceof FolderInUse
      ? new ServerOnStore({ place: error.place, remedy })
      : error

/** Where a command goes that can go to either. */
const at = ({ url, account }: Place) =>
  Effect.gen(function* () {
    const settings = yield* remoteSettings
    if (Option.isNone(url) && Option.isNone(settings.url) && Option.isNone(settings.key)) {
      return yield* local(Option.getOrElse(account, () => DEFAULT_ACCOUNT))
    }
    if (Option.isSome(account)) {
      return yield* new WrongUsage({
        message: "--account is for the store of this machine: a server knows the account by the key"
      })
    }
    return yield* remote(url)
  })

const mcp = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    const settings = yield* remoteSettings
    if (Option.isSome(url) || Option.isSome(settings.url) || Option.isSome(settings.key)) {
      const { request } = yield* remote(url)
      return yield* Effect.provide(toolsOnStdio(callRemote(request)), RuntimeEntropy.layer)
    }
    yield* running((serveSettings) =>
      Effect.gen(function* () {
        yield* demoFeed(serveSettings)
        const keys = yield* Keys
        yield* toolsOnStdio(callAs(yield* keys.account(DEFAULT_ACCOUNT)))
      })
    ).pipe(Effect.mapError(orServerOnStore(GO_THROUGH_SERVER)))
  })

/** The store itself, for commands that work on it while no server does. */
const storesAlone = Layer.mapError(stores, orServerOnStore(STOP_SERVER))

const toolsOnStdio = <R>(call: Call<R>) =>
  Effect.flatMap(Entropy, (entropy) => serveOnStdio({ version: VERSION, call, newSecret: newSecret(entropy) }))

const program = Effect.gen(function* () {
  const { level, format } = yield* logSettings
  const hasColours = yield* colourSettings
  // Whatever a command fails with is reported alike.
  const run = earshot<unknown>(
    {
      serve,
      keys: {
        withKeys: (effect) =>
          Effect.provide(effect, Keys.layer.pipe(Layer.provide(storesAlone), Layer.provide(runtime)))
      },
      rules: { at, open: FileInput.open },
      matches: { at, columns: CliTerminal.columns },
      webhooks: { at },
      check: { open: FileInput.open },
      mcp: { run: mcp },
      platforms: { remote },
      replay: {
        remote,
        open: FileInput.open,
        screen: CliTerminal.screen
      },
      setAside: { withStreams: (effect) => Effect.provide(effect, storesAlone) },
      simulate: { run: simulate, settings: settingLines() }
    },
    { args: process.argv.slice(2), version: VERSION, width: Math.min((process.stdout.columns ?? 101) - 1, 100) }
  )
  yield* run.pipe(
    Effect.provide(Layer.mergeAll(FileSystem.layerNoop({}), Path.layer, CliTerminal.layer)),
    Effect.provide(
      Layer.mergeAll(
        PlainConsole.layerWith({ hasColours }),
        Log.layerWith(format),
        Logger.minimumLogLevel(level),
        // A failed request is answered and logged by the gateway; the runtime need not tell of it again.
        Layer.setUnhandledErrorLogLevel(Option.none())
      )
    )
  )
})

/** What a command failed with, or how a defect looks to one who cannot mend it. */
const failureOf = (cause: Cause.Cause<unknown>): unknown =>
  Option.getOrElse(Cause.failureOption(cause), () => {
    const [defect] = Cause.prettyErrors(cause)
    return new Error(`Unexpected failure: ${defect?.message ?? "unknown"}; LOG_LEVEL=debug tells all of it`)
  })

const inWords = (failure: unknown): unknown =>
  ConfigError.isConfigError(failure) && failure._op === "InvalidData"
    ? new Error(`Setting ${failure.path.join("_")} is not valid: ${failure.message}`)
    : failure

/** One line: plain, or the fields of an error for a program. */
const report = (cause: Cause.Cause<unknown>): string => {
  const body = errorBodyOf(inWords(failureOf(cause)))
  return process.argv.includes("--json") ? JSON.stringify(body) : `earshot: ${body.message}`
}

const fiber = Effect.runFork(
  Effect.tapErrorCause(program, (cause) =>
    Cause.isFailure(cause) || Cause.isInterruptedOnly(cause)
      ? Effect.void
      : Effect.logDebug("Unexpected failure", cause)
  )
)

let stopping = false
const stop = () => {
  // A second signal does not wait for anything.
  if (stopping) process.exit(130)
  stopping = true
  Effect.runFork(Fiber.interrupt(fiber))
}
process.on("SIGINT", stop)
process.on("SIGTERM", stop)
// Whoever read what is printed has had enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0)
})

/** Goes on until it is told to stop, and has then done what it is for; any other command has not. */
const hasNoEnd =
  ["serve", "simulate", "mcp"].includes(process.argv[2] ?? "") ||
  process.argv.slice(2).some((arg) => /^(--follow|-f)$/.test(arg))

fiber.addObserver((exit) => {
  if (Exit.isSuccess(exit)) process.exit(0)
  if (Cause.isInterruptedOnly(exit.cause)) process.exit(hasNoEnd ? 0 : 130)
  const failure = failureOf(exit.cause)
  if (!(failure instanceof AlreadyTold)) process.stderr.write(`${report(exit.cause)}\n`)
  process.exit(exitCodeOf(failure))
})
