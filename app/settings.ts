/**
 * The settings, all from the environment. Each is one entry of a table: the help, the warning about misspelt names,
 * docs/settings.md and the --allow-env of deno.json follow from it (`npm run settings` writes the two files).
 */
import { readFileSync } from "node:fs"
import process from "node:process"
import { Config, ConfigError, Effect, Either, LogLevel, Option, Record as Rec, Redacted } from "effect"
import { Addresses } from "../adapters/http/addresses.ts"
import { addressesIn } from "../core/feeds/opml.ts"
import { FAILPOINTS, type Failpoint } from "../core/model/Failpoints.ts"
import { isMistyped } from "../core/model/secretText.ts"
import { MAX_URL_LENGTH } from "../core/model/webUrl.ts"
import { describeRange, parseWholeNumber } from "../core/model/wholeNumber.ts"
import { nearest } from "../core/text/nearest.ts"
import { shownValue } from "../core/text/shownValue.ts"

export const MAX_RECENT_EVENTS = 1_000_000

/** For client commands when only a key is set. */
export const DEFAULT_URL = "http://127.0.0.1:8787"

const FEEDS = { who: "feeds", setting: "EARSHOT_FEED_ALLOW" }

const logLevels = {
  trace: LogLevel.Trace,
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  error: LogLevel.Error,
  fatal: LogLevel.Fatal,
  none: LogLevel.None
}

