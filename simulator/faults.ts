/** Fault injection: the kinds of faults, and the active faults with their counters. */
import { Either, ParseResult, Schema } from "effect"
import { optional } from "../core/model/optional.ts"
import { WholeNumber } from "../core/model/wholeNumber.ts"
import { endpoints, isEndpointOf, SimulatedPlatform } from "./endpoints.ts"
import { Count, Seconds } from "./settings.ts"

const field = <A>(schema: Schema.Schema<A>, fallback: A) => Schema.optionalWith(schema, { default: () => fallback })

/** Without `count` and `seconds` a fault fires once; a lasting kind is active until it is cleared. */
const scope = {
  platform: SimulatedPlatform,
  endpoint: optional(Schema.String),
  count: optional(WholeNumber({ min: 1, max: 1_000_000_000 })),
  seconds: optional(Seconds)
}

const kind = <K extends string, F extends Schema.Struct.Fields>(name: K, fields: F) =>
  Schema.Struct({ kind: Schema.Literal(name), ...scope, ...fields })

const disconnectTypes = [
  "OperationalDisconnect",
  "UpstreamOperationalDisconnect",
  "ForceDisconnect",
  "UpstreamUncleanDisconnect",
  "SlowReader",
  "InternalError",
  "ClientApplicationStateDegraded",
  "InvalidRules"
] as const
export type DisconnectType = (typeof disconnectTypes)[number]

export const FaultRequest = Schema.Union(
  kind("refuse", {}),
  kind("rate-limit", {
    headers: field(Schema.Boolean, true),
    date: optional(Schema.Boolean),
    reset_seconds: field(Count, 60)
  }),
  kind("payment-required", {}),
  kind("server-error", { status: field(WholeNumber({ min: 500, max: 599 }), 503) }),
  kind("torn-line", {}),
  kind("half-utf8", {}),
  kind("cut", {}),
  kind("slow", { bytes: field(Count, 1), millis: field(Count, 20) }),
  kind("duplicate", {}),
  kind("stall", {
    keep_alives: field(Schema.Boolean, true),
    stall_seconds: optional(Count)
  }),
  kind("disconnect", { disconnect_type: field(Schema.Literal(...disconnectTypes), "OperationalDisconnect") }),
  kind("stream-error", { message: field(Schema.String, "Internal error") }),
  kind("close", {}),
  kind("drop-rules", {}),
  kind("lower-caps", {
    rules: optional(Count),
    connections: optional(Count)
  }),
  kind("clock-skew", { skew_seconds: Schema.Number.pipe(Schema.between(-1_000_000_000, 1_000_000_000)) }),
  kind("hold-slot", { hold_seconds: field(Count, 900) }),
  kind("cut-backfill", { records: field(Count, 3) }),
  kind("without-rules", {}),
  kind("unknown-rules", {}),
  kind("switch", {}),
  kind("offset-jump", {}),
  kind("oversized", { bytes: field(Count, 17 * 1024 * 1024) }),
  kind("redirect", { status: field(Schema.Literal(301, 302, 303, 307, 308), 301) }),
  kind("gone", {}),
  kind("window-jump", {}),
  kind("new-ids", {}),
  kind("wrong-charset", {}),
  kind("entity-bomb", {}),
  kind("web-page", {})
)
export type FaultRequest = typeof FaultRequest.Type
export type FaultKind = FaultRequest["kind"]
export type FaultOf<K extends FaultKind> = Extract<FaultRequest, { readonly kind: K }>

export interface Fault {
  readonly id: string
  readonly request: FaultRequest
  readonly fired: number
  /** Remaining times to fire; absent: unlimited. */
  readonly left?: number
  /** Expiry, in milliseconds. */
  readonly until?: number
}

export const faultDescriptions: Readonly<Record<FaultKind, string>> = {
  refuse: "Close the connection before the first byte of the reply",
  "rate-limit":
    "Answer 429; headers: false omits the reset headers; date: true sends Retry-After as a date (feeds); reset_seconds",
  "payment-required": "Answer 402",
  "server-error": "Answer 5xx; status",
  "torn-line": "Send half of a record as if it were complete",
  "half-utf8": "Send a record with an incomplete UTF-8 character",
  cut: "Drop the connection in the middle of a record",
  slow: "Send a record in pieces; bytes per piece, millis between pieces",
  duplicate: "Send a record twice",
  stall: "Stop sending records on a connection; keep_alives: false stops keep-alives too; stall_seconds",
  disconnect: "End the stream with a disconnect message (x); disconnect_type",
  "stream-error": "End the stream with an error event (firehose); message",
  close: "End the stream without a message",
  "drop-rules": "Delete all rules, as happens after 180 days",
  "lower-caps": "Lower caps while active; rules, connections",
  "clock-skew": "Report wrong times while active; skew_seconds",
  "hold-slot": "Keep the slot of the next client that disconnects (x); hold_seconds",
  "cut-backfill": "Drop a connection after the first records of its backfill (x); records",
  "without-rules": "Send a post without matching_rules (x)",
  "unknown-rules": "Send a post with matching_rules that do not exist (x)",
  switch: "Make the other data centre the active one (wikimedia)",
  "offset-jump": "Lose a change: its offset is missing (wikimedia)",
  oversized: "Send a post in a line, or a feed in a document, that is too long (x, feeds); bytes",
  redirect: "Redirect to another address of the feed (feeds); status",
  gone: "Answer 410 (feeds)",
  "window-jump": "Publish more items at once than a document shows (feeds)",
  "new-ids": "Write the ids of all items anew (feeds)",
  "wrong-charset": "Send Latin-1 as UTF-8 (feeds)",
  "entity-bomb": "Send a document whose entities stand for a gigabyte (feeds)",
  "web-page": "Send a web page with status 200 (feeds)"
}

