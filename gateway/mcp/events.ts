/** The methods for events on an MCP server: list, subscribe and unsubscribe, poll, and stream. */
import { type McpServer, ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server"
import { Clock, Effect, Either, Option, Predicate, Schema } from "effect"
import { z } from "zod"
import { platformSchemas } from "../../api/platformSchemas.ts"
import type { Language } from "../../core/languages/Language.ts"
import { type InvalidArgument, ServerStopping } from "../../core/model/Errors.ts"
import { optional } from "../../core/model/optional.ts"
import type { EventName } from "../../core/webhooks/Subscription.ts"
import {
  conflictIn,
  type MatchSelection,
  Milliseconds,
  replayFields,
  SubscribeRequest,
  selectionOf,
  UnsubscribeRequest
} from "../../core/webhooks/Subscriptions.ts"
import { decoder } from "../decode.ts"
import { internal, toWire } from "../errors.ts"
import type { Call, CallError } from "./calls.ts"
import { makeEventData } from "./eventData.ts"
import type { Asked, EventDoor } from "./eventDoor.ts"
import { CODES, invalid, ofCall, toProtocolError, unknownEvent, unsupported } from "./eventErrors.ts"
import { MAX_EVENTS, type Poll, type Polled, type PollServices, poll } from "./eventPolls.ts"
import { eventTypes, isMode } from "./eventTypes.ts"

/** Both places: clients look in one or the other. */
export const EVENT_CAPABILITIES = { events: {}, extensions: { "io.modelcontextprotocol/events": {} } }

export const addEvents = <R>(
  { server }: McpServer,
  door: EventDoor<R>,
  options: {
    readonly call: Call<R>
    readonly newSecret: () => string
    readonly run: <A>(effect: Effect.Effect<A, never, R>, signal: AbortSignal) => Promise<A>
    /** Calls that do not run, by the id of the request. */
    readonly refused: ReadonlyMap<unknown, CallError>
  }
): void => {
  const { run, refused } = options
  const { subscriber } = door
  const types = eventTypes(platformSchemas(door.languages), [
    ...(Option.isSome(subscriber) ? (["webhook"] as const) : []),
    "poll",
    "push"
  ])
  const ask = asking(door.languages)
  const services: PollServices<R> = { ...options, data: makeEventData(door.languages) }

  const answer = (
    method: string,
    handle: (params: Params, context: ServerContext) => Effect.Effect<object, ProtocolError, R>
  ) =>
    server.setRequestHandler(method, { params: z.unknown() }, async (params, context) => {
      const refusal = refused.get(context.mcpReq.id)
      if (refusal !== undefined) throw ofCall(refusal)
      const result = handle(Predicate.isRecord(params) ? params : {}, context).pipe(
        Effect.catchAllDefect((defect) =>
          Effect.zipRight(Effect.logError(`${method} failed`, defect), Effect.fail(ofCall(internal)))
        ),
        Effect.either
      )
      const outcome = await run(result, context.mcpReq.signal)
      if (Either.isLeft(outcome)) throw outcome.left
      return { ...outcome.right }
    })

  const webhooks = (params: Params) => {
    const mode = Predicate.isRecord(params["delivery"]) ? params["delivery"]["mode"] : undefined
    if (isMode(mode) && mode !== "webhook") {
      return Either.left(unsupported(mode, `${mode} needs no subscription: call events/${METHODS[mode]}`))
    }
    return Either.fromOption(subscriber, () =>
      unsupported("webhook", "This connection has no webhooks: call events/poll or events/stream")
    )
  }

  answer("events/list", () => Effect.succeed({ events: types }))

  answer("events/subscribe", (params, context) =>
    Effect.gen(function* () {
      const door = yield* webhooks(params)
      const asked = yield* ask(params)
      const request = yield* decodeSubscribe(
        chosen(params, ["cursor", "maxAgeMs", "ttlMs", "delivery"], ["mode", "url", "secret"])
      )
      const client = clientOf(server.getClientVersion()?.name, context)
      return yield* Effect.mapError(door.subscribe(asked, request, client), toProtocolError)
    })
  )

  answer("events/unsubscribe", (params) =>
    Effect.gen(function* () {
      const door = yield* webhooks(params)
      const asked = yield* ask(params)
      const request = yield* decodeUnsubscribe(chosen(params, ["delivery"], ["mode", "url"]))
      yield* Effect.mapError(door.unsubscribe(asked, request), toProtocolError)
      return {}
    })
  )

  const polled = (wanted: Poll) =>
    wanted.name === "coverage.gap"
      ? Effect.scoped(Effect.zipRight(door.hold, poll(services, wanted)))
      : poll(services, wanted)

  answer("events/poll", (params) =>
    Effect.gen(function* () {
      const wanted = yield* pollOf(yield* ask(params), params)
      const { events, cursor, hasMore, isCut, lost } = yield* Effect.mapError(polled(wanted), ofCall)
      const nextPollMs = hasMore || wanted.timeoutMs > 0 ? LONG_POLL_REST_MILLIS : POLL_REST_MILLIS
      return { events, cursor, truncated: isCut || lost !== "", hasMore, nextPollMs }
    })
  )

  answer("events/stream", (params, context) =>
    Effect.gen(function* () {
      const wanted = yield* pollOf(yield* ask(params), params)
      yield* Effect.scoped(stream(wanted, context.mcpReq))
      return { _meta: {} }
    })
  )

  const stream = (wanted: Poll, { id, notify }: ServerContext["mcpReq"]) =>
    Effect.gen(function* () {
      const tell = (what: string, params: object) =>
        // A client that is gone aborts the request.
        Effect.promise(() =>
          notify({
            method: `notifications/events/${what}`,
            params: { ...params, _meta: { [SUBSCRIPTION_ID]: id } }
          }).catch(() => {})
        )
      if (wanted.name === "coverage.gap") yield* Effect.mapError(door.hold, ofCall)
      const first = { ...wanted, timeoutMs: 0, maxEvents: MAX_EVENTS }
      let page: Polled = yield* Effect.mapError(poll(services, first), ofCall)
      let told = page.lost
      const start = page.events.length === 0 ? page.cursor : Option.getOrElse(wanted.cursor, () => page.cursor)
      yield* tell("active", { cursor: start, truncated: page.isCut || page.lost !== "" })
      let checkedAt = yield* Clock.currentTimeMillis
      while (true) {
        for (const event of page.events) yield* tell("event", event)
        if (page.events.length === 0) yield* tell("heartbeat", { cursor: page.cursor })
        const now = yield* Clock.currentTimeMillis
        if (now - checkedAt >= CHECK_MILLIS) {
          checkedAt = now
          const problem = yield* Effect.flip(door.check).pipe(Effect.option)
          if (Option.isSome(problem) && problem.value.code !== "unavailable") {
            return yield* tell("terminated", { error: { code: CODES.forbidden, message: problem.value.message } })
          }
        }
        const next = yield* Effect.either(
          poll(services, { ...first, cursor: Option.some(page.cursor), timeoutMs: CHECK_MILLIS })
        )
        if (Either.isLeft(next)) {
          const { code, message } = ofCall(next.left)
          if (message === STOPPING) return
          if (code === ProtocolErrorCode.InvalidParams) {
            return yield* tell("terminated", { error: { code: CODES.forbidden, message } })
          }
          yield* tell("error", { error: { code, message } })
          yield* Effect.sleep(ERROR_REST_MILLIS)
          page = { ...page, events: [] }
          continue
        }
        page = next.right
        if (page.isCut || (page.lost !== "" && page.lost !== told)) {
          told = page.lost
          yield* tell("active", { cursor: page.cursor, truncated: true })
        }
      }
    })
}

// ---- helpers ----

type Params = Readonly<Record<string, unknown>>

const METHODS = { poll: "poll", push: "stream" }

const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

const STOPPING = new ServerStopping().message

/** Also between two heartbeats. */
const CHECK_MILLIS = 10_000

const ERROR_REST_MILLIS = 5_000

const POLL_REST_MILLIS = 5_000
const LONG_POLL_REST_MILLIS = 1_000

/** The fields that are known: clients may send others. */
const chosen = (params: Params, fields: ReadonlyArray<string>, delivery: ReadonlyArray<string> = []): Params =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = params[field]
      if (value === undefined) return []
      return [[field, field === "delivery" && Predicate.isRecord(value) ? chosen(value, delivery) : value]]
    })
  )

