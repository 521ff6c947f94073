/** Spans on their way to an OpenTelemetry collector, as OTLP over HTTP in JSON. Whatever the collector does, nobody waits for it. */
import { Effect, Layer, type Scope, Tracer } from "effect"
import { Entropy } from "../../core/model/Entropy.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { call, Unreachable } from "../http/call.ts"
import { OtlpSpan } from "./OtlpSpan.ts"

export interface Options {
  /** The collector, without the path of its traces. */
  readonly endpoint: string
  readonly serviceName: string
  readonly version: string
}

/** What has not been sent when the scope closes is sent then, if the collector takes it quickly. */
export const layerWith = (options: Options): Layer.Layer<never, never, Entropy> =>
  Layer.unwrapScoped(Effect.map(makeTracer(options), Layer.setTracer))

// ---- helpers ----

/** More than this, and the collector cannot follow: new spans are dropped, so that memory stays bounded. */
const MOST_WAITING = 8_192
const MOST_AT_ONCE = 512

const PAUSE = "1 second"
const PATIENCE = "10 seconds"
const PATIENCE_AT_THE_END = "2 seconds"

const makeTracer = (options: Options): Effect.Effect<Tracer.Tracer, never, Entropy | Scope.Scope> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy
    const newId = (length: number) => Buffer.from(bytes(length)).toString("hex")
    const waiting: Array<OtlpSpan> = []
    let isAway = false

    const ended = (span: OtlpSpan) => {
      if (!span.sampled) return
      if (waiting.length < MOST_WAITING) waiting.push(span)
      else Metrics.exported("dropped", 1)
    }

    const send = (spans: ReadonlyArray<OtlpSpan>) =>
      Effect.gen(function* () {
        const { status } = yield* call(requestOf(options, spans))
        if (status < 200 || status > 299) return yield* new Unreachable({ reason: `it answered with ${status}` })
        Metrics.exported("sent", spans.length)
        if (isAway) yield* Effect.logInfo("The collector of traces takes spans again")
        isAway = false
      }).pipe(
        Effect.timeoutFail({ duration: PATIENCE, onTimeout: () => new Unreachable({ reason: "it did not answer" }) }),
        Effect.catchTag("Unreachable", ({ reason }) => {
          Metrics.exported("dropped", spans.length)
          if (isAway) return Effect.void
          isAway = true
          return Effect.logWarning(
            `Traces cannot be sent to ${options.endpoint}: ${reason}; spans are dropped until it works`
          )
        })
      )

    const sendAll = Effect.gen(function* () {
      while (waiting.length > 0) yield* send(waiting.splice(0, MOST_AT_ONCE))
    })

    const oneAtATime = Effect.unsafeMakeSemaphore(1).withPermits(1)
    yield* Effect.forkScoped(Effect.forever(Effect.delay(oneAtATime(sendAll), PAUSE)))
    // Before the above is interrupted: what is on its way then arrives.
    yield* Effect.addFinalizer(() =>
      Effect.timeoutOption(Effect.interruptible(oneAtATime(sendAll)), PATIENCE_AT_THE_END)
    )
    return Tracer.make({
      span: (name, parent, context, links, startTime, kind) =>
        new OtlpSpan({ name, parent, context, links, startTime, kind }, newId, ended),
      context: (run) => run()
    })
  })

const requestOf = ({ endpoint, serviceName, version }: Options, spans: ReadonlyArray<OtlpSpan>): Request => {
  const resource = {
    attributes: [
      { key: "service.name", value: { stringValue: serviceName } },
      { key: "service.version", value: { stringValue: version } }
    ]
  }
  const scopeSpans = [{ scope: { name: "earshot", version }, spans: spans.map((span) => span.toWire()) }]
  return new Request(`${endpoint.replace(/\/+$/, "")}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] })
  })
}
