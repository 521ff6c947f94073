/** The simulator's settings. Behaviour that the platforms do not document is a setting here, with its default. */
import { Either, ParseResult, Schema, SchemaAST } from "effect"
import { WholeNumber } from "../core/model/wholeNumber.ts"

const Tier = Schema.Literal("free", "basic", "pro", "pay-per-use", "enterprise")
export type Tier = typeof Tier.Type

export const Count = WholeNumber({ min: 0, max: 1_000_000_000 })
export const Seconds = Schema.Number.pipe(Schema.between(0, 1_000_000_000))
const Rate = Schema.Number.pipe(Schema.between(0, 10_000))
const Percent = Schema.Number.pipe(Schema.between(0, 100))
const Codes = Schema.Array(Schema.String)
const Token = Schema.String.pipe(Schema.pattern(/^[!-~]{1,512}$/))

const setting = <A>(schema: Schema.Schema<A>, fallback: A, about: string): Schema.Schema<A> =>
  schema.annotations({ default: fallback, description: about })

const optionalCount = (about: string): Schema.Schema<number | null> => setting(Schema.NullOr(Count), null, about)

/** The first value is the default. */
const choice = <const A extends readonly [string | number, ...ReadonlyArray<string | number>]>(
  values: A,
  about: string
): Schema.Schema<A[number]> => setting(Schema.Literal(...values), values[0], about)

const XSettings = Schema.Struct({
  bearer_token: setting(Token, "simulator-x-bearer-token", "Bearer token of the app"),
  tier: setting(Tier, "pay-per-use", "Plan of the app: sets access, caps, rule length and backfill"),
  rule_cap: optionalCount("Maximum rules of the app; null: by the tier"),
  project_rule_cap: optionalCount("Maximum rules of the project, as rules/counts reports it; null: by the tier"),
  max_rule_length: optionalCount("Maximum length of a rule; null: by the tier"),
  length_counts: choice(["utf-16", "code-points"], "Unit that rule length is measured in"),
  refused_warnings: setting(Codes, [], "Codes of warnings that make X refuse a rule, such as negated-group"),
  connection_cap: optionalCount("Maximum open streams; null: by the tier"),
  posts_per_second: optionalCount("Maximum posts per second on a stream, the rest waits; null: by the tier"),
  send_queue: setting(Count, 5_000, "Maximum posts waiting for a slow reader before it is disconnected"),
  credits: optionalCount("Posts that can be read before 402; null: unlimited"),
  usage_cap: optionalCount("Posts that can be read before 429 UsageCapExceeded; null: unlimited"),
  usage_cap_reset_seconds: setting(Seconds, 864_000, "Time from reaching usage_cap until the count starts again"),
  late_posts_percent: setting(Percent, 0, "Share of posts that reach the streams late"),
  late_seconds: setting(Seconds, 6, "How late they are; X documents 6 to 7 for the latest of 100"),
  rule_delay_seconds: setting(Seconds, 0, "Delay before a new rule takes effect; X documents about 20"),
  atomic_invalid: setting(Schema.Boolean, false, "One invalid rule rejects its whole batch"),
  rule_cap_status: choice([422, 400], "Status of RulesCapExceeded"),
  all_duplicates_status: choice([201, 200], "Status of an add of duplicates only"),
  counts_share_limit: setting(Schema.Boolean, true, "rules/counts shares the rate limit of GET rules"),
  ids_filter: choice(["applied", "ignored"], "The ids parameter of GET rules; ignored: the reply has all rules"),
  deletes: choice(["all", "half", "none"], "How many of its rules a delete removes; the others are not_deleted"),
  duplicate_check: choice(["exact", "canonical"], "How duplicates are found: by exact text or by canonical form"),
  keep_alive_seconds: setting(Seconds, 20, "Idle time before a keep-alive line; 0: never"),
  dead_slot_seconds: setting(Seconds, 5, "How long the slot of a disconnected client stays taken"),
  refused_connects_count: setting(Schema.Boolean, true, "A refused connection counts towards stream_limit"),
  rules_gone: choice(["stay", "disconnect"], "What an open stream does when the last rule is deleted"),
  max_body_bytes: setting(Count, 5_242_880, "Maximum size of a request body"),
  max_rules_per_request: setting(Count, 1_000, "Maximum rules in one add"),
  max_tag_length: setting(Count, 255, "Maximum length of a tag"),
  add_order: choice(["request", "reversed"], "Order of the created rules in the reply"),
  sends_meta_sent: setting(Schema.Boolean, true, "GET rules returns meta.sent"),
  counts_as: choice(["strings", "numbers"], "JSON type of the numbers in rules/counts"),
  problem_host: choice(["https://api.x.com", "https://api.twitter.com"], "Host in the type of a problem"),
  rate_limit_body: choice(["v2", "v1.1"], "Body of a 429"),
  stream_errors: choice(["wrapped", "bare"], "An error in the stream is wrapped in errors[], or bare"),
  vocabulary: choice(["tweet", "post"], "Field names in records; a call with post.fields always gets the post names"),
  penalty_seconds: setting(Seconds, 0, "Extends the rate-limit window for each call over the limit"),
  rules_get_limit: setting(Count, 450, "Calls of GET rules per 15 minutes"),
  rules_post_limit: setting(Count, 100, "Calls of POST rules per 15 minutes"),
  stream_limit: setting(Count, 50, "Connections per 15 minutes"),
  max_query_length: optionalCount("Maximum length of a query of counts/recent; null: by the tier"),
  recent_counts_delay_seconds: setting(Seconds, 30, "How long before now counts/recent ends without end_time"),
  recent_counts_limit: setting(Count, 300, "Calls of GET counts/recent per 15 minutes"),
  usage_limit: setting(Count, 50, "Calls of GET usage per 15 minutes"),
  posts_limit: setting(Count, 900, "Calls of GET posts by id per 15 minutes"),
  connections_limit: setting(
    Count,
    25,
    "Calls per 15 minutes of each method of /2/connections; X documents it for DELETE all only"
  )
})