const withErrors =
  <A>(decode: (data: unknown) => Either.Either<A, InvalidArgument>) =>
  (data: unknown): Either.Either<A, ProtocolError> =>
    Either.mapLeft(decode(data), (error) => ofCall(toWire(error)))

const decodeSubscribe = withErrors(decoder(SubscribeRequest))
const decodeUnsubscribe = withErrors(decoder(UnsubscribeRequest))

const decodePoll = withErrors(
  decoder(
    Schema.Struct({
      ...replayFields,
      timeoutMs: optional(Milliseconds),
      maxEvents: optional(
        Schema.Number.pipe(
          Schema.filter((value) => (Number.isInteger(value) && value > 0) || "Expected a whole number above 0")
        )
      )
    })
  )
)

const asking = (languages: ReadonlyArray<Language>) => {
  const schemas = platformSchemas(languages)
  const decoders = {
    "match.created": decoder(schemas(selectionOf["match.created"])),
    "match.redacted": decoder(schemas(selectionOf["match.redacted"])),
    "coverage.gap": decoder(schemas(selectionOf["coverage.gap"]))
  }
  const isKnown = (name: string): name is EventName => Object.hasOwn(decoders, name)
  return ({ name, arguments: args = {} }: Params): Either.Either<Asked, ProtocolError> => {
    if (typeof name !== "string") {
      return Either.left(invalid("name", `Expected one of ${Object.keys(decoders).join(", ")}`))
    }
    if (!isKnown(name)) return Either.left(unknownEvent(name, Object.keys(decoders)))
    if (!Predicate.isRecord(args)) return Either.left(invalid("arguments", "Expected an object"))
    const decoded: Either.Either<MatchSelection, InvalidArgument> = decoders[name](args)
    return Either.flatMap(Either.mapLeft(decoded, inArguments), (selection) => {
      const problem = conflictIn(selection)
      return problem === undefined
        ? Either.right({ name, selection })
        : Either.left(invalid(problem.path, problem.message))
    })
  }
}

