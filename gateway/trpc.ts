/** The tRPC router, derived from the operations. Clients need only the type `AppRouter`. */
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
import { Cause, Effect, Either, Exit, identity, Option, Predicate, Runtime, Schema, type Types } from "effect"
import { Coverage } from "../core/coverage/Coverage.ts"
import { asActor, type Caller, type Scope } from "../core/keys/Key.ts"
import { Match, Redaction, redactionOf } from "../core/matches/Match.ts"
import { Matches, type MatchUpdate, WatchQuery } from "../core/matches/Matches.ts"
import { InvalidArgument } from "../core/model/Errors.ts"
import { MatchId } from "../core/model/Ids.ts"
import { parseProblem } from "../core/text/json.ts"
import { getAccount } from "./accountOperations.ts"
import { type Authentication, admit, admitCall, authenticateHeader, checkBatch, checkScope } from "./auth.ts"
import { malformed, parseJson, readText } from "./body.ts"
import { type Endpoint, type Operation, perform, type Services } from "./endpoint.ts"
import {
  canceled,
  type DoorFailure,
  INVALID_REQUEST,
  internal,
  methodNotAllowed,
  RequestError,
  rateHeaders,
  toWire,
  unreadableBody,
  type WireError,
  wireOfCause
} from "./errors.ts"
import { explainMatch, ruleHits } from "./explainOperations.ts"
import { pathOf } from "./handler.ts"
import { type KeyField, keyedInput, REPLAYED, splitKey } from "./idempotency.ts"
import { createKey, listKeys, revokeKey, rotateKey } from "./keyOperations.ts"
import { type LiveFailure, type LivePuller, pullLiveUpdates } from "./live.ts"
import {
  checkRule,
  createRule,
  deleteRule,
  listMatches,
  listRules,
  matchHistogram,
  platformStatus,
  platformSyntax,
  waitForMatches
} from "./operations.ts"
import { longAnswer, Splicer } from "./pages.ts"
import type { PlatformSchemas } from "./platformSchemas.ts"
import { queryOf } from "./rest.ts"
import { json, NO_STORE, type Reply } from "./route.ts"
import { getRule, listRuleVersions, pauseRule, reapplyRule, resumeRule, updateRule } from "./ruleOperations.ts"
import { compareRule, dropShadow, promoteRule, shadowRule } from "./shadowOperations.ts"
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
import { decodeErrorOf, type NamedSchemas, zodInput, zodOutput } from "./zodSchemas.ts"

/** Metadata of a procedure: `clientTypes.ts` generates types from it, trpc-to-openapi reads `openapi`. */
export type Meta = {
  readonly input: Schema.Schema.All
  /** For a subscription, the schema of one message. */
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
  readonly caller: Caller
  readonly method: string
  readonly runtime: Runtime.Runtime<Services>
  readonly key: Authentication
  /** Calls of the request that have begun. */
  readonly calls: { begun: number }
  /** Sets the id from which a client resumes if it disconnects before the first match. */
  readonly setStartId: (id: MatchId) => void
  /** Marks the response: it has an answer that was given before. */
  readonly setReplayed: () => void
  readonly splicer: Splicer
}

/** tRPC clients send `lastEventId` when they reconnect. It wins over `cursor`. */
const WatchInput = Schema.Struct({ ...WatchQuery.fields, lastEventId: WatchQuery.fields.cursor })

/** The id is the event id, from which a client resumes. A redaction is a message with the match without its payload. */
const WatchMessage = Schema.Struct({ id: MatchId, data: Match })

/** The events of `GET /matches/stream`. A message with coverage has the id of the message or heartbeat before it. */
const MatchEvent = Schema.Union(
  Schema.Struct({ type: Schema.Literal("match"), match: Match }),
  Schema.Struct({ type: Schema.Literal("match.redacted"), redaction: Redaction }),
  Schema.Struct({ type: Schema.Literal("coverage"), coverage: Coverage })
)
type MatchEvent = typeof MatchEvent.Type
const EventMessage = Schema.Struct({ id: MatchId, data: MatchEvent })

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    sse: {
      ping: { enabled: true, intervalMs: 15_000 },
      // Two missed pings.
      client: { reconnectAfterInactivityMs: 40_000 }
    },
    errorFormatter: ({ shape, error, ctx }) => {
      const { code, message, details } = wireOf(error, ctx)
      return { ...shape, message, data: { ...shape.data, code, message, details } }
    }
  })