/** By group, and in the order in which help and documentation show them. */
const table = {
  service: {
    port: setting({
      name: "PORT",
      default: "8787",
      description: "Port to listen on; 0 picks a free port",
      parse: wholeNumber(0, 65_535)
    }),
    host: setting({
      name: "HOST",
      default: "127.0.0.1",
      description: "Address to listen on; 0.0.0.0 listens on every IPv4 address of the machine",
      parse: anyText
    }),
    publicUrl: optional({
      name: "EARSHOT_PUBLIC_URL",
      description:
        "Address under which clients reach the server, such as https://earshot.example.com: with it, agents can sign in with OAuth. Needs https, except on localhost",
      parse: origin
    }),
    bootstrapKey: optional({
      name: "EARSHOT_BOOTSTRAP_KEY",
      description: "API key that the server accepts from the start, for automated setups: 16 to 512 characters",
      parse: bootstrapKey
    }),
    operatorKey: optional({
      name: "EARSHOT_OPERATOR_KEY",
      description:
        "Key of the operator, 16 to 512 characters: with it, POST /local/events publishes shared events, for the rules of all accounts, POST /matches/redact removes posts, and GET /platforms/status shows the shares of all accounts in a budget and names the owner of each stream",
      parse: bootstrapKey
    }),
    console: setting({
      name: "EARSHOT_CONSOLE",
      default: "on",
      description: "Web console at /console: on or off",
      parse: oneOf({ on: "on", off: "off" } as const)
    }),
    demoFeed: setting({
      name: "EARSHOT_DEMO_FEED",
      default: "on",
      description:
        "Demo feed of made-up posts and pages to try rules on: on or off; it never runs next to a real platform",
      parse: oneOf({ on: "on", off: "off" } as const)
    }),
    keepDays: setting({
      name: "EARSHOT_KEEP_DAYS",
      default: "30",
      description: "Number of days to keep matches; 0 keeps them forever",
      parse: wholeNumber(0, 36_500)
    }),
    keepMatches: setting({
      name: "EARSHOT_KEEP_MATCHES",
      default: "0",
      description: "Maximum number of matches to keep in total, oldest deleted first; 0 means no limit",
      parse: wholeNumber(0, 999_999_999)
    }),
    limitRequests: limit({
      name: "EARSHOT_LIMIT_REQUESTS",
      default: "600",
      description: "Maximum number of requests of an account per minute"
    }),
    limitChecks: limit({
      name: "EARSHOT_LIMIT_CHECKS",
      default: "20",
      description: "Maximum compute time for checks and backtests of an account per minute, in seconds"
    }),
    limitMatching: limit({
      name: "EARSHOT_LIMIT_MATCHING",
      default: "20",
      description:
        "Maximum compute time for matching the rules of an account against shared events per minute, in seconds; over the limit, the most expensive rules are paused, unless no other account has rules"
    }),
    limitEvents: limit({
      name: "EARSHOT_LIMIT_EVENTS",
      default: "600000",
      description: "Maximum number of events that an account may send per minute"
    }),
    limitStreams: limit({
      name: "EARSHOT_LIMIT_STREAMS",
      default: "100",
      description: "Maximum number of live streams and waits that an account may have open on this server"
    }),
    limitWebhooks: limit({
      name: "EARSHOT_LIMIT_WEBHOOKS",
      default: "20",
      description: "Maximum number of webhooks of an account"
    }),
    limitSubscriptions: limit({
      name: "EARSHOT_LIMIT_SUBSCRIPTIONS",
      default: "100",
      description: "Maximum number of subscriptions of MCP clients to events of an account"
    }),
    limitChallenges: limit({
      name: "EARSHOT_LIMIT_CHALLENGES",
      default: "10",
      description: "Maximum number of callback URLs that subscriptions of an account may challenge per minute"
    }),
    limitFeeds: limit({
      name: "EARSHOT_LIMIT_FEEDS",
      default: "100",
      description: "Maximum number of feeds that an account may add"
    }),
    limitMatches: limit({
      name: "EARSHOT_LIMIT_MATCHES",
      default: "1000000",
      description: "Maximum number of stored matches of an account, oldest deleted first"
    }),
    limitBytes: optional({
      name: "EARSHOT_LIMIT_BYTES",
      default: "10737418240, and at most a quarter of the disk of the embedded store",
      description:
        "Maximum size of the stored matches of an account in bytes, payloads only, oldest deleted first; 0 means no limit",
      parse: wholeNumber(0, Number.MAX_SAFE_INTEGER)
    }),
    recentEvents: setting({
      name: "EARSHOT_RECENT_EVENTS",
      default: "10000",
      description:
        "Number of recent events to keep per platform for backtests, and per account of those that it sent, up to 1,000,000 and 64 Mi characters; 0 keeps none and deletes the stored ones",
      parse: wholeNumber(0, MAX_RECENT_EVENTS)
    }),
    webhookAddresses: setting({
      name: "EARSHOT_WEBHOOK_ALLOW",
      default: "none",
      unset: new Addresses(),
      description:
        "Address ranges that are not public but that webhooks may be sent to, such as 10.0.0.0/8,fd00::/8; every account can then reach them",
      parse: Addresses.parse
    }),
    xToken: optional({
      name: "X_BEARER_TOKEN",
      description: "App-only bearer token for X; without it the platform x runs in process",
      parse: secret
    }),
    xBaseUrl: setting({
      name: "X_BASE_URL",
      default: "https://api.x.com",
      description: "Base URL of the X API; change it for a simulator or a proxy",
      parse: address
    }),
    xRulesPerAccount: setting({
      name: "X_RULES_PER_ACCOUNT",
      default: "25",
      description: "Maximum number of rules on x per account; 0 means no limit",
      parse: wholeNumber(0, 1_000_000)
    }),
    xPricePerPost: setting({
      name: "X_PRICE_PER_POST",
      default: "0.005",
      description: "Price of a post that X delivers, in US dollars, to estimate what a filter costs",
      parse: price
    }),
    xMonthlyPostBudget: setting({
      name: "X_MONTHLY_POST_BUDGET",
      default: "0",
      description:
        "Maximum number of posts to receive from X per calendar month in UTC: the rules with the most posts are paused before it is used up; 0 means no limit",
      parse: wholeNumber(0, 1_000_000_000_000)
    }),
    xComplianceInterval: setting({
      name: "X_COMPLIANCE_INTERVAL",
      default: "0",
      description:
        "Hours between two lookups of each stored X post, to redact posts that were deleted, withheld or edited; X bills every post that is looked up; 0 turns it off",
      parse: wholeNumber(0, 8_760)
    }),
    firehoseToken: optional({
      name: "FIREHOSE_TAP_TOKEN",
      description: "Token of a Firehose tap (fh_…); without it the platform firehose runs in process",
      parse: tapToken
    }),
    firehoseBaseUrl: setting({
      name: "FIREHOSE_BASE_URL",
      default: "https://api.firehose.com",
      description: "Base URL of the Firehose API; change it for a simulator or a proxy",
      parse: address
    }),
    firehoseRulesPerAccount: setting({
      name: "FIREHOSE_RULES_PER_ACCOUNT",
      default: "0",
      description: "Maximum number of rules on firehose per account; 0 means no limit",
      parse: wholeNumber(0, 1_000_000)
    }),
    bluesky: setting({
      name: "EARSHOT_BLUESKY",
      default: "off",
      description: "on reads all posts of Bluesky, for rules on the platform bluesky; it needs no account: on or off",
      parse: oneOf({ on: "on", off: "off" } as const)
    }),
    blueskyBaseUrl: setting({
      name: "BLUESKY_BASE_URL",
      default: "https://jetstream.us-east.bsky.network",
      description: "Base URL of Bluesky's Jetstream; change it for another region, a simulator or a server of your own",
      parse: address
    }),
    wikimediaContact: optional({
      name: "EARSHOT_WIKIMEDIA_CONTACT",
      description:
        "Mail address or web page of the operator, which Wikimedia asks of its clients; with it the platform wikimedia watches the changes of Wikipedia and other wikis",
      parse: contact
    }),
    wikimediaBaseUrl: setting({
      name: "WIKIMEDIA_BASE_URL",
      default: "https://stream.wikimedia.org",
      description: "Base URL of Wikimedia's event streams; change it for a simulator or a proxy",
      parse: address
    }),
    feedUrls: optional({
      name: "EARSHOT_FEEDS",
      description:
        "Addresses of RSS, Atom or JSON feeds that the platform feeds reads for all accounts, separated by commas, or a file with one per line, or in OPML; on turns the platform on without them. Accounts can then add feeds, too",
      parse: feedList
    }),
    feedAddresses: setting({
      name: "EARSHOT_FEED_ALLOW",
      default: "none",
      unset: new Addresses(FEEDS),
      description: "Address ranges that are not public but that feeds may be read from, such as 10.0.0.0/8,fd00::/8",
      parse: (text) => Addresses.parse(text, FEEDS)
    }),
    otlpEndpoint: optional({
      name: "OTEL_EXPORTER_OTLP_ENDPOINT",
      description:
        "OpenTelemetry collector that receives traces (OTLP over HTTP), such as http://localhost:4318; without it no traces are recorded",
      parse: address
    }),
    serviceName: setting({
      name: "OTEL_SERVICE_NAME",
      default: "earshot",
      description: "Name of this server in traces",
      parse: anyText
    }),
    upstream: setting({
      name: "EARSHOT_UPSTREAM",
      default: "on",
      description:
        "off leaves the real platforms alone: no rule is registered or removed there, no stream is opened; for drills on a copy of a store. takeover also removes rules there that another server made from a copy of this store: use it once, if that server will not run again",
      parse: oneOf({ on: "on", off: "off", takeover: "takeover" } as const)
    }),
    webhooks: setting({
      name: "EARSHOT_WEBHOOKS",
      default: "on",
      description: "off sends nothing to webhooks: messages stay queued; for drills on a copy of a store",
      parse: oneOf({ on: "on", off: "off" } as const)
    }),
    crashAt: optional({
      name: "EARSHOT_CRASH_AT",
      description:
        "For recovery tests: failpoint at which the process kills itself, such as ingest.stored, or ingest.stored:3 to pass it three times first",
      parse: crashPoint
    })
  },
  store: {
    databaseUrl: optional({
      name: "DATABASE_URL",
      description: "URL of a Postgres database; without it the embedded store is used",
      parse: parseDatabaseUrl
    }),
    dataDir: setting({
      name: "EARSHOT_DATA_DIR",
      default: "./data",
      description: "Folder of the embedded store",
      parse: anyText
    }),
    diskFloor: optional({
      name: "EARSHOT_DISK_FLOOR",
      default: "2 % of the disk, from 256 MiB to 2 GiB, and at most a quarter of it",
      description:
        "Free space on the disk of the embedded store, in bytes, below which the accounts that store the most may not send events; below a quarter of it, and below 32 MiB, nothing is stored",
      parse: wholeNumber(0, Number.MAX_SAFE_INTEGER)
    }),
    storeWait: setting({
      name: "EARSHOT_STORE_WAIT",
      default: "60",
      description:
        "How long a server waits at its start for a Postgres that is down or starts, in seconds; 0 does not wait. Wrong credentials and an unknown database fail at once",
      parse: wholeNumber(0, 86_400)
    })
  },
  output: {
    logLevel: setting({
      name: "LOG_LEVEL",
      default: "info",
      description: `Lowest level to log: ${Object.keys(logLevels).join(", ")}; requests are logged at debug`,
      parse: oneOf(logLevels)
    }),
    logFormat: setting({
      name: "LOG_FORMAT",
      default: "pretty on a terminal, otherwise json",
      unset: process.stderr.isTTY ? "pretty" : "json",
      description: "Format of the log, which goes to standard error: pretty or json",
      parse: oneOf({ json: "json", pretty: "pretty" } as const)
    }),
    // See https://no-color.org
    hasColours: setting({
      name: "NO_COLOR",
      default: "none",
      unset: true,
      description: "Any value turns off colours, even on a terminal",
      parse: (): Either.Either<boolean> => Either.right(false)
    })
  },
  client: {
    url: optional({
      name: "EARSHOT_URL",
      default: DEFAULT_URL,
      description:
        "Address of the server. If it is not set, commands call the default address if EARSHOT_API_KEY is set, otherwise they use the local store",
      parse: anyText
    }),
    key: optional({
      name: "EARSHOT_API_KEY",
      description: "API key that the server accepts",
      parse: (text) => Either.right(Redacted.make(text))
    })
  }
}

