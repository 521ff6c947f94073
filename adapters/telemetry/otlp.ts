/**
 * Exports spans to an OpenTelemetry collector (OTLP over HTTP, JSON), in the background. Not `@effect/opentelemetry`:
 * with `OtlpSpan.ts` this is about 200 lines on `fetch`, without the OpenTelemetry SDK.
 */
import { Effect, Layer, type Scope, Tracer } from "effect"
import { Entropy } from "../../core/model/Entropy.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { call, Unreachable } from "../http/call.ts"
import { OtlpSpan } from "./OtlpSpan.ts"

export interface Options {
  /** Base URL of the collector, without `/v1/traces`. */
  readonly endpoint: string
  readonly serviceName: string
  readonly version: string
}

/** Closing the scope sends the remaining spans, for at most two seconds. */
export const layerWith = (options: Options): Layer.Layer<never, never, Entropy> =>
  Layer.unwrapScoped(Effect.map(makeTracer(options), Layer.setTracer))

// ---- helpers ----

/** With a full queue new spans are dropped, which bounds the memory. */
const MAX_QUEUED = 8_192
const MAX_BATCH = 512

const SEND_INTERVAL = "1 second"
const SEND_TIMEOUT = "10 seconds"
const FINAL_SEND_TIMEOUT = "2 seconds"

const makeTracer = (options: Options): Effect.Effect<Tracer.Tracer, never, Entropy | Scope.Scope> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy
    const newId = (length: number) => Buffer.from(bytes(length)).toString("hex")
    const queue: Array<OtlpSpan> = []
    let isFailing = false

    const ended = (span: OtlpSpan) => {
      if (!span.sampled) return
      if (queue.length < MAX_QUEUED) queue.push(span)
      else Metrics.exported("dropped", 1)
    }

    const send = (spans: ReadonlyArray<OtlpSpan>) =>
      Effect.gen(function* () {
        const { status } = yield* call(requestOf(options, spans))
        if (status < 200 || status > 299) return yield* new Unreachable({ reason: `it answered with ${status}` })
        Metrics.exported("sent", spans.length)
        if (isFailing) yield* Effect.logInfo("The trace collector accepts spans again")
        isFailing = false
      }).pipe(
        Effect.timeoutFail({
          duration: SEND_TIMEOUT,
          onTimeout: () => new Unreachable({ reason: "it did not answer" })
        }),
        Effect.catchTag("Unreachable", ({ reason }) => {
          Metrics.exported("dropped", spans.length)
          if (isFailing) return Effect.void
          isFailing = true
          return Effect.logWarning(`Cannot send traces to ${options.endpoint}: ${reason}; spans are dropped meanwhile`)
        })
      )

    const sendAll = Effect.gen(function* () {
      while (queue.length > 0) yield* send(queue.splice(0, MAX_BATCH))
    })

    const oneAtATime = Effect.unsafeMakeSemaphore(1).withPermits(1)
    yield* Effect.forkScoped(Effect.forever(Effect.delay(oneAtATime(sendAll), SEND_INTERVAL)))
    // Finalizers run in reverse order: a batch in flight completes before the fiber above is interrupted.
    yield* Effect.addFinalizer(() =>
      Effect.timeoutOption(Effect.interruptible(oneAtATime(sendAll)), FINAL_SEND_TIMEOUT)
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
