/** Handles the requests to `/trpc/`. */
import { fetchRequestHandler } from "@trpc/server/adapters/fetch"
import { Cause, Effect, Either, Option, Predicate } from "effect"
import type { InvalidArgument } from "../../core/model/Errors.ts"
import type { MatchId } from "../../core/model/Ids.ts"
import { admit, authenticateHeader, checkBatch } from "../auth.ts"
import {
  type DoorFailure,
  INVALID_REQUEST,
  methodNotAllowed,
  RequestError,
  rateHeaders,
  toWire,
  type WireError,
  wireOfCause
} from "../errors.ts"
import { parseJson, readText } from "../http/body.ts"
import { pathOf } from "../http/handler.ts"
import { queryOf } from "../http/rest.ts"
import { json, NO_STORE, type Reply } from "../http/route.ts"
import type { Services } from "../operations/Handlers.ts"
import { REPLAYED } from "../operations/idempotency.ts"
import { Splicer } from "../operations/pages.ts"
import { headersOf, toTrpc } from "./errors.ts"
import type { AppRouter } from "./router.ts"

/** Handles `/trpc/*`. Checks the key before it reads the body, and limits the body. */
export const handleTrpc = (
  router: AppRouter,
  request: Request,
  newSecret: () => string
): Effect.Effect<Reply, DoorFailure, Services> =>
  Effect.gen(function* () {
    // `new Request` throws for some other methods.
    if (!METHODS.includes(request.method)) return yield* methodNotAllowed(request.method, "/trpc", METHODS)
    const runtime = yield* Effect.runtime<Services>()
    const key = authenticateHeader(authorizationOf(request))
    let start = Option.none<MatchId>()
    const setStartId = (id: MatchId) => {
      start = Option.some(id)
    }
    let isReplayed = false
    const setReplayed = () => {
      isReplayed = true
    }
    const splicer = new Splicer(newSecret())
    const ready = yield* Effect.either(
      Effect.gen(function* () {
        const admission = yield* admit(key, pathOf(request.url) === ACCOUNT_PATH)
        if (request.body === null) return { ...admission, body: null }
        return { ...admission, body: yield* yield* Effect.promise(() => readText(request)) }
      }).pipe(
        // As a failure, so that tRPC answers it: a subscription then reconnects.
        Effect.catchSomeCause((cause) =>
          Cause.isInterruptedOnly(cause) && !request.signal.aborted
            ? Option.some(new RequestError(wireOfCause(cause, () => false)))
            : Option.none()
        )
      )
    )
    const headers =
      ready._tag === "Left"
        ? toWire(ready.left).headers
        : Option.getOrUndefined(Option.map(ready.right.rate, rateHeaders))
    const size = ready._tag === "Right" ? checkBatch(callsOf(request)) : Either.void
    if (Either.isLeft(size)) return refusedBatch(size.left, headers)
    const body = ready._tag === "Right" ? ready.right.body : null
    const response = yield* Effect.promise(() =>
      fetchRequestHandler({
        endpoint: "/trpc",
        req: new Request(request.url, {
          method: request.method,
          headers: request.headers,
          body,
          signal: request.signal
        }),
        router,
        allowMethodOverride: true,
        createContext: () => {
          if (ready._tag === "Left") throw toTrpc(ready.left)
          const { caller } = ready.right
          const { method } = request
          return { caller, method, runtime, key, calls: { begun: 0 }, setStartId, setReplayed, splicer }
        },
        responseMeta: ({ errors }) => ({ headers: headersOf(errors) })
      })
    )
    const reply = withHeaders(isReplayed ? { ...headers, ...REPLAYED } : headers, response)
    if (Option.isSome(start)) return { ...reply, body: withStartEvent(start.value, response.body) }
    // A stream of answers begins before they are known.
    const isSpliced = splicer.isNeeded || request.headers.get("trpc-accept") === "application/jsonl"
    return isSpliced && response.body !== null ? { ...reply, body: splicer.splice(response.body) } : reply
  })

// ---- helpers ----

const METHODS = ["GET", "POST"]

/** Shows the limits. */
const ACCOUNT_PATH = "/trpc/account.get"

const SUBSCRIPTION_PATHS = ["/trpc/matches.watch", "/trpc/matches.events"]

/** `EventSource` in browsers cannot send headers, so tRPC puts them into the URL of subscriptions. */
const authorizationOf = (request: Request): string | null => {
  const header = request.headers.get("authorization")
  if (header !== null || !SUBSCRIPTION_PATHS.includes(new URL(request.url).pathname)) return header
  const params = parseJson(String(queryOf(request)["connectionParams"] ?? ""))
  if (Either.isLeft(params) || !Predicate.hasProperty(params.right, "authorization")) return null
  const { authorization } = params.right
  return typeof authorization === "string" ? authorization : null
}

/** In a batch, the path has the names of all procedures. */
const callsOf = (request: Request): number =>
  queryOf(request)["batch"] === "1" ? pathOf(request.url).split(/,|%2c/i).length : 1

/** One error for all calls: clients take it as the answer to each. */
const refusedBatch = (refusal: InvalidArgument, headers: WireError["headers"]): Reply => {
  const { status, code, message, details } = toWire(refusal)
  const data = { code, message, details, httpStatus: status }
  const reply = json(status, { error: { code: INVALID_REQUEST, message, data } })
  return { ...reply, headers: { ...reply.headers, ...headers } }
}

/** Prepends an event with the id, under a name that tRPC clients ignore. */
const withStartEvent = (id: MatchId, body: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> => {
  const reader = body?.getReader()
  return new ReadableStream(
    {
      start: (controller) =>
        controller.enqueue(new TextEncoder().encode(`retry: 1000\nid: ${id}\nevent: restore-id\ndata:\n\n`)),
      pull: async (controller) => {
        const next = await reader?.read()
        if (next?.value === undefined) controller.close()
        else controller.enqueue(next.value)
      },
      cancel: (reason) => reader?.cancel(reason)
    },
    { highWaterMark: 0 }
  )
}

const withHeaders = (headers: WireError["headers"], response: Response): Reply => ({
  status: response.status,
  headers: { ...Object.fromEntries(response.headers), ...NO_STORE, ...headers },
  body: response.body
})
