/** The typed router. Derived from the operations; a client needs only the type `AppRouter`. */
import {
  initTRPC,
  type TRPC_ERROR_CODE_KEY,
  TRPCError,
  type TRPCMutationProcedure,
  type TRPCQueryProcedure,
  type TRPCSubscriptionProcedure,
  type TrackedEnvelope,
  tracked
} from "@trpc/server"
import { fetchRequestHandler } from "@trpc/server/adapters/fetch"
import { Cause, Effect, Either, Exit, Option, Predicate, Runtime, Schema } from "effect"
import type { Keys } from "../core/keys/Keys.ts"
import type { LiveUpdate } from "../core/matches/LiveMatches.ts"
import { Match } from "../core/matches/Match.ts"
import { Matches, WatchQuery } from "../core/matches/Matches.ts"
import { type AccountId, MatchId } from "../core/model/Ids.ts"
import { type Authentication, authenticateBy } from "./auth.ts"
import { parseJson, readText } from "./body.ts"
import { inputCarrier, type NamedSchemas, outputCarrier, refusalOf } from "./carrier.ts"
import type { Endpoint, Operation } from "./endpoint.ts"
import {
  canceled,
  type DoorFailure,
  internal,
  methodNotAllowed,
  RequestError,
  toWire,
  type WireError
} from "./errors.ts"
import { type ListenFailure, listening } from "./live.ts"
import {
  checkRule,
  createRule,
  deleteRule,
  listMatches,
  listRules,
  platformStatus,
  platformSyntax,
  type Services,
  waitForMatches
} from "./operations.ts"
import type { PlatformSchemas } from "./platformSchemas.ts"
import { queryOf } from "./rest.ts"
import type { Reply } from "./route.ts"
import type { Taking } from "./taking.ts"
import {
  createWebhook,
  deleteWebhook,
  enableWebhook,
  listWebhookAttempts,
  listWebhooks,
  replayWebhook,
  rotateWebhookSecret,
  testWebhook
} from "./webhookOperations.ts"

/** What a procedure says of itself: `clientTypes.ts` writes its types from it, trpc-to-openapi reads `openapi`. */
export type Meta = {
  readonly input: Schema.Schema.All
  /** For a subscription: of one message. */
  readonly output: Schema.Schema.All
  readonly description?: string
  readonly openapi?: {
    readonly method: "GET" | "POST"
    readonly path: `/${string}`
    readonly operationId: string
    readonly tags: Array<string>
    readonly summary: string
    readonly description: string
  }
}

interface Context {
  readonly account: AccountId
  readonly runtime: Runtime.Runtime<Services | Keys>
  readonly key: Authentication
  /** Tells the client from where to go on if it is cut off before the first match. */
  readonly beginAt: (id: MatchId) => void
}

/** As for the other live door. `lastEventId` is how tRPC's clients say where they were cut off; it wins over `cursor`. */
const WatchInput = Schema.Struct({ ...WatchQuery.fields, lastEventId: WatchQuery.fields.cursor })

/** What a client receives: a match and its id, from which it is resumed. */
const Watched = Schema.Struct({ id: MatchId, data: Match })

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    sse: {
      ping: { enabled: true, intervalMs: 15_000 },
      // Two pings that did not come.
      client: { reconnectAfterInactivityMs: 40_000 }
    },
    errorFormatter: ({ shape, error }) => {
      const { code, message, details } = wireOf(error)
      return { ...shape, message, data: { ...shape.data, code, message, details } }
    }
  })

/** `named`: the JSON Schemas that the router's carriers refer to. */
export const makeRouter = (schemas: PlatformSchemas, named: NamedSchemas = {}) => {
  const { query, mutation, watch } = procedures(schemas, named)
  return t.router({
    rules: t.router({
      create: mutation(createRule),
      list: query(listRules),
      delete: mutation(deleteRule),
      check: query(checkRule)
    }),
    matches: t.router({
      list: query(listMatches),
      watch: watch(),
      wait: query(waitForMatches)
    }),
    platforms: t.router({
      syntax: query(platformSyntax),
      status: query(platformStatus)
    }),
    webhooks: t.router({
      create: mutation(createWebhook),
      list: query(listWebhooks),
      delete: mutation(deleteWebhook),
      test: mutation(testWebhook),
      rotateSecret: mutation(rotateWebhookSecret),
      enable: mutation(enableWebhook),
      attempts: query(listWebhookAttempts),
      replay: mutation(replayWebhook)
    })
  })
}