const inArguments = (error: InvalidArgument): ProtocolError => {
  const issues = error.shown.map((issue) => ({
    ...issue,
    path: issue.path === "" ? "arguments" : `arguments.${issue.path}`
  }))
  const [first] = issues
  return first === undefined
    ? ofCall(toWire(error))
    : new ProtocolError(ProtocolErrorCode.InvalidParams, `"${first.path}": ${first.message}`, {
        field: first.path,
        issues
      })
}

/** At most half a minute: a proxy may not wait longer. */
const MAX_TIMEOUT_MILLIS = 30_000

const pollOf = ({ name, selection }: Asked, params: Params): Either.Either<Poll, ProtocolError> => {
  const { filters, name: _, ...rest } = selection
  if (filters !== undefined) {
    return Either.left(
      invalid(
        "arguments.filters",
        "Need webhook delivery, because the rule lives as long as a subscription: create a rule and give its rule_id"
      )
    )
  }
  const asked = decodePoll(chosen(params, ["cursor", "maxAgeMs", "timeoutMs", "maxEvents"]))
  return Either.map(asked, ({ cursor, maxAgeMs, timeoutMs = 0, maxEvents = MAX_EVENTS }) => ({
    name,
    selection: rest,
    cursor: Option.fromNullable(cursor),
    maxAgeMs: maxAgeMs ?? Number.POSITIVE_INFINITY,
    maxEvents: Math.min(maxEvents, MAX_EVENTS),
    timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MILLIS)
  }))
}

const MAX_CLIENT_CHARACTERS = 100

/** Older clients tell it only when they connect, which a server without sessions forgets. */
const clientOf = (name: string | undefined, { http }: ServerContext): string | undefined => {
  const told = name ?? http?.req?.headers.get("user-agent") ?? ""
  const clean = told
    .replace(/[^\x20-\x7e\p{L}\p{N}]/gu, "")
    .trim()
    .slice(0, MAX_CLIENT_CHARACTERS)
    .toWellFormed()
  return clean === "" ? undefined : clean
}
