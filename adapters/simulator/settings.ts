/** Everything about the simulator that can be set: what the platforms leave open is a switch here, with its default. */
import { Either, ParseResult, Schema, SchemaAST } from "effect"

const Tier = Schema.Literal("free", "basic", "pro", "pay-per-use", "enterprise")
export type Tier = typeof Tier.Type

const Count = Schema.Int.pipe(Schema.between(0, 1_000_000_000))
const Seconds = Schema.Number.pipe(Schema.between(0, 1_000_000_000))
const Token = Schema.String.pipe(Schema.pattern(/^[!-~]{1,512}$/))

const on = <A>(schema: Schema.Schema<A>, fallback: A, about: string): Schema.Schema<A> =>
  schema.annotations({ default: fallback, description: about })

const XSettings = Schema.Struct({
  bearer_token: on(Token, "simulator-x-bearer-token", "The token that the app sends"),
  tier: on(Tier, "pay-per-use", "Plan of the app: it decides on access, caps, lengths and backfill"),
  rule_cap: on(Schema.NullOr(Count), null, "Rules that the app may hold; null: by the tier"),
  project_rule_cap: on(
    Schema.NullOr(Count),
    null,
    "Rules that the project may hold, as counts tells; null: by the tier"
  ),
  max_rule_length: on(Schema.NullOr(Count), null, "UTF-16 code units of a rule; null: by the tier"),
  length_counts: on(Schema.Literal("utf-16", "code-points"), "utf-16", "What the length of a rule is counted in"),
  refused_warnings: on(
    Schema.Array(Schema.String),
    [],
    "Warnings of the rule language that refuse a rule, by code, such as negated-group"
  ),
  connection_cap: on(Schema.NullOr(Count), null, "Streams that may be open at once; null: by the tier"),
  posts_per_second: on(Schema.NullOr(Count), null, "What a stream sends at most, the rest waits; null: by the tier"),
  send_queue: on(Count, 5_000, "Posts that may wait for a slow reader before it is cut off"),
  credits: on(Schema.NullOr(Count), null, "Posts that may still be read before 402; null: no end"),
  rule_delay_seconds: on(Seconds, 0, "How long a new rule takes to have effect; X says about 20"),
  atomic_invalid: on(Schema.Boolean, false, "One invalid rule refuses its whole batch"),
  rule_cap_status: on(Schema.Literal(422, 400), 422, "Status of RulesCapExceeded"),
  all_duplicates_status: on(Schema.Literal(201, 200), 201, "Status of an add that held nothing but duplicates"),
  counts_share_limit: on(Schema.Boolean, true, "rules/counts uses up the calls of GET rules"),
  duplicate_check: on(
    Schema.Literal("exact", "canonical"),
    "exact",
    "What makes two rules the same: the text as it is, or what it means"
  ),
  keep_alive_seconds: on(Seconds, 20, "Silence before an empty line is sent; 0: never"),
  dead_slot_seconds: on(Seconds, 5, "How long the slot of a client that went away stays taken"),
  refused_connects_count: on(Schema.Boolean, true, "A connection over the cap uses up one of the connects"),
  rules_gone: on(
    Schema.Literal("stay", "disconnect"),
    "stay",
    "What an open stream does when the last rule is deleted"
  ),
  max_body_bytes: on(Count, 5_242_880, "Largest request body"),
  max_rules_per_request: on(Count, 1_000, "Largest add"),
  max_tag_length: on(Count, 255, "Longest tag"),
  add_order: on(Schema.Literal("request", "reversed"), "request", "Order of the created rules in the answer"),
  sends_meta_sent: on(Schema.Boolean, true, "GET rules tells meta.sent"),
  counts_as: on(Schema.Literal("strings", "numbers"), "strings", "How rules/counts writes its numbers"),
  problem_host: on(
    Schema.Literal("https://api.x.com", "https://api.twitter.com"),
    "https://api.x.com",
    "Host in the types of problems"
  ),
  rate_limit_body: on(Schema.Literal("v2", "v1.1"), "v2", "Shape of a 429"),
  stream_errors: on(
    Schema.Literal("wrapped", "bare"),
    "wrapped",
    "An error in the stream stands in errors[], or alone"
  ),
  vocabulary: on(
    Schema.Literal("tweet", "post"),
    "tweet",
    "Words of the records; a call with post.fields gets the post words in any case"
  ),
  penalty_seconds: on(Seconds, 0, "How much later the limit ends for each call while it is exceeded"),
  rules_get_limit: on(Count, 450, "Calls of GET rules in 15 minutes"),
  rules_post_limit: on(Count, 100, "Calls of POST rules in 15 minutes"),
  stream_limit: on(Count, 50, "Connects in 15 minutes"),
  usage_limit: on(Count, 50, "Calls of GET usage in 15 minutes"),
  connections_limit: on(
    Count,
    25,
    "Calls of each kind to /2/connections in 15 minutes; X states it for DELETE all only"
  )
})

