/** What can be made to go wrong, and how often it has. */
import { Either, ParseResult, Schema } from "effect"
import { ENDPOINTS, isEndpointOf, SimulatedPlatform } from "./endpoints.ts"

const Amount = Schema.Int.pipe(Schema.between(0, 1_000_000_000))
const field = <A>(schema: Schema.Schema<A>, fallback: A) => Schema.optionalWith(schema, { default: () => fallback })

/** How often, or for how long; without either: once, or for a lasting kind until it is cleared. */
const scope = {
  platform: SimulatedPlatform,
  endpoint: Schema.optionalWith(Schema.String, { exact: true }),
  count: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 1_000_000_000)), { exact: true }),
  seconds: Schema.optionalWith(Schema.Number.pipe(Schema.between(0, 1_000_000_000)), { exact: true })
}

const kind = <K extends string, F extends Schema.Struct.Fields>(name: K, fields: F) =>
  Schema.Struct({ kind: Schema.Literal(name), ...scope, ...fields })

const DISCONNECT_TYPES = [
  "OperationalDisconnect",
  "UpstreamOperationalDisconnect",
  "ForceDisconnect",
  "UpstreamUncleanDisconnect",
  "SlowReader",
  "InternalError",
  "ClientApplicationStateDegraded",
  "InvalidRules"
] as const
export type DisconnectType = (typeof DISCONNECT_TYPES)[number]

export const FaultRequest = Schema.Union(
  kind("refuse", {}),
  kind("rate-limit", { headers: field(Schema.Boolean, true), reset_seconds: field(Amount, 60) }),
  kind("payment-required", {}),
  kind("server-error", { status: field(Schema.Int.pipe(Schema.between(500, 599)), 503) }),
  kind("torn-line", {}),
  kind("half-utf8", {}),
  kind("cut", {}),
  kind("slow", { bytes: field(Amount, 1), millis: field(Amount, 20) }),
  kind("duplicate", {}),
  kind("stall", {
    keep_alives: field(Schema.Boolean, true),
    stall_seconds: Schema.optionalWith(Amount, { exact: true })
  }),
  kind("disconnect", { disconnect_type: field(Schema.Literal(...DISCONNECT_TYPES), "OperationalDisconnect") }),
  kind("stream-error", { message: field(Schema.String, "Internal error") }),
  kind("close", {}),
  kind("drop-rules", {}),
  kind("lower-caps", {
    rules: Schema.optionalWith(Amount, { exact: true }),
    connections: Schema.optionalWith(Amount, { exact: true })
  }),
  kind("clock-skew", { skew_seconds: Schema.Number.pipe(Schema.between(-1_000_000_000, 1_000_000_000)) }),
  kind("hold-slot", { hold_seconds: field(Amount, 900) })
)
export type FaultRequest = typeof FaultRequest.Type
export type FaultKind = FaultRequest["kind"]
export type FaultOf<K extends FaultKind> = Extract<FaultRequest, { readonly kind: K }>

export interface Fault {
  readonly id: string
  readonly request: FaultRequest
  readonly fired: number
  /** How often it will still fire; absent: no end. */
  readonly left?: number
  /** When it ends by itself, in milliseconds. */
  readonly until?: number
}

export const FAULTS: Readonly<Record<FaultKind, string>> = {
  refuse: "Close the connection before a byte of the answer",
  "rate-limit": "429; headers: false leaves out what tells when it ends; reset_seconds",
  "payment-required": "402",
  "server-error": "5xx; status",
  "torn-line": "Send half of a record as if it were whole",
  "half-utf8": "Send a record with a character of which a byte is missing",
  cut: "Drop the connection in the middle of a record",
  slow: "Send a record in pieces; bytes, millis between them",
  duplicate: "Send a record twice",
  stall: "Send no more records on a connection; keep_alives: false sends nothing at all; stall_seconds ends it",
  disconnect: "End the stream with a notice in it (x); disconnect_type",
  "stream-error": "End the stream with an error event (firehose); message",
  close: "End the stream without a word",
  "drop-rules": "Forget all rules, as after 180 days",
  "lower-caps": "Lower caps while it lasts; rules, connections",
  "clock-skew": "Tell wrong times while it lasts; skew_seconds",
  "hold-slot": "Keep the slot of the next client that goes away (x); hold_seconds"
}