export const serviceSettings = valuesOf(table.service)
export type ServiceSettings = Config.Config.Success<typeof serviceSettings>

/** The client sends it, too (`replay --shared`). */
export const operatorKey = table.service.operatorKey.config

/** Of the platforms that are off by default. */
export const switches = {
  bluesky: {
    isOn: Config.map(table.service.bluesky.config, (value) => value === "on"),
    setting: `${table.service.bluesky.name}=on`
  },
  wikimedia: {
    isOn: Config.map(table.service.wikimediaContact.config, Option.isSome),
    setting: `${table.service.wikimediaContact.name}=you@example.org`
  },
  feeds: {
    isOn: Config.map(table.service.feedUrls.config, Option.isSome),
    setting: `${table.service.feedUrls.name}=on`
  }
}

export const storeSettings = valuesOf(table.store)

export const outputSettings = valuesOf(table.output)

export const remoteSettings = valuesOf(table.client)

/** For help and documentation. */
export const settings = Rec.toEntries(table).flatMap(([group, entries]) =>
  Object.values(entries).map(({ name, default: shown, description }) => ({ group, name, default: shown, description }))
)

/** Names of the environment variables. Empty on Deno, unless it may read all of them. */
export const variables: Effect.Effect<ReadonlyArray<string>> = Effect.orElseSucceed(
  Effect.try(() => Object.keys(process.env)),
  () => []
)