const FirehoseSettings = Schema.Struct({
  management_key: on(Token, `fhm_${"simulator".padEnd(40, "0")}`, "The key that manages taps"),
  tap_token: on(Token, `fh_${"simulator".padEnd(40, "0")}`, "Token of the tap that is there from the start"),
  rule_cap: on(Count, 25, "Rules of the organization"),
  tap_cap: on(Count, 100, "Taps that may be active"),
  max_value_length: on(Count, 8_192, "Characters of a rule"),
  refused_warnings: on(Schema.Array(Schema.String), [], "Warnings of the rule language that refuse a rule, by code"),
  undated_pages: on(
    Schema.Literal("dropped", "kept"),
    "dropped",
    "Pages without a time of publishing, for a rule with quality"
  ),
  credits: on(Schema.NullOr(Count), null, "Matches that may still be delivered before 402; null: no end"),
  error_body: on(Schema.Literal("message", "nested"), "message", "{message, errors} or {error: {message, code}}"),
  rule_ids: on(
    Schema.Literal("query_ids", "query_id"),
    "query_ids",
    "All rules of a match in one update, or one update for each"
  ),
  empty_data: on(Schema.Literal("{}", "[]"), "{}", "Data of connected and end"),
  keep_alive_seconds: on(Seconds, 0, "Silence before a comment is sent; 0: never"),
  bad_parameter_status: on(
    Schema.Literal(422, 400),
    422,
    "Status for a bad timeout, limit, since, offset or Last-Event-ID"
  ),
  too_old: on(
    Schema.Literal("oldest", "error"),
    "oldest",
    "Last-Event-ID before the oldest kept event: begin there, or refuse"
  ),
  wrong_key_status: on(Schema.Literal(401, 403), 401, "Status for a key of the wrong kind"),
  streams_per_tap: on(Schema.NullOr(Count), null, "Streams of a tap that may be open at once; null: any number"),
  no_credits: on(Schema.Literal("run-on", "close"), "run-on", "What an open stream does when the credit is used up"),
  rules_gone: on(Schema.Literal("stay", "error"), "stay", "What an open stream does when the last rule is deleted"),
  retry_after: on(Schema.Boolean, true, "429 tells Retry-After"),
  duplicates: on(Schema.Literal("allowed", "refused"), "allowed", "A rule of the same text again"),
  markdown: on(Schema.Literal("never", "always"), "never", "document.markdown, as the older form had it"),
  rules_limit: on(Count, 60, "Calls to /v1/rules in a minute, for each tap"),
  stream_limit: on(Count, 30, "Connects in a minute, for each tap"),
  taps_limit: on(Count, 60, "Calls to /v1/taps in a minute"),
  retention_hours: on(Seconds, 24, "How long matches are kept for replay"),
  first_offset: on(Count, 43_000, "Offset of the first crawled page; read at the start"),
  partition: on(Count, 0, "Partition in the event ids")
})

const FeedSettings = Schema.Struct({
  posts_per_second: on(
    Schema.Number.pipe(Schema.between(0, 10_000)),
    0,
    "Made-up posts per second on X; the command sets it by --rate"
  ),
  pages_per_second: on(
    Schema.Number.pipe(Schema.between(0, 10_000)),
    0,
    "Made-up pages per second on Firehose; the command sets it by --rate"
  )
})

export const Settings = Schema.Struct({ x: XSettings, firehose: FirehoseSettings, feed: FeedSettings })
export type Settings = typeof Settings.Type

/** Any part of the settings; the rest stays as it is. */
export const SettingsPatch = Schema.partialWith(
  Schema.Struct({
    x: Schema.partialWith(XSettings, { exact: true }),
    firehose: Schema.partialWith(FirehoseSettings, { exact: true }),
    feed: Schema.partialWith(FeedSettings, { exact: true })
  }),
  { exact: true }
)
export type SettingsPatch = typeof SettingsPatch.Type