/** Fills `named` with the JSON Schemas that the router refers to. */
export const makeRouter = (schemas: PlatformSchemas, named: NamedSchemas = {}) => {
  const { query, mutation, subscription } = procedures(schemas, named)
  return t.router({
    rules: t.router({
      create: mutation(createRule),
      list: query(listRules),
      delete: mutation(deleteRule),
      get: query(getRule),
      update: mutation(updateRule),
      pause: mutation(pauseRule),
      resume: mutation(resumeRule),
      versions: query(listRuleVersions),
      reapply: mutation(reapplyRule),
      shadow: mutation(shadowRule),
      compare: query(compareRule),
      promote: mutation(promoteRule),
      dropShadow: mutation(dropShadow),
      check: query(checkRule),
      hits: query(ruleHits)
    }),
    matches: t.router({
      list: query(listMatches),
      watch: subscription(WatchMessage, matchOf, WATCH_DESCRIPTION),
      events: subscription(EventMessage, eventOf, EVENTS_DESCRIPTION),
      wait: query(waitForMatches),
      histogram: query(matchHistogram),
      explain: query(explainMatch)
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
    }),
    account: t.router({
      get: query(getAccount)
    }),
    keys: t.router({
      create: mutation(createKey),
      list: query(listKeys),
      revoke: mutation(revokeKey),
      rotate: mutation(rotateKey)
    })
  })
}

export type AppRouter = ReturnType<typeof makeRouter>

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

/** `void` lets clients omit an argument without fields, or with optional fields only. */
type InputOf<I> = keyof I extends never ? void : Record<never, never> extends I ? I | void : I

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

/** Checks the limit on requests and the scope before the input. */
const withScope = (needed: Scope) =>
  t.procedure.use(async ({ ctx, next }) => {
    if (ctx.calls.begun++ > 0) await runOrThrow(ctx.runtime, admitCall(ctx.caller.account), undefined)
    const allowed = checkScope(ctx.caller, needed)
    if (Either.isLeft(allowed)) throw toTrpc(allowed.left)
    return next()
  })