/** A warning for each variable whose name looks like a misspelt setting. */
export const misspelt = (variables: ReadonlyArray<string>): ReadonlyArray<string> => {
  const known = settings.map(({ name }) => name)
  return variables.flatMap((name) => {
    if (!/^(EARSHOT|X|FIREHOSE|BLUESKY|WIKIMEDIA)_/.test(name) || known.includes(name)) return []
    const meant = nearest(name, known)
    return meant === undefined ? [] : [`There is no setting ${name}: did you mean ${meant}?`]
  })
}

/** One sentence per invalid setting. */
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

interface Setting<A> {
  readonly name: string
  /** As shown to users. */
  readonly default: string
  readonly description: string
  readonly config: Config.Config<A>
}

/** Left is the problem. It must not contain the value of a setting that can hold a secret, such as one in a URL. */
type Parse<A> = (text: string) => Either.Either<A, string>

/** An empty value counts as not set, as in `NAME=` of a settings file. */
function setting<A>(entry: {
  readonly name: string
  readonly default: string
  /** Value when not set, if it differs from the parsed `default`. */
  readonly unset?: NoInfer<A>
  readonly description: string
  readonly parse: Parse<A>
}): Setting<A> {
  const { parse, unset = Either.getOrThrow(parse(entry.default)), ...shown } = entry
  const given = Config.mapOrFail(Config.nonEmptyString(entry.name), (text) =>
    Either.mapLeft(parse(text), (problem) => ConfigError.InvalidData([], problem))
  )
  return { ...shown, config: Config.withDefault(given, unset) }
}

function optional<A>(entry: {
  readonly name: string
  readonly default?: string
  readonly description: string
  readonly parse: Parse<A>
}): Setting<Option.Option<A>> {
  const parse = (text: string) => Either.map(entry.parse(text), Option.some)
  return setting<Option.Option<A>>({ default: "none", ...entry, unset: Option.none(), parse })
}

/** Of an account; the operator can change it for one account. */
function limit(entry: {
  readonly name: string
  readonly default: string
  readonly description: string
}): Setting<number> {
  return setting({
    ...entry,
    description: `${entry.description}; 0 means no limit`,
    parse: wholeNumber(0, Number.MAX_SAFE_INTEGER)
  })
}

/** Reads all settings of a group, so that all invalid ones are reported at once. */
function valuesOf<T extends Readonly<Record<string, Setting<unknown>>>>(group: T) {
  const values: Config.Config<unknown> = Config.all(Rec.map(group, ({ config }) => config))
  return values as Config.Config<{ readonly [Field in keyof T]: Config.Config.Success<T[Field]["config"]> }>
}

function anyText(text: string): Either.Either<string> {
  return Either.right(text)
}

