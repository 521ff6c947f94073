/** Serves the tools over stdio, for an agent that starts this process. */
import { isSpecType, type JSONRPCErrorResponse } from "@modelcontextprotocol/server"
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import { Effect, Option, Predicate, Runtime, Schema } from "effect"
import { type Line, LineSplitter } from "../../core/text/LineSplitter.ts"
import { INVALID_REQUEST, PARSE_ERROR } from "../errors.ts"
import { type ServerOptions, toolServer } from "./server.ts"

/** Ends when the client closes the connection. */
export const serveOnStdio = <R>(options: Omit<ServerOptions<R>, "runtime">): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    yield* Effect.async<void>((resume) => {
      const connection = serveStdio(() => toolServer({ ...options, runtime }), {
        transport: new AnsweringTransport(() => resume(Effect.void)),
        onerror: (error) =>
          Runtime.runFork(runtime)(Effect.logWarning(`Cannot handle an MCP message: ${error.message}`))
      })
      return Effect.promise(() => connection.close())
    })
  })

// ---- helpers ----

/** Reports its end, and answers a line that is not one message. The SDK's transport does neither. */
class AnsweringTransport extends StdioServerTransport {
  private readonly onClosed: () => void
  private readonly lines = new LineSplitter(MAX_LINE_BYTES)

  constructor(onClosed: () => void) {
    super()
    this.onClosed = onClosed
    const readMessages = this._ondata
    this._ondata = (chunk) => {
      for (const line of this.lines.push(chunk)) {
        const refusal = refusalOf(line)
        if (refusal === undefined) readMessages(Buffer.concat([line.bytes, LINE_END]))
        else this.refuse(refusal)
      }
    }
  }

  private refuse(refusal: Refusal): void {
    this.onerror?.(new Error(refusal.error.message))
    // JSON-RPC demands a null for an unknown id, which the SDK's type does not have. A client that is gone reads nothing.
    this.send(refusal as JSONRPCErrorResponse).catch(() => {})
  }

  override async close(): Promise<void> {
    await super.close()
    this.onClosed()
  }
}

/** The limit of the SDK's own buffer. */
const MAX_LINE_BYTES = 10 * 1_024 * 1_024

const LINE_END = Buffer.from("\n")

interface Refusal {
  readonly jsonrpc: "2.0"
  readonly id: string | number | null
  readonly error: { readonly code: number; readonly message: string }
}

/** The answer to a line that is not one message; none to an empty line, which is skipped. */
const refusalOf = ({ bytes, isTooLong }: Line): Refusal | undefined => {
  if (isTooLong) return refusal(INVALID_REQUEST, `Expected a message of at most ${MAX_LINE_BYTES} bytes`)
  const text = new TextDecoder().decode(bytes)
  if (text.trim() === "") return undefined
  const json = decodeJson(text)
  const shown = JSON.stringify(text.slice(0, 100))
  if (Option.isNone(json)) return refusal(PARSE_ERROR, `Expected one JSON message per line, not ${shown}`)
  if (Array.isArray(json.value)) {
    return refusal(
      INVALID_REQUEST,
      "Expected one JSON message per line, not a batch: send each message in its own line"
    )
  }
  return isSpecType.JSONRPCMessage(json.value)
    ? undefined
    : refusal(INVALID_REQUEST, `Expected a message of JSON-RPC 2.0, not ${shown}`, json.value)
}

const refusal = (code: number, message: string, request?: unknown): Refusal => ({
  jsonrpc: "2.0",
  id: Predicate.hasProperty(request, "id") && isId(request.id) ? request.id : null,
  error: { code, message }
})

const isId = Predicate.or(Predicate.isString, Predicate.isNumber)

const decodeJson = Schema.decodeOption(Schema.parseJson())