/** Assumptions that are not for the simulator to change: the rule languages and the engine have made them for all of Earshot. */
export const FIXED: Readonly<Record<string, string>> = {
  "x A4": "url_title, url_description, url_contains, the counts and the ids of posts stand alone; source does not",
  "x A5": "Names of operators in any case, OR in capitals only",
  "x A6": "min_likes, min_replies, min_reposts and unknown names are invalid operators",
  "x A7": "A keyword with punctuation in it is the phrase of its words",
  "x A8": "A run of letters without spaces is one word; an underscore splits words",
  "x A10": "The length is checked before the syntax",
  "x A15": "sample: goes by a hash of the post's id",
  "x A17": "An unknown language is refused; zh, zh-CN and zh-TW are one",
  "firehose 2": "validate takes {value} and gives {data: {valid, diagnostics, compiled}}",
  "firehose 13": "OR between bare terms",
  "firehose 14": "A rule of negations only is valid and meets nothing",
  "firehose 15": "Unknown fields are refused, unknown labels never met",
  "firehose 16": "recent: stands once, joined by AND to the rest",
  "firehose 17": "Boosts are ignored; 1024 clauses at most",
  "firehose 18": "Lucene's 33 English stop words, not for titles",
  "firehose 19": "domain: the host without www, and its parents down to the registrable domain",
  "firehose 20": "A label brings its parents along",
  "firehose 22": "Adult: any label below /Adult",
  "firehose 23": "Times without a zone are UTC",
  "firehose 26": "A change without fields changes nothing"
}

export interface SettingLine {
  readonly name: string
  /** Its values: `"exact", "canonical"`, `null, a number`. */
  readonly takes: string
  readonly fallback: unknown
  readonly about: string
}

/** Every setting with its default, in the order of this file. */
export const settingLines = (): ReadonlyArray<SettingLine> =>
  GROUPS.flatMap(([group, fields]) =>
    Object.entries(fields).map(([name, { ast }]) => ({
      name: `${group}.${name}`,
      takes: takenBy(ast),
      fallback: annotation(ast, SchemaAST.DefaultAnnotationId),
      about: String(annotation(ast, SchemaAST.DescriptionAnnotationId))
    }))
  )

export const defaultSettings = (): Settings =>
  Schema.decodeUnknownSync(Settings)(
    Object.fromEntries(
      GROUPS.map(([group, fields]) => [
        group,
        Object.fromEntries(
          Object.entries(fields).map(([name, { ast }]) => [name, annotation(ast, SchemaAST.DefaultAnnotationId)])
        )
      ])
    )
  )

export const patched = (settings: Settings, patch: SettingsPatch): Settings => ({
  x: { ...settings.x, ...patch.x },
  firehose: { ...settings.firehose, ...patch.firehose },
  feed: { ...settings.feed, ...patch.feed }
})

/** Left says in one line what is wrong. */
export const decodePatch = (input: unknown): Either.Either<SettingsPatch, string> =>
  Either.mapLeft(Schema.decodeUnknownEither(SettingsPatch, { onExcessProperty: "error" })(input), inOneLine)

export const inOneLine = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  return issue === undefined ? error.message : `Setting "${issue.path.join(".")}" is not valid: ${issue.message}`
}

// ---- helpers ----

const GROUPS = [
  ["x", XSettings.fields],
  ["firehose", FirehoseSettings.fields],
  ["feed", FeedSettings.fields]
] as const

function annotation(ast: SchemaAST.AST, id: symbol): unknown {
  return ast.annotations[id]
}

function takenBy(ast: SchemaAST.AST): string {
  switch (ast._tag) {
    case "Union":
      // Null comes last for the schema and first for the reader.
      return ast.types
        .map(takenBy)
        .sort((a, b) => Number(b === "null") - Number(a === "null"))
        .join(", ")
    case "Literal":
      return JSON.stringify(ast.literal)
    case "BooleanKeyword":
      return "true, false"
    case "TupleType":
      return "a list of texts"
    case "Refinement":
      return takenBy(ast.from)
    case "NumberKeyword":
      return "a number"
    default:
      return "a text"
  }
}
