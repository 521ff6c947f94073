/** One span for each request, where traces are wanted. */
import { type Clock, Context, Effect, Exit, FiberRef, Option, Tracer } from "effect"
import type { Reply } from "./route.ts"

export interface RequestSpan {
  readonly span: Tracer.Span
  readonly end: (reply: Reply) => void
}

/** `route` is a path of ours: what the caller sent may hold anything. */
type Open = (request: Request, route: string | undefined, requestId: string) => RequestSpan

/** Nothing where there are no traces, so that they cost nothing. */
export const requestSpans: Effect.Effect<Open | undefined> = Effect.gen(function* () {
  if (!(yield* FiberRef.get(FiberRef.currentTracerEnabled))) return undefined
  return opener(yield* Effect.tracer, yield* Effect.clock)
})

// ---- helpers ----

const opener =
  (tracer: Tracer.Tracer, clock: Clock.Clock): Open =>
  (request, route, requestId) => {
    const method = METHODS.has(request.method) ? request.method : "_OTHER"
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
        // A mistake of the caller is no failure of the service.
        span.end(clock.unsafeCurrentTimeNanos(), status < 500 ? Exit.void : Exit.fail(`Answered with ${status}`))
      }
    }
  }

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** The caller's span, as W3C Trace Context names it. What is not of that form is as if it were not there. */
const parentOf = (header: string | null): Option.Option<Tracer.ExternalSpan> => {
  const [, traceId, spanId, flags] = TRACE_PARENT.exec(header ?? "") ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return Option.none()
  return Option.some(Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }))
}

/** Later versions may go on behind the flags. All zeros, and version ff, are not valid. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/
