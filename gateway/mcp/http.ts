/** `/mcp`: the tools over streamable HTTP, without sessions. */
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServer,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { Effect, Either, Option, Predicate } from "effect"
import type { Issuer } from "../../core/grants/Grants.ts"
import type { Caller } from "../../core/keys/Key.ts"
import type { Language } from "../../core/languages/Language.ts"
import type { InvalidArgument, PermissionDenied } from "../../core/model/Errors.ts"
import { yieldIfTurnIsLong } from "../../core/work/turns.ts"
import { admitCall, checkBatch, checkScope, type ScopeCheck } from "../auth.ts"
import { type DoorFailure, foreignCaller, INVALID_REQUEST, toWire, type WireError } from "../errors.ts"
import { parseJson, readText } from "../http/body.ts"
import { json, NO_STORE, type Reply, type Work } from "../http/route.ts"
import type { Services } from "../operations/Handlers.ts"
import { callAs } from "./calls.ts"
import { eventsAs } from "./eventDoor.ts"
import { type ServerOptions, toolServer } from "./server.ts"
import { toolbox } from "./tools.ts"

export interface HttpOptions extends Pick<ServerOptions<never>, "version" | "newSecret"> {
  readonly languages: ReadonlyArray<Language>
  /** The address that the server listens on; none if it does not listen. */
  readonly host: Option.Option<string>
  /** The right has the address under which clients reach the server. */
  readonly signIn: Either.Either<Issuer, string>
}

export type Reader = (request: Request) => Promise<Either.Either<Work<Services>, DoorFailure>>

export const makeReader = ({ languages, host, signIn, ...rest }: HttpOptions): Reader => {
  const options = { ...rest, languages, toolbox: toolbox(languages) }
  const publicNames = Either.match(signIn, { onLeft: () => [], onRight: ({ issuer }) => [new URL(issuer).hostname] })
  const origins = [...localhostAllowedOrigins(), ...publicNames]
  const hosts = Option.map(Option.filter(host, isLoopback), (host) => [
    ...localhostAllowedHostnames(),
    ...publicNames,
    hostnameOf(host)
  ])
  return async (request) => {
    const foreign = foreignHeader(request, hosts, origins)
    if (Option.isSome(foreign)) return Either.left(foreign.value)
    return Either.map(await readText(request), (text) => {
      const parsed = Either.getRight(parseJson(text))
      const calls = Option.match(parsed, { onNone: () => [], onSome: callsIn })
      const size = checkBatch(calls.length)
      const refused = Either.isLeft(size) ? Effect.succeed(refusedBatch(size.left)) : undefined
      return (caller) => refused ?? respond(options, request, { text, parsed, calls }, caller)
    })
  }
}

// ---- helpers ----

/**
 * Against DNS rebinding: a web page can make the browser send requests to a local server, but under the page's own host
 * and origin. `hosts`: the allowed ones, with any port; none if the server is public, under names that it does not know.
 * `origins`: the names of the allowed ones.
 */
