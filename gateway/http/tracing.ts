/** Opens a server span for each request if tracing is enabled. */
import { type Clock, Context, Effect, Exit, FiberRef, Option, Tracer } from "effect"
import type { Reply } from "./route.ts"

export interface RequestSpan {
  readonly span: Tracer.Span
  readonly end: (reply: Reply) => void
}

/** `route` is a known path, never the caller's text. */
type OpenSpan = (request: Request, route: string | undefined, requestId: string) => RequestSpan

/** Undefined if tracing is disabled. */
export const requestSpans: Effect.Effect<OpenSpan | undefined> = Effect.gen(function* () {
  if (!(yield* FiberRef.get(FiberRef.currentTracerEnabled))) return undefined
  return spanOpener(yield* Effect.tracer, yield* Effect.clock)
})

// ---- helpers ----

const spanOpener =
  (tracer: Tracer.Tracer, clock: Clock.Clock): OpenSpan =>
  (request, route, requestId) => {
    const method = knownMethods.has(request.method) ? request.method : "_OTHER"
    const name = route === undefined ? method : `${method} ${route}`
    const parent = parentOf(request.headers.get("traceparent"))
    const span = tracer.span(name, parent, Context.empty(), [], clock.unsafeCurrentTimeNanos(), "server")
    span.attribute("http.request.method", method)
    if (route !== undefined) span.attribute("http.route", route)
    span.attribute("earshot.request_id", requestId)
    return {
      span,
      end: ({ status }) => {
        span.attribute("http.response.status_code", status)
        // An error of the caller is not a failure of the service.
        span.end(clock.unsafeCurrentTimeNanos(), status < 500 ? Exit.void : Exit.fail(`Answered with ${status}`))
      }
    }
  }

const knownMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** The caller's span in W3C Trace Context. An invalid header is ignored. */
const parentOf = (header: string | null): Option.Option<Tracer.ExternalSpan> => {
  const [, traceId, spanId, flags] = traceParent.exec(header ?? "") ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return Option.none()
  return Option.some(Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }))
}

/** Later versions may append fields. Ids of zeros only and version ff are invalid. */
const traceParent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/
