/** Serves the tools over stdio, for an agent that starts this process. */
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import { Effect, Option, Runtime, Schema } from "effect"
import { type ServerOptions, toolServer } from "./server.ts"

/** Ends when the client closes the connection. */
export const serveOnStdio = <R>(options: Omit<ServerOptions<R>, "runtime">): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    yield* Effect.async<void>((resume) => {
      const connection = serveStdio(() => toolServer({ ...options, runtime }), {
        transport: new ReportingTransport(() => resume(Effect.void)),
        onerror: (error) => Runtime.runFork(runtime)(Effect.logWarning("Cannot handle an MCP message", error))
      })
      return Effect.promise(() => connection.close())
    })
  })

// ---- helpers ----

/** Reports its end, and each line that is not JSON. The SDK's transport does neither. */
class ReportingTransport extends StdioServerTransport {
  private readonly onClosed: () => void
  private readonly decoder = new TextDecoder()
  private unfinishedLine = ""

  constructor(onClosed: () => void) {
    super()
    this.onClosed = onClosed
    const readMessages = this._ondata
    this._ondata = (chunk) => {
      this.reportOtherLines(this.decoder.decode(chunk, { stream: true }))
      readMessages(chunk)
    }
  }

  private reportOtherLines(text: string): void {
    const lines = `${this.unfinishedLine}${text}`.split("\n")
    this.unfinishedLine = lines.pop() ?? ""
    for (const line of lines) {
      if (line.trim() === "" || isJson(line)) continue
      this.onerror?.(new Error(`Expected one JSON message per line, not ${JSON.stringify(line.slice(0, 100))}`))
    }
  }

  override async close(): Promise<void> {
    await super.close()
    this.onClosed()
  }
}

const isJson = (text: string): boolean => Option.isSome(decodeJson(text))

const decodeJson = Schema.decodeOption(Schema.parseJson())