export type AppRouter = ReturnType<typeof makeRouter>

/** `/trpc/*`. As on every other path the key is checked before the body is read, and the body has a limit. */
export const answer = (router: AppRouter, request: Request): Effect.Effect<Reply, DoorFailure, Services | Keys> =>
  Effect.gen(function* () {
    // `Request` cannot be built with some of the others.
    if (!METHODS.includes(request.method)) return yield* methodNotAllowed(request.method, "/trpc", METHODS)
    const runtime = yield* Effect.runtime<Services | Keys>()
    const key = authenticateBy(authorizationOf(request))
    let start = Option.none<MatchId>()
    const beginAt = (id: MatchId) => {
      start = Option.some(id)
    }
    const ready = yield* Effect.either(
      Effect.gen(function* () {
        const account = yield* key
        if (request.body === null) return { account, body: null }
        return { account, body: yield* yield* Effect.promise(() => readText(request)) }
      })
    )
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
        maxBatchSize: 20,
        createContext: () => {
          if (ready._tag === "Left") throw toTrpc(ready.left)
          return { account: ready.right.account, runtime, key, beginAt }
        }
      })
    )
    const reply = withHeadersOf(ready._tag === "Left" ? toWire(ready.left) : undefined, response)
    return Option.isNone(start) ? reply : { ...reply, body: beginningAt(start.value, response.body) }
  })

// ---- helpers ----

const METHODS = ["GET", "POST"]

const WATCH_PATH = "/trpc/matches.watch"

/** A browser's `EventSource` sends no headers: tRPC puts what it would send into the address, for subscriptions alone. */
const authorizationOf = (request: Request): string | null => {
  const header = request.headers.get("authorization")
  if (header !== null || new URL(request.url).pathname !== WATCH_PATH) return header
  const params = parseJson(String(queryOf(request)["connectionParams"] ?? ""))
  if (Either.isLeft(params) || !Predicate.hasProperty(params.right, "authorization")) return null
  const { authorization } = params.right
  return typeof authorization === "string" ? authorization : null
}

/** A procedure that takes nothing is called with no argument; one whose fields are all optional may be. */
type InputOf<I> = keyof I extends never ? void : Record<never, never> extends I ? I | void : I

const procedures = (schemas: PlatformSchemas, named: NamedSchemas) => {
  const documented = <A, I, O, OI>(operation: Operation<A, I, O, OI> | Endpoint<A, I, O, OI>) => {
    const [input, output] = [schemas(operation.input), schemas(operation.output)]
    const procedure = t.procedure.input(inputCarrier(input, named)).output(outputCarrier(output, named))
    if (!("path" in operation)) return procedure.meta({ input, output })
    const { name, method, path, tag, summary, description } = operation
    const openapi = { operationId: name, method, path, tags: [tag], summary, description }
    return procedure.meta({ input, output, description: `${summary}. ${description}`, openapi })
  }

  return {
    // tRPC computes its procedure types from the parsers; with generic ones they stay unresolved, so they are stated.
    query: <A, I, O, OI>(
      operation: Operation<A, I, O, OI>
    ): TRPCQueryProcedure<{ input: InputOf<I>; output: OI; meta: Meta }> =>
      documented(operation).query(resolver(operation)) as never,

    mutation: <A, I, O, OI>(
      operation: Operation<A, I, O, OI>
    ): TRPCMutationProcedure<{ input: InputOf<I>; output: OI; meta: Meta }> =>
      documented(operation).mutation(resolver(operation)) as never,

    watch: (): TRPCSubscriptionProcedure<{
      input: InputOf<typeof WatchInput.Encoded>
      output: AsyncIterable<typeof Watched.Encoded, void, unknown>
      meta: Meta
    }> => {
      const [input, output] = [schemas(WatchInput), schemas(Watched)]
      const meta = { input, output, description: WATCH_DESCRIPTION }
      return t.procedure.meta(meta).input(inputCarrier(input, named)).subscription(resolveWatch) as never
    }
  }
}

function resolver<A, I, O, OI>(operation: Operation<A, I, O, OI>) {
  return async ({
    ctx,
    input,
    signal
  }: {
    ctx: Context
    input: unknown
    signal: AbortSignal | undefined
  }): Promise<unknown> => {
    // `input` has been decoded by the operation's own schema.
    const effect = Effect.tapErrorCause(operation.handle(ctx.account, input as A), (cause) =>
      Cause.isDie(cause) ? Effect.logError(`${operation.name} failed`, cause) : Effect.void
    )
    return settled(ctx.runtime, effect, signal)
  }
}