export class Faults {
  private readonly active: Array<ActiveFault> = []
  private readonly totals = new Map<string, number>()
  private lastId = 0

  inject(request: FaultRequest, now: number): Fault {
    const isUnlimited = lastingKinds.has(request.kind) || request.seconds !== undefined
    const fault: ActiveFault = {
      id: `fault-${++this.lastId}`,
      request,
      fired: 0,
      left: request.count ?? (isUnlimited ? undefined : 1),
      until: request.seconds === undefined ? undefined : now + request.seconds * 1_000
    }
    this.active.push(fault)
    return toFault(fault)
  }

  /** Fires the first fault that applies to the target, and counts it. */
  take<K extends FaultKind>(kind: K, target: FaultTarget): FaultOf<K> | undefined {
    const found = this.find(kind, target)
    if (found === undefined) return undefined
    found.fired++
    const key = `${target.platform}.${kind}`
    this.totals.set(key, (this.totals.get(key) ?? 0) + 1)
    if (found.left !== undefined && --found.left === 0) this.active.splice(this.active.indexOf(found), 1)
    // `find` compared the kind; the compiler cannot narrow the union by it.
    return found.request as FaultOf<K>
  }

  /** Like `take`, but does not count. */
  peek<K extends FaultKind>(kind: K, target: FaultTarget): FaultOf<K> | undefined {
    return this.find(kind, target)?.request as FaultOf<K> | undefined
  }

  list(now: number): ReadonlyArray<Fault> {
    return this.active.filter((fault) => !isExpired(fault, now)).map(toFault)
  }

  /** How often each `platform.kind` has fired. Clearing faults does not reset it. */
  get fired(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.totals].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Clears one fault, or all without an id. False for an unknown id. */
  clear(id?: string): boolean {
    if (id === undefined) {
      this.active.length = 0
      return true
    }
    const index = this.active.findIndex((fault) => fault.id === id)
    if (index >= 0) this.active.splice(index, 1)
    return index >= 0
  }

  private find(kind: FaultKind, { platform, endpoint, now }: FaultTarget): ActiveFault | undefined {
    return this.active.find(
      (fault) =>
        fault.request.kind === kind &&
        fault.request.platform === platform &&
        (fault.request.endpoint === undefined || endpoint === undefined || fault.request.endpoint === endpoint) &&
        !isExpired(fault, now)
    )
  }
}

export interface FaultTarget {
  readonly platform: SimulatedPlatform
  readonly endpoint?: string
  readonly now: number
}

/** Left is a one-line error message. */
export const decodeFault = (input: unknown): Either.Either<FaultRequest, string> => {
  const decoded = Schema.decodeUnknownEither(FaultRequest, { onExcessProperty: "error" })(input)
  if (Either.isLeft(decoded)) {
    const issues = ParseResult.ArrayFormatter.formatErrorSync(decoded.left)
    const issue = issues.find(({ path }) => path[0] !== "kind") ?? issues[0]
    return Either.left(`Fault is not valid at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "unknown"}`)
  }
  const { kind, platform, endpoint } = decoded.right
  const only = onlyPlatforms[kind]
  if (only !== undefined && !only.includes(platform)) {
    return Either.left(`Fault "${kind}" is for platform ${only.map((name) => `"${name}"`).join(" or ")} only`)
  }
  if (endpoint !== undefined && !isEndpointOf(platform, endpoint)) {
    return Either.left(
      `Platform "${platform}" has no endpoint "${endpoint}": use one of ${endpoints[platform].join(", ")}`
    )
  }
  return Either.right(decoded.right)
}

// ---- helpers ----

interface ActiveFault {
  readonly id: string
  readonly request: FaultRequest
  fired: number
  left: number | undefined
  readonly until: number | undefined
}

const lastingKinds: ReadonlySet<FaultKind> = new Set<FaultKind>(["lower-caps", "clock-skew"])

const onlyPlatforms: Readonly<Partial<Record<FaultKind, ReadonlyArray<SimulatedPlatform>>>> = {
  disconnect: ["x"],
  "stream-error": ["firehose"],
  "hold-slot": ["x"],
  "cut-backfill": ["x"],
  "without-rules": ["x"],
  "unknown-rules": ["x"],
  switch: ["wikimedia"],
  "offset-jump": ["wikimedia"],
  oversized: ["x", "feeds"],
  redirect: ["feeds"],
  gone: ["feeds"],
  "window-jump": ["feeds"],
  "new-ids": ["feeds"],
  "wrong-charset": ["feeds"],
  "entity-bomb": ["feeds"],
  "web-page": ["feeds"]
}

const isExpired = ({ until }: ActiveFault, now: number): boolean => until !== undefined && until <= now

const toFault = ({ id, request, fired, left, until }: ActiveFault): Fault => ({
  id,
  request,
  fired,
  ...(left !== undefined && { left }),
  ...(until !== undefined && { until })
})