const FirehoseSettings = Schema.Struct({
  management_key: setting(Token, `fhm_${"simulator".padEnd(40, "0")}`, "Management key, for calls to /v1/taps"),
  tap_token: setting(Token, `fh_${"simulator".padEnd(40, "0")}`, "Token of the initial tap"),
  rule_cap: setting(Count, 25, "Maximum rules of the organization"),
  tap_cap: setting(Count, 100, "Maximum active taps"),
  max_value_length: setting(Count, 8_192, "Maximum length of a rule, in characters"),
  refused_warnings: setting(Codes, [], "Codes of warnings that make Firehose refuse a rule"),
  undated_pages: choice(["dropped", "kept"], "Pages without publish_time, for a rule with quality on"),
  credits: optionalCount("Matches that can be delivered before 402; null: unlimited"),
  error_body: choice(["message", "nested"], "{message, errors} or {error: {message, code}}"),
  rule_ids: choice(["query_ids", "query_id"], "One update per match with all its rules, or one update per rule"),
  empty_data: choice(["{}", "[]"], "Data of the connected and end events"),
  keep_alive_seconds: setting(Seconds, 0, "Idle time before a keep-alive comment; 0: never"),
  bad_parameter_status: choice([422, 400], "Status for a bad timeout, limit, since, offset or Last-Event-ID"),
  too_old: choice(
    ["oldest", "error"],
    "Last-Event-ID older than the oldest kept match: start at the oldest, or refuse"
  ),
  wrong_key_status: choice([401, 403], "Status for a key of the wrong kind"),
  streams_per_tap: optionalCount("Maximum open streams of a tap; null: unlimited"),
  no_credits: choice(["run-on", "close"], "What an open stream does when the credits are used up"),
  rules_gone: choice(["stay", "error"], "What an open stream does when the last rule is deleted"),
  retry_after: setting(Schema.Boolean, true, "429 has a Retry-After header"),
  duplicates: choice(["allowed", "refused"], "A second rule with the same text"),
  markdown: choice(["never", "always"], "Whether updates have document.markdown, as in the older format"),
  rules_limit: setting(Count, 60, "Calls to /v1/rules per minute and tap"),
  stream_limit: setting(Count, 30, "Connections per minute and tap"),
  taps_limit: setting(Count, 60, "Calls to /v1/taps per minute"),
  retention_hours: setting(Seconds, 24, "How long matches are kept for replay"),
  first_offset: setting(Count, 43_000, "Offset of the first page; read at start only"),
  partition: setting(Count, 0, "Partition number in event ids")
})

const WikimediaSettings = Schema.Struct({
  connection_seconds: setting(Count, 900, "How long a connection lasts"),
  connections: setting(Count, 2, "Maximum open connections"),
  time_jitter_ms: setting(Count, 20, "How far times run backwards, at most; 0: they are in order"),
  canary_seconds: setting(Count, 15, "Time between two canaries; 0: none"),
  retention_hours: setting(Seconds, 168, "How long changes are kept for replay")
})

const FeedsSettings = Schema.Struct({
  window: setting(WholeNumber({ min: 1, max: 1_000 }), 15, "Items in a document, the newest ones"),
  validators: choice(["both", "etag", "last-modified", "none"], "What a document can be asked for again with")
})

/** The made-up events. */
const FeedSettings = Schema.Struct({
  posts_per_second: setting(Rate, 0, "Generated posts per second on X; --rate sets it"),
  pages_per_second: setting(Rate, 0, "Generated pages per second on Firehose; --rate sets it"),
  bluesky_per_second: setting(Rate, 0, "Generated posts per second on Bluesky; --rate sets it, with --bluesky"),
  changes_per_second: setting(Rate, 0, "Generated changes per second on Wikimedia; --rate sets it, with --wikimedia"),
  items_per_second: setting(Rate, 0, "Generated items per second in feeds; --rate sets a sixtieth, with --feeds")
})