/** What the effect gives, or its failure as tRPC throws it. */
async function settled<A, R>(
  runtime: Runtime.Runtime<R>,
  effect: Effect.Effect<A, DoorFailure, R>,
  signal: AbortSignal | undefined
): Promise<A> {
  const exit = await Runtime.runPromiseExit(runtime)(effect, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  const failure = Cause.failureOption(exit.cause)
  throw Option.isSome(failure)
    ? toTrpc(failure.value)
    : wireToTrpc(Cause.isInterruptedOnly(exit.cause) ? canceled : internal)
}

const WATCH_DESCRIPTION =
  "Receive matches as they are stored: each once, in the order of their ids. A client that is cut off resumes after the last one it saw."

const resolveWatch = async ({
  ctx: { account, runtime, key, beginAt },
  input,
  signal
}: {
  ctx: Context
  input: unknown
  signal: AbortSignal | undefined
}) => {
  // `input` has been decoded by the schema.
  const { lastEventId, ...given } = input as typeof WatchInput.Type
  const query = lastEventId === undefined ? given : { ...given, cursor: lastEventId }
  const taking = await settled(
    runtime,
    Effect.gen(function* () {
      const matches = yield* Matches
      const cursor = yield* matches.startCursor(account, query)
      beginAt(cursor)
      return yield* listening({ door: "trpc", account, query: { ...query, cursor }, key })
    }),
    signal
  )
  // Canceling the response waits for the generator, which waits for the next match.
  signal?.addEventListener("abort", taking.leave, { once: true })
  return watched(taking)
}

async function* watched(
  taking: Taking<ReadonlyArray<LiveUpdate>, ListenFailure>
): AsyncGenerator<TrackedEnvelope<Match>, void, unknown> {
  try {
    for (;;) {
      const next = await taking.next()
      if (Exit.isFailure(next)) throw endOf(next.cause)
      for (const heard of next.value) {
        if (heard._tag === "Matched") yield tracked(heard.match.id, heard.match)
      }
    }
  } finally {
    taking.leave()
  }
}

const endOf = (cause: Cause.Cause<ListenFailure>): Error => {
  // A generator that returned would say that there are no more matches, and the client would not come back.
  if (Cause.isInterruptedOnly(cause)) return new DOMException("The client went away", "AbortError")
  const failure = Cause.failureOption(cause)
  return Option.isSome(failure) ? toTrpc(failure.value) : wireToTrpc(internal)
}

/** With an event in front that carries the id and that no client of tRPC looks at. */
const beginningAt = (id: MatchId, body: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> => {
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

const toTrpc = (failure: DoorFailure): TRPCError =>
  new TRPCError({ code: trpcCode(toWire(failure).status), message: failure.message, cause: failure })

const wireToTrpc = (wire: WireError): TRPCError => toTrpc(new RequestError(wire))

const trpcCode = (status: number): TRPC_ERROR_CODE_KEY => TRPC_CODES[status] ?? "INTERNAL_SERVER_ERROR"

const TRPC_CODES: Readonly<Record<number, TRPC_ERROR_CODE_KEY>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  404: "NOT_FOUND",
  405: "METHOD_NOT_SUPPORTED",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "TOO_MANY_REQUESTS",
  499: "CLIENT_CLOSED_REQUEST",
  503: "SERVICE_UNAVAILABLE"
}

/** Our failures travel as the cause; what tRPC itself refuses is put into our words. */
function wireOf(error: TRPCError): WireError {
  const refusal = refusalOf(error.cause)
  if (refusal !== undefined) return toWire(refusal)
  // Whatever has a tag was put there by `toTrpc`.
  if (error.cause !== undefined && "_tag" in error.cause) return toWire(error.cause as unknown as DoorFailure)
  const details = {}
  switch (error.code) {
    case "NOT_FOUND":
      return { status: 404, code: "not_found", message: error.message, details }
    case "METHOD_NOT_SUPPORTED":
      return { status: 405, code: "unimplemented", message: error.message, details }
    case "CLIENT_CLOSED_REQUEST":
      return canceled
    case "INTERNAL_SERVER_ERROR":
      return internal
    default:
      return { status: 400, code: "invalid_argument", message: error.message, details }
  }
}

const withHeadersOf = (wire: WireError | undefined, answer: Response): Reply => ({
  status: answer.status,
  headers: { ...Object.fromEntries(answer.headers), ...wire?.headers },
  body: answer.body
})
