/** Errors as tRPC has them, with our three fields. */
import { type TRPC_ERROR_CODE_KEY, TRPCError } from "@trpc/server"
import { Cause, type Effect, Exit, Option, Runtime } from "effect"
import { InvalidArgument } from "../../core/model/Errors.ts"
import { parseProblem } from "../../core/text/json.ts"
import {
  canceled,
  type DoorFailure,
  internal,
  RequestError,
  toWire,
  unreadableBody,
  type WireError,
  wireOfCause,
  wrongContentType
} from "../errors.ts"
import { malformed } from "../http/body.ts"
import type { Context } from "./context.ts"
import { decodeErrorOf } from "./zodSchemas.ts"

/** Throws a failure as a `TRPCError`. */
export async function runOrThrow<A, R>(
  runtime: Runtime.Runtime<R>,
  effect: Effect.Effect<A, DoorFailure, R>,
  signal: AbortSignal | undefined
): Promise<A> {
  const exit = await Runtime.runPromiseExit(runtime)(effect, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  const failure = Cause.failureOption(exit.cause)
  throw Option.isSome(failure)
    ? toTrpc(failure.value)
    : wireToTrpc(wireOfCause(exit.cause, () => signal?.aborted === true))
}

export const toTrpc = (failure: DoorFailure): TRPCError =>
  new TRPCError({ code: trpcCode(toWire(failure).status), message: failure.message, cause: failure })

export const wireToTrpc = (wire: WireError): TRPCError => toTrpc(new RequestError(wire))

const trpcCode = (status: number): TRPC_ERROR_CODE_KEY => trpcCodes[status] ?? "INTERNAL_SERVER_ERROR"

const trpcCodes: Readonly<Record<number, TRPC_ERROR_CODE_KEY>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_SUPPORTED",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  422: "UNPROCESSABLE_CONTENT",
  429: "TOO_MANY_REQUESTS",
  499: "CLIENT_CLOSED_REQUEST",
  503: "SERVICE_UNAVAILABLE"
}

/** Our failures are the cause of the error; tRPC's own errors are mapped to our codes. */
export function wireOf(error: TRPCError, context?: Pick<Context, "method">): WireError {
  const decodeError = decodeErrorOf(error.cause)
  if (decodeError !== undefined) return toWire(decodeError)
  // Only `toTrpc` sets a tagged cause.
  if (error.cause !== undefined && "_tag" in error.cause) return toWire(error.cause as unknown as DoorFailure)
  const details = {}
  switch (error.code) {
    case "NOT_FOUND":
      return { status: 404, code: "not_found", message: error.message, details }
    case "METHOD_NOT_SUPPORTED":
      // A mutation by GET: tRPC accepts both methods for anything else.
      return {
        status: 405,
        code: "unimplemented",
        message: `${error.message}: use POST`,
        details: { allowed: ["POST"] },
        headers: { allow: "POST" }
      }
    case "UNSUPPORTED_MEDIA_TYPE":
      return toWire(wrongContentType(/"(.*?)"?$/.exec(error.message)?.[1] ?? null, ["application/json"]))
    case "CLIENT_CLOSED_REQUEST":
      return canceled
    case "INTERNAL_SERVER_ERROR":
      return internal
    default:
      if (context !== undefined && error.cause instanceof SyntaxError) {
        return toWire(malformedInput(context.method, error.cause))
      }
      return { status: 400, code: "invalid_argument", message: error.message, details }
  }
}

const malformedInput = (method: string, cause: SyntaxError): DoorFailure =>
  method === "GET"
    ? new InvalidArgument({ issues: [{ path: "input", message: `Is not valid JSON: ${parseProblem(cause)}` }] })
    : unreadableBody(malformed(cause))

/** The headers of the errors of all calls, with the longest wait. A streamed batch has none: it begins before them. */
export const headersOf = (errors: ReadonlyArray<TRPCError>): Record<string, string> => {
  const all = errors.map((error) => wireOf(error).headers ?? {})
  const waits = all.flatMap((headers) => headers["retry-after"] ?? []).map(Number)
  return { ...Object.assign({}, ...all), ...(waits.length > 0 && { "retry-after": String(Math.max(...waits)) }) }
}