export const Settings = Schema.Struct({
  x: XSettings,
  firehose: FirehoseSettings,
  wikimedia: WikimediaSettings,
  feeds: FeedsSettings,
  feed: FeedSettings
})
export type Settings = typeof Settings.Type

export const SettingsPatch = Schema.partialWith(
  Schema.Struct({
    x: Schema.partialWith(XSettings, { exact: true }),
    firehose: Schema.partialWith(FirehoseSettings, { exact: true }),
    wikimedia: Schema.partialWith(WikimediaSettings, { exact: true }),
    feeds: Schema.partialWith(FeedsSettings, { exact: true }),
    feed: Schema.partialWith(FeedSettings, { exact: true })
  }),
  { exact: true }
)
export type SettingsPatch = typeof SettingsPatch.Type

/** Assumptions that are not settings: they are part of the rule languages and the engine. */
export const fixedAssumptions: Readonly<Record<string, string>> = {
  "x A4": "url_title, url_description, url_contains, counts and post ids are standalone operators; source is not",
  "x A5": "Operator names are case-insensitive; OR must be upper case",
  "x A6": "min_likes, min_replies, min_reposts and unknown names are invalid operators",
  "x A7": "A keyword with punctuation is a phrase of its words",
  "x A8": "Text without spaces is one word; an underscore splits words",
  "x A10": "Length is checked before syntax",
  "x A15": "sample: uses a hash of the post id",
  "x A17": "An unknown language is refused; zh, zh-CN and zh-TW are the same",
  "firehose 2": "validate takes {value} and returns {data: {valid, diagnostics, compiled}}",
  "firehose 13": "Bare terms are joined by OR",
  "firehose 14": "A rule of negations only is valid and matches nothing",
  "firehose 15": "Unknown fields are refused; unknown labels match nothing",
  "firehose 16": "recent: is allowed once, joined to the rest by AND",
  "firehose 17": "Boosts are ignored; at most 1024 clauses",
  "firehose 18": "Lucene's 33 English stop words, except in titles",
  "firehose 19": "domain: matches the host without www, and its parent domains up to the registrable one",
  "firehose 20": "A label includes its parents",
  "firehose 22": "Adult: the label /Adult and all labels below it",
  "firehose 23": "Times without a zone are UTC",
  "firehose 26": "An update without fields changes nothing"
}

export interface SettingLine {
  readonly name: string
  /** The values it takes, such as `"exact", "canonical"` or `null, a number`. */
  readonly takes: string
  readonly fallback: unknown
  readonly about: string
}

/** Every setting with its default, in the order of this file. */
export const settingLines = (): ReadonlyArray<SettingLine> =>
  groups.flatMap(([group, fields]) =>
    Object.entries(fields).map(([name, { ast }]) => ({
      name: `${group}.${name}`,
      takes: describeType(ast),
      fallback: annotation(ast, SchemaAST.DefaultAnnotationId),
      about: String(annotation(ast, SchemaAST.DescriptionAnnotationId))
    }))
  )

export const defaultSettings = (): Settings =>
  Schema.decodeUnknownSync(Settings)(
    Object.fromEntries(
      groups.map(([group, fields]) => [
        group,
        Object.fromEntries(
          Object.entries(fields).map(([name, { ast }]) => [name, annotation(ast, SchemaAST.DefaultAnnotationId)])
        )
      ])
    )
  )

export const applyPatch = (settings: Settings, patch: SettingsPatch): Settings => ({
  x: { ...settings.x, ...patch.x },
  firehose: { ...settings.firehose, ...patch.firehose },
  wikimedia: { ...settings.wikimedia, ...patch.wikimedia },
  feeds: { ...settings.feeds, ...patch.feeds },
  feed: { ...settings.feed, ...patch.feed }
})

/** Left is a one-line error message. */
export const decodePatch = (input: unknown): Either.Either<SettingsPatch, string> =>
  Either.mapLeft(Schema.decodeUnknownEither(SettingsPatch, { onExcessProperty: "error" })(input), describeError)

// ---- helpers ----

function describeError(error: ParseResult.ParseError): string {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  return issue === undefined ? error.message : `Setting "${issue.path.join(".")}" is not valid: ${issue.message}`
}

const groups = [
  ["x", XSettings.fields],
  ["firehose", FirehoseSettings.fields],
  ["wikimedia", WikimediaSettings.fields],
  ["feeds", FeedsSettings.fields],
  ["feed", FeedSettings.fields]
] as const

function annotation(ast: SchemaAST.AST, id: symbol): unknown {
  return ast.annotations[id]
}

function describeType(ast: SchemaAST.AST): string {
  switch (ast._tag) {
    case "Union":
      // The schema lists null last.
      return ast.types
        .map(describeType)
        .sort((a, b) => Number(b === "null") - Number(a === "null"))
        .join(", ")
    case "Literal":
      return JSON.stringify(ast.literal)
    case "BooleanKeyword":
      return "true, false"
    case "TupleType":
      return "a list of strings"
    case "Refinement":
      return describeType(ast.from)
    case "NumberKeyword":
      return "a number"
    default:
      return "a string"
  }
}