function wholeNumber(min: number, max: number): Parse<number> {
  const range = { min, max }
  return (text) =>
    Either.fromNullable(
      parseWholeNumber(text, range),
      () => `Expected ${describeRange(range)}, got ${shownValue(text)}`
    )
}

function price(text: string): Either.Either<number, string> {
  return /^\d{1,9}(\.\d{1,9})?$/.test(text)
    ? Either.right(Number(text))
    : Either.left(`Expected a number like 0.005, got ${shownValue(text)}`)
}

function oneOf<A>(values: Readonly<Record<string, A>>): Parse<A> {
  return (text) =>
    Either.fromOption(
      Rec.get(values, text),
      () => `Expected one of ${Object.keys(values).join(", ")}, got ${shownValue(text)}`
    )
}

function address(text: string): Either.Either<string, string> {
  return /^https?:\/\/[^\s/?#@]+[^\s?#@]*$/.test(text) && URL.canParse(text)
    ? Either.right(text)
    : Either.left("Expected an address like https://api.example.com")
}

/** Each is polled every few minutes. */
const MAX_FEEDS = 500

function feedList(text: string): Either.Either<ReadonlyArray<string>, string> {
  if (text === "on") return Either.right([])
  return Either.flatMap(text.includes("://") ? Either.right(text) : fileText(text), (list) => {
    const addresses = addressesIn(list)
    if (Either.isLeft(addresses)) return addresses
    const urls = addresses.right
    const wrong = urls.find(
      (url) => !/^https?:\/\/[^@]+$/.test(url) || !URL.canParse(url) || new URL(url).href.length > MAX_URL_LENGTH
    )
    if (wrong !== undefined) return Either.left(`Expected addresses with http or https, got ${shownValue(wrong)}`)
    return urls.length > MAX_FEEDS
      ? Either.left(`Expected at most ${MAX_FEEDS} addresses, got ${urls.length}`)
      : Either.right(urls.map((url) => new URL(url).href))
  })
}

function fileText(path: string): Either.Either<string, string> {
  return Either.try({
    try: () => readFileSync(path, "utf8"),
    catch: () =>
      `Expected on, or addresses like https://example.org/feed.xml, or a file that can be read, got ${shownValue(path)}`
  })
}

function contact(text: string): Either.Either<string, string> {
  return /^[!-'*-~]{1,200}$/.test(text) && (/^[^@]+@[^@]+\.[^@]+$/.test(text) || /^https?:\/\/[^/]+\..+/.test(text))
    ? Either.right(text)
    : Either.left("Expected a mail address or a URL, like you@example.org or https://example.org/earshot")
}

/** Without a path: other servers must not share the origin, which browsers and clients trust as a whole. */
function origin(text: string): Either.Either<string, string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
    ? Either.right(url.origin)
    : Either.left("Expected an address without a path, like https://earshot.example.com")
}

export function parseDatabaseUrl(text: string): Either.Either<Redacted.Redacted, string> {
  return /^postgres(ql)?:\/\//.test(text)
    ? Either.right(Redacted.make(text))
    : Either.left("Expected a URL like postgres://user:password@host:port/database, special characters as %xx")
}

function secret(text: string): Either.Either<Redacted.Redacted, string> {
  return /^[!-~]{16,512}$/.test(text)
    ? Either.right(Redacted.make(text))
    : Either.left("Expected 16 to 512 printable ASCII characters without spaces")
}

function tapToken(text: string): Either.Either<Redacted.Redacted, string> {
  return text.startsWith("fhm_")
    ? Either.left(
        "Expected the token of a tap (fh_…), not a management key (fhm_…), which cannot access rules or the stream"
      )
    : secret(text)
}

function bootstrapKey(text: string): Either.Either<Redacted.Redacted, string> {
  return isMistyped(text)
    ? Either.left(
        "It looks like an Earshot key, but its checksum is wrong. Copy the key again, or choose a text that does not start with es_"
      )
    : secret(text)
}

export interface CrashPoint {
  readonly failpoint: Failpoint
  /** Number of times to pass the failpoint first. */
  readonly passes: number
}

/** A failpoint with an optional number of passes: `ingest.stored:3`. */
function crashPoint(text: string): Either.Either<CrashPoint, string> {
  const [, name, passes = "0"] = /^([^:]*)(?::(\d{1,6}))?$/.exec(text) ?? []
  const failpoint = FAILPOINTS.find((known) => known === name)
  return failpoint === undefined
    ? Either.left(`Expected one of ${FAILPOINTS.join(", ")}, got ${shownValue(text)}`)
    : Either.right({ failpoint, passes: Number(passes) })
}