export class Faults {
  private readonly active: Array<Active> = []
  private readonly totals = new Map<string, number>()
  private last = 0

  inject(request: FaultRequest, now: number): Fault {
    const isEndless = LASTING.has(request.kind) || request.seconds !== undefined
    const fault: Active = {
      id: `fault-${++this.last}`,
      request,
      fired: 0,
      left: request.count ?? (isEndless ? undefined : 1),
      until: request.seconds === undefined ? undefined : now + request.seconds * 1_000
    }
    this.active.push(fault)
    return shown(fault)
  }

  /** The fault that is due here, if there is one; it has fired once more then. */
  take<K extends FaultKind>(name: K, place: Place): FaultOf<K> | undefined {
    const found = this.due(name, place)
    if (found === undefined) return undefined
    found.fired++
    const key = `${place.platform}.${name}`
    this.totals.set(key, (this.totals.get(key) ?? 0) + 1)
    if (found.left !== undefined && --found.left === 0) this.active.splice(this.active.indexOf(found), 1)
    // `due` has compared the kind, which the compiler cannot follow through the union.
    return found.request as FaultOf<K>
  }

  /** As `take`, but it does not count as fired. */
  peek<K extends FaultKind>(name: K, place: Place): FaultOf<K> | undefined {
    return this.due(name, place)?.request as FaultOf<K> | undefined
  }

  list(now: number): ReadonlyArray<Fault> {
    return this.active.filter((fault) => !isOver(fault, now)).map(shown)
  }

  /** How often each kind has fired, by `platform.kind`; clearing does not change it. */
  get fired(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.totals].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** All of them when no id is given. False: there is no such fault. */
  clear(id?: string): boolean {
    if (id === undefined) {
      this.active.length = 0
      return true
    }
    const at = this.active.findIndex((fault) => fault.id === id)
    if (at >= 0) this.active.splice(at, 1)
    return at >= 0
  }

  private due(name: FaultKind, { platform, endpoint, now }: Place): Active | undefined {
    return this.active.find(
      (fault) =>
        fault.request.kind === name &&
        fault.request.platform === platform &&
        (fault.request.endpoint === undefined || endpoint === undefined || fault.request.endpoint === endpoint) &&
        !isOver(fault, now)
    )
  }
}

export interface Place {
  readonly platform: SimulatedPlatform
  readonly endpoint?: string
  readonly now: number
}

/** Left says in one line what is wrong. */
export const decodeFault = (input: unknown): Either.Either<FaultRequest, string> => {
  const decoded = Schema.decodeUnknownEither(FaultRequest, { onExcessProperty: "error" })(input)
  if (Either.isLeft(decoded)) {
    const issues = ParseResult.ArrayFormatter.formatErrorSync(decoded.left)
    const issue = issues.find(({ path }) => path[0] !== "kind") ?? issues[0]
    return Either.left(`Fault is not valid at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "unknown"}`)
  }
  const { kind, platform, endpoint } = decoded.right
  const only = ONLY_ON[kind]
  if (only !== undefined && only !== platform) return Either.left(`Fault "${kind}" is for platform "${only}" only`)
  if (endpoint !== undefined && !isEndpointOf(platform, endpoint)) {
    return Either.left(
      `Platform "${platform}" has no endpoint "${endpoint}": use one of ${ENDPOINTS[platform].join(", ")}`
    )
  }
  return Either.right(decoded.right)
}

// ---- helpers ----

interface Active {
  readonly id: string
  readonly request: FaultRequest
  fired: number
  left: number | undefined
  readonly until: number | undefined
}

const LASTING: ReadonlySet<FaultKind> = new Set<FaultKind>(["lower-caps", "clock-skew"])

const ONLY_ON: Readonly<Partial<Record<FaultKind, SimulatedPlatform>>> = {
  disconnect: "x",
  "stream-error": "firehose",
  "hold-slot": "x"
}

const isOver = ({ until }: Active, now: number): boolean => until !== undefined && until <= now

const shown = ({ id, request, fired, left, until }: Active): Fault => ({
  id,
  request,
  fired,
  ...(left !== undefined && { left }),
  ...(until !== undefined && { until })
})