const foreignHeader = (
  { headers }: Request,
  hosts: Option.Option<Array<string>>,
  origins: Array<string>
): Option.Option<DoorFailure> => {
  const [host, origin] = [headers.get("host"), headers.get("origin")]
  if (Option.exists(hosts, (hosts) => !validateHostHeader(host, hosts).ok)) {
    return Option.some(foreignCaller("Host", host))
  }
  return validateOriginHeader(origin, origins).ok ? Option.none() : Option.some(foreignCaller("Origin", origin))
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\.[\d.]+$/.test(host)

const hostnameOf = (host: string): string => (host.includes(":") ? `[${host}]` : host)

/** The requests of a batch; empty if it is not one. Notifications and responses call nothing. */
const callsIn = (messages: unknown): ReadonlyArray<JsonRpcRequest> =>
  Array.isArray(messages) ? messages.filter(isRequest) : []

interface JsonRpcRequest {
  readonly id: unknown
}

const isRequest = (message: unknown): message is JsonRpcRequest =>
  Predicate.hasProperty(message, "method") && Predicate.hasProperty(message, "id")

/** One error for all calls, in the form that clients of the protocol read. */
const refusedBatch = (refusal: InvalidArgument): Reply => {
  const { status, message } = toWire(refusal)
  return json(status, { jsonrpc: "2.0", id: null, error: { code: INVALID_REQUEST, message } })
}

/** Counts each call of a batch as a request. Returns why later ones are refused, by id. */
const refusals = (calls: ReadonlyArray<JsonRpcRequest>, { account }: Caller) =>
  Effect.gen(function* () {
    const refused = new Map<unknown, WireError>()
    // The first one was counted with the HTTP request.
    for (const { id } of calls.slice(1)) {
      const admission = yield* Effect.either(admitCall(account))
      if (Either.isLeft(admission)) refused.set(id, toWire(admission.left))
    }
    return refused
  })

const respond = (
  options: Pick<ServerOptions<never>, "version" | "newSecret" | "toolbox"> & Pick<HttpOptions, "languages">,
  { url, headers, signal }: Request,
  { text, parsed, calls }: Body,
  caller: Caller
): Effect.Effect<Reply, PermissionDenied, Services> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<Services>()
    // The protocol validates all messages without a break.
    yield* yieldIfTurnIsLong
    const denials: Array<PermissionDenied> = []
    const check: ScopeCheck = (needed) =>
      Either.mapLeft(checkScope(caller, needed), (denial) => {
        denials.push(denial)
        return denial
      })
    const authorization = headers.get("authorization")
    const events = eventsAs(caller, { languages: options.languages, authorization, check })
    const refused = yield* refusals(calls, caller)
    const server = toolServer({ ...options, call: callAs(caller, check), runtime, events, refused })
    // What is parsed is not read again.
    const head = new Request(url, { method: "POST", headers, signal, ...(Option.isNone(parsed) && { body: text }) })
    const asked = {
      request: head,
      ...Option.match(parsed, { onNone: () => ({}), onSome: (parsedBody) => ({ parsedBody }) })
    }
    const notifies = text.includes('"progressToken"') || text.includes("events/stream")
    const response = yield* Effect.promise(() => exchange(server, asked, notifies))
    // As an error of HTTP, a client takes it as a reason to ask the person for more.
    const denial = caller.grant === undefined || calls.length > 1 ? undefined : denials.find(isWrite)
    return denial === undefined ? replyOf(response) : yield* denial
  })

/** A client can get no more than this. */
const isWrite = ({ needed }: PermissionDenied): boolean => needed === "write"

interface Body {
  readonly text: string
  /** None if the text is not JSON. */
  readonly parsed: Option.Option<unknown>
  readonly calls: ReadonlyArray<JsonRpcRequest>
}

/** Supports both revisions of the protocol. Responds with JSON, or with a stream if the server may notify meanwhile. */
const exchange = async (
  server: McpServer,
  { request, ...body }: { readonly request: Request; readonly parsedBody?: unknown },
  notifies: boolean
): Promise<Response> => {
  // This handler starts a stream with the first report of progress.
  if (!(await isLegacyRequest(request, body.parsedBody))) {
    return createMcpHandler(() => server, { legacy: "reject" }).fetch(request, body)
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !notifies })
  request.signal.addEventListener("abort", () => void server.close(), { once: true })
  await server.connect(transport)
  const response = await transport.handleRequest(request, body)
  if (notifies && response.body !== null) return new Response(untilClosed(server, response.body), response)
  await server.close()
  return response
}

/** Closes the server, which ends its calls, when the stream ends or the client disconnects. */
const untilClosed = (server: McpServer, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      controller.close()
      await server.close()
    },
    cancel: () => server.close()
  })
}

const replyOf = ({ status, headers, body }: Response): Reply => ({
  status,
  headers: { ...Object.fromEntries(headers), ...NO_STORE },
  body
})
