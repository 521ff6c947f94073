/** `/mcp`: the tools over streamable HTTP, without sessions. */
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedOrigins,
  type McpServer,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { Effect, Either } from "effect"
import type { Caller } from "../../core/keys/Key.ts"
import type { Language } from "../../core/languages/Language.ts"
import { readText } from "../body.ts"
import type { Services } from "../endpoint.ts"
import type { DoorFailure } from "../errors.ts"
import type { Reply, Work } from "../route.ts"
import { callAs } from "./calls.ts"
import { type ServerOptions, toolServer } from "./server.ts"
import { toolbox } from "./tools.ts"

export interface HttpOptions extends Pick<ServerOptions<never>, "version" | "newSecret"> {
  readonly languages: ReadonlyArray<Language>
}

export type Reader = (request: Request) => Promise<Either.Either<Work<Services>, DoorFailure>>

export const makeReader = ({ languages, ...rest }: HttpOptions): Reader => {
  const options = { ...rest, toolbox: toolbox(languages) }
  return async (request) => {
    const originError = originValidationResponse(request, localhostAllowedOrigins())
    if (originError !== undefined) return Either.right(() => Effect.succeed(replyOf(originError)))
    return Either.map(await readText(request), (text) => (caller) => respond(options, request, text, caller))
  }
}

// ---- helpers ----

const respond = (
  options: Pick<ServerOptions<never>, "version" | "newSecret" | "toolbox">,
  { url, headers, signal }: Request,
  text: string,
  caller: Caller
): Effect.Effect<Reply, never, Services> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<Services>()
    const server = toolServer({ ...options, call: callAs(caller), runtime })
    const copy = new Request(url, { method: "POST", headers, body: text, signal })
    return replyOf(yield* Effect.promise(() => exchange(server, copy)))
  })

/** Supports both revisions of the protocol. Responds with JSON, not with a stream. */
const exchange = async (server: McpServer, request: Request): Promise<Response> => {
  if (!(await isLegacyRequest(request))) return createMcpHandler(() => server, { legacy: "reject" }).fetch(request)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  request.signal.addEventListener("abort", () => void server.close(), { once: true })
  await server.connect(transport)
  const response = await transport.handleRequest(request)
  await server.close()
  return response
}

const replyOf = ({ status, headers, body }: Response): Reply => ({
  status,
  headers: Object.fromEntries(headers),
  body
})
