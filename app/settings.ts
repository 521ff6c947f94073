/** The settings, all from the environment. Nothing outside of this file reads it. */
import process from "node:process"
import { Config, ConfigError, Effect, Either, LogLevel, type Option, Redacted } from "effect"
import { Addresses } from "../adapters/webhooks/addresses.ts"
import { isMistyped } from "../core/keys/Key.ts"
import { STEPS, type Step } from "../core/model/Steps.ts"

export const MOST_RECENT_EVENTS = 1_000_000

export const storeSettings = Config.all({
  databaseUrl: Config.option(Config.map(databaseUrl("DATABASE_URL"), Redacted.make)),
  dataDir: Config.withDefault(Config.nonEmptyString("EARSHOT_DATA_DIR"), "./data")
})

/** What the service does and with whom; where it stores is apart. */
export const serviceSettings = Config.all({
  // Not `Config.port`, which refuses 0: any free port.
  port: Config.withDefault(wholeNumber("PORT", 0, 65_535), 8787),
  host: Config.withDefault(Config.nonEmptyString("HOST"), "127.0.0.1"),
  bootstrapKey: secret("EARSHOT_BOOTSTRAP_KEY", mistypedKey),
  xToken: secret("X_BEARER_TOKEN"),
  xBaseUrl: Config.withDefault(address("X_BASE_URL"), "https://api.x.com"),
  firehoseToken: secret("FIREHOSE_TAP_TOKEN"),
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

export type ServiceSettings = Config.Config.Success<typeof serviceSettings>

/** The server that a command talks to. */
export const remoteSettings = Config.all({
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

export const outputSettings = Config.all({
  logLevel: Config.map(
    Config.withDefault(
      Config.literal("trace", "debug", "info", "warning", "error", "fatal", "none")("LOG_LEVEL"),
      "info" as const
    ),
    (name) => LOG_LEVELS[name]
  ),
  logFormat: Config.withDefault(
    Config.literal("json", "pretty")("LOG_FORMAT"),
    process.stderr.isTTY ? ("pretty" as const) : ("json" as const)
  ),
  // As https://no-color.org has it.
  hasColours: Config.map(Config.withDefault(Config.string("NO_COLOR"), ""), (value) => value === "")
})

/** Names of the variables that are set. On Deno they cannot be listed unless all of them may be read. */
export const variables: Effect.Effect<ReadonlyArray<string>> = Effect.orElseSucceed(
  Effect.try(() => Object.keys(process.env)),
  () => []
)

/** One sentence for each setting that is wrong. */
export const describeConfigError = (error: ConfigError.ConfigError): ReadonlyArray<string> => {
  switch (error._op) {
    case "And":
    case "Or":
      return [...describeConfigError(error.left), ...describeConfigError(error.right)]
    default:
      return [`Setting ${error.path.join("_")} is not valid: ${error.message}`]
  }
}

// ---- helpers ----

/** `problem` finds what else is wrong with a text. */
function secret(
  name: string,
  problem: (text: string) => string | undefined = () => undefined
): Config.Config<Option.Option<Redacted.Redacted>> {
  // Not `Config.redacted`, which hides what is wrong with the value along with the value.
  const valid = Config.mapOrFail(Config.nonEmptyString(name), (text) => {
    const wrong = /^[!-~]{16,512}$/.test(text) ? problem(text) : "Expected 16 or more characters, none of them a space"
    return wrong === undefined ? Either.right(Redacted.make(text)) : Either.left(ConfigError.InvalidData([], wrong))
  })
  return Config.option(valid)
}

function mistypedKey(text: string): string | undefined {
  return isMistyped(text)
    ? "It looks like a key of Earshot, but its last characters do not fit the others. Copy the key again, or choose a text that does not begin with es_"
    : undefined
}

export interface CrashPoint {
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

function databaseUrl(name: string): Config.Config<string> {
  return Config.validate(Config.nonEmptyString(name), {
    message: "Expected a URL like postgres://user:password@host:port/database, special characters as %xx",
    validation: (text) => /^postgres(ql)?:\/\//.test(text)
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
