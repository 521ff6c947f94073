/** The settings of `earshot serve`, for its help. `main.ts` reads them from the environment. */
import { nearest } from "../core/syntax/nearest.ts"

export interface Setting {
  readonly name: string
  readonly fallback: string
  readonly about: string
}

export const SETTINGS: readonly [Setting, ...ReadonlyArray<Setting>] = [
  { name: "PORT", fallback: "8787", about: "Port to listen on; 0 takes any free one" },
  { name: "HOST", fallback: "127.0.0.1", about: "Address to listen on; 0.0.0.0 for every one of this machine" },
  { name: "DATABASE_URL", fallback: "none", about: "A Postgres database; without it the embedded store is used" },
  { name: "EARSHOT_DATA_DIR", fallback: "./data", about: "Folder of the embedded store" },
  { name: "EARSHOT_BOOTSTRAP_KEY", fallback: "none", about: "Your own first key, 16 characters or more" },
  {
    name: "X_BEARER_TOKEN",
    fallback: "none",
    about: "App-only bearer token of X; without it the platform x runs in process"
  },
  { name: "X_BASE_URL", fallback: "https://api.x.com", about: "Where X is, for a simulator or a proxy" },
  {
    name: "FIREHOSE_TAP_TOKEN",
    fallback: "none",
    about: "Token of a Firehose tap (fh_…); without it the platform firehose runs in process"
  },
  { name: "FIREHOSE_BASE_URL", fallback: "https://api.firehose.com", about: "Where Firehose is" },
  { name: "X_RULES_PER_ACCOUNT", fallback: "25", about: "How many rules on x an account may hold" },
  { name: "EARSHOT_KEEP_DAYS", fallback: "30", about: "For how many days to keep matches; 0 for ever" },
  {
    name: "EARSHOT_KEEP_MATCHES",
    fallback: "0",
    about: "How many matches to keep in all, the newest; 0 for any number"
  },
  {
    name: "EARSHOT_RECENT_EVENTS",
    fallback: "10000",
    about: "How many events of each platform to keep for backtests; 0 for none"
  },
  {
    name: "EARSHOT_WEBHOOK_ALLOW",
    fallback: "none",
    about:
      "Ranges of addresses that are not public and that webhooks may be sent to all the same, as 127.0.0.0/8,10.0.0.0/8. Every account can then reach them"
  },
  {
    name: "EARSHOT_DEMO_FEED",
    fallback: "on",
    about: "on or off: made-up posts and pages to try rules on; never beside a real platform"
  },
  {
    name: "EARSHOT_CRASH_AT",
    fallback: "none",
    about:
      "For tests of recovery: the step of creating or deleting a rule, or of storing events, at which the process kills itself"
  },
  {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    fallback: "none",
    about:
      "An OpenTelemetry collector (OTLP over HTTP) that gets traces, as http://localhost:4318; without it there are none"
  },
  { name: "OTEL_SERVICE_NAME", fallback: "earshot", about: "What this server is called in traces" },
  { name: "LOG_LEVEL", fallback: "info", about: "trace, debug, info, warning, error, fatal or none" },
  { name: "LOG_FORMAT", fallback: "by terminal", about: "pretty or json; on a terminal pretty, elsewhere json" },
  { name: "NO_COLOR", fallback: "none", about: "Anything: no colours, on a terminal either; for every command" }
]

/** A word on each variable that is probably meant to be another one. */
export const misspelt = (variables: ReadonlyArray<string>): ReadonlyArray<string> =>
  variables.flatMap((name) => {
    if (!OURS.test(name) || KNOWN.includes(name)) return []
    const meant = nearest(name, KNOWN)
    return meant === undefined ? [] : [`There is no setting ${name}: did you mean ${meant}?`]
  })

// ---- helpers ----

const OURS = /^(EARSHOT|X|FIREHOSE)_/

const KNOWN = [...SETTINGS.map(({ name }) => name), "EARSHOT_URL", "EARSHOT_API_KEY"]
