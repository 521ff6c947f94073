/** An Effect span and its OTLP encoding. */
import { Cause, type Context, Exit, Inspectable, Option, type Tracer } from "effect"

type Start = Pick<Tracer.Span, "name" | "parent" | "context" | "links" | "kind"> & { readonly startTime: bigint }

export class OtlpSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly name: string
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly context: Context.Context<never>
  readonly links: ReadonlyArray<Tracer.SpanLink>
  readonly kind: Tracer.SpanKind
  readonly traceId: string
  readonly spanId: string
  /** Inherited from the parent: an unsampled request stays unsampled. */
  readonly sampled: boolean
  readonly attributes = new Map<string, unknown>()
  status: Tracer.SpanStatus
  private readonly ended: (span: OtlpSpan) => void

  /** `newId` returns that many random bytes as hexadecimal digits. */
  constructor(start: Start, newId: (bytes: number) => string, ended: (span: OtlpSpan) => void) {
    const { name, parent, context, links, kind, startTime } = start
    this.name = name
    this.parent = parent
    this.context = context
    this.links = links
    this.kind = kind
    this.traceId = Option.isSome(parent) ? parent.value.traceId : newId(16)
    this.spanId = newId(8)
    this.sampled = Option.isNone(parent) || parent.value.sampled
    this.status = { _tag: "Started", startTime }
    this.ended = ended
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    this.ended(this)
  }

  attribute(key: string, value: unknown): void {
    this.attributes.set(key, value)
  }

  /** Effect turns log lines into span events. They are dropped: the log has them, with the request id. */
  event(): void {}

  addLinks(): void {}

  toWire() {
    const { startTime } = this.status
    const [endTime, exit] =
      this.status._tag === "Ended" ? [this.status.endTime, this.status.exit] : [startTime, Exit.void]
    const { code, message, attributes } = outcomeOf(exit)
    return {
      traceId: this.traceId,
      spanId: this.spanId,
      ...Option.match(this.parent, { onNone: () => ({}), onSome: ({ spanId }) => ({ parentSpanId: spanId }) }),
      name: this.name,
      kind: kinds[this.kind],
      startTimeUnixNano: String(startTime),
      endTimeUnixNano: String(endTime),
      attributes: [...this.attributes, ...attributes].map(([key, value]) => ({ key, value: wireValue(value) })),
      status: { code, ...(message !== undefined && { message: message.slice(0, MAX_MESSAGE_CHARACTERS) }) }
    }
  }
}

// ---- helpers ----

const kinds: Readonly<Record<Tracer.SpanKind, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }

const UNSET = 0
const FAILED = 2

const MAX_MESSAGE_CHARACTERS = 1_000

interface Outcome {
  readonly code: number
  readonly message?: string
  readonly attributes: ReadonlyArray<readonly [string, unknown]>
}

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (Exit.isSuccess(exit)) return { code: UNSET, attributes: [] }
  if (Cause.isInterruptedOnly(exit.cause)) return { code: UNSET, attributes: [["earshot.interrupted", true]] }
  const failure = Cause.failureOption(exit.cause)
  if (Option.isSome(failure)) {
    return { code: FAILED, message: messageOf(failure.value), attributes: [["error.type", typeOf(failure.value)]] }
  }
  // A defect's message may contain secrets: it goes to the log only.
  const [defect] = Cause.defects(exit.cause)
  return { code: FAILED, message: "Unexpected failure", attributes: [["error.type", typeOf(defect)]] }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const typeOf = (error: unknown): string => {
  if (typeof error === "object" && error !== null && "_tag" in error) return String(error._tag)
  return error instanceof Error ? error.name : typeof error
}

/** Secrets are `Redacted` values, which print as "<redacted>". */
const wireValue = (value: unknown) => {
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "number" && !Number.isInteger(value)) return { doubleValue: value }
  if (typeof value === "number" || typeof value === "bigint") return { intValue: String(value) }
  return { stringValue: typeof value === "string" ? value : Inspectable.toStringUnknown(value, 0) }
}