const procedures = (schemas: PlatformSchemas, named: NamedSchemas) => {
  const documented = <A, I, O, OI>(
    operation: Operation<A, I, O, OI> | Endpoint<A, I, O, OI>,
    inputOf: (schema: Schema.Schema<A, I>) => Schema.Schema<A, I> = identity
  ) => {
    const [input, output] = [inputOf(schemas(operation.input)), schemas(operation.output)]
    const procedure = withScope(operation.scope).input(zodInput(input, named)).output(zodOutput(output, named))
    if (!("path" in operation)) return procedure.meta({ input, output })
    const { name, method, path, tag, summary, description } = operation
    const openapi = { operationId: name, method, path, tags: [tag], summary, description }
    return procedure.meta({ input, output, description: `${summary}. ${description}`, openapi })
  }

  return {
    // tRPC infers procedure types from parsers, but cannot resolve generic ones: the types are written out.
    query: <A, I, O, OI>(
      operation: Operation<A, I, O, OI>
    ): TRPCQueryProcedure<{ input: InputOf<I>; output: OI; meta: Meta }> =>
      documented(operation).query(resolver(operation)) as never,

    mutation: <A, I, O, OI>(
      operation: Operation<A, I, O, OI>
    ): TRPCMutationProcedure<{ input: InputOf<Types.Simplify<I & KeyField>>; output: OI; meta: Meta }> =>
      documented(operation, keyedInput).mutation(resolver(operation)) as never,

    /** `dataOf`: undefined for an update that is not sent. */
    subscription: <A, I>(
      message: Schema.Schema<A, I>,
      dataOf: DataOf,
      description: string
    ): TRPCSubscriptionProcedure<{
      input: InputOf<typeof WatchInput.Encoded>
      output: AsyncIterable<I, void, unknown>
      meta: Meta
    }> => {
      const [input, output] = [schemas(WatchInput), schemas(message)]
      const procedure = withScope("read").meta({ input, output, description }).input(zodInput(input, named))
      return procedure.subscription((request) => resolveWatch(request, dataOf)) as never
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
    // `input` was decoded with the operation's schema, and for a mutation with the field of the key.
    const effect = Effect.tapErrorCause(
      asActor(ctx.caller, perform(operation, ctx.caller.account, splitKey(input as A))),
      (cause) => (Cause.isDie(cause) ? Effect.logError(`${operation.name} failed`, cause) : Effect.void)
    )
    const { answer, isReplayed } = await runOrThrow(ctx.runtime, effect, signal)
    if (isReplayed) ctx.setReplayed()
    if (operation.pagedField === undefined) return answer
    const long = longAnswer(operation, ctx.caller.account, { input: input as A, answer })
    const further = await runOrThrow(ctx.runtime, long, signal)
    return Option.isNone(further) ? answer : ctx.splicer.mark(further.value)
  }
}

/** Throws a failure as a `TRPCError`. */
async function runOrThrow<A, R>(
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

const WATCH_DESCRIPTION =
  "Receive each match once, as it is stored, in the order of ids. A match that is redacted later comes again, with `redacted` and an empty payload. A client that reconnects resumes after its last message."

const EVENTS_DESCRIPTION =
  "Receive the events of GET /matches/stream: each match once, redactions, and the coverage since the cursor when its gaps change. A client that reconnects resumes after its last message."

type DataOf = (update: MatchUpdate) => Match | MatchEvent | undefined

const matchOf: DataOf = (update) => ("match" in update ? update.match : undefined)

const eventOf = (update: MatchUpdate): MatchEvent | undefined => {
  switch (update._tag) {
    case "Matched":
      return { type: "match", match: update.match }
    case "Redacted":
      return { type: "match.redacted", redaction: redactionOf(update.match) }
    case "CoverageChanged":
      return { type: "coverage", coverage: update.coverage }
    case "Heartbeat":
      return undefined
  }
}

const resolveWatch = async (
  {
    ctx: {
      caller: { account },
      runtime,
      key,
      setStartId
    },
    input,
    signal
  }: {
    ctx: Context
    input: unknown
    signal: AbortSignal | undefined
  },
  dataOf: DataOf
) => {
  // `input` was decoded with the schema.
  const { lastEventId, ...first } = input as typeof WatchInput.Type
  const query = lastEventId === undefined ? first : { ...first, cursor: lastEventId }
  const { cursor, puller } = await runOrThrow(
    runtime,
    Effect.gen(function* () {
      const matches = yield* Matches
      const cursor = yield* matches.startCursor(account, query)
      setStartId(cursor)
      return {
        cursor,
        puller: yield* pullLiveUpdates({ transport: "trpc", account, query: { ...query, cursor }, key })
      }
    }),
    signal
  )
  // Canceling the response would wait for the generator, and so for the next match.
  if (signal?.aborted === true) puller.close()
  else signal?.addEventListener("abort", puller.close, { once: true })
  return trackedUpdates(puller, cursor, dataOf)
}

async function* trackedUpdates(
  puller: LivePuller,
  start: MatchId,
  dataOf: DataOf
): AsyncGenerator<TrackedEnvelope<Match | MatchEvent>, void, unknown> {
  let last = start
  try {
    for (;;) {
      const next = await new Promise<Exit.Exit<ReadonlyArray<MatchUpdate>, LiveFailure>>(puller.pull)
      if (Exit.isFailure(next)) throw errorOf(next.cause)
      for (const update of next.value) {
        if ("id" in update) last = update.id
        const data = dataOf(update)
        if (data !== undefined) yield tracked(last, data)
      }
    }
  } finally {
    puller.close()
  }
}

const errorOf = (cause: Cause.Cause<LiveFailure>): Error => {
  // If the generator returned instead, the client would take the stream as complete and not reconnect.
  if (Cause.isInterruptedOnly(cause)) return new DOMException("The client closed the connection", "AbortError")
  const failure = Cause.failureOption(cause)
  return Option.isSome(failure) ? toTrpc(failure.value) : wireToTrpc(internal)
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

const toTrpc = (failure: DoorFailure): TRPCError =>
  new TRPCError({ code: trpcCode(toWire(failure).status), message: failure.message, cause: failure })

const wireToTrpc = (wire: WireError): TRPCError => toTrpc(new RequestError(wire))

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
function wireOf(error: TRPCError, context?: Context): WireError {
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
const headersOf = (errors: ReadonlyArray<TRPCError>): Record<string, string> => {
  const all = errors.map((error) => wireOf(error).headers ?? {})
  const waits = all.flatMap((headers) => headers["retry-after"] ?? []).map(Number)
  return { ...Object.assign({}, ...all), ...(waits.length > 0 && { "retry-after": String(Math.max(...waits)) }) }
}

const withHeaders = (headers: WireError["headers"], response: Response): Reply => ({
  status: response.status,
  headers: { ...Object.fromEntries(response.headers), ...NO_STORE, ...headers },
  body: response.body
})
