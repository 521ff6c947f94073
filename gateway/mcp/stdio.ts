/** Serves the tools over stdio, for an agent that starts this process. */
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import { Effect, Runtime } from "effect"
import { type ServerOptions, toolServer } from "./server.ts"

/** Ends when the client closes the connection. */
export const serveOnStdio = <R>(options: Omit<ServerOptions<R>, "runtime">): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    yield* Effect.async<void>((resume) => {
      const connection = serveStdio(() => toolServer({ ...options, runtime }), {
        transport: new ClosingTransport(() => resume(Effect.void)),
        onerror: (error) => Runtime.runFork(runtime)(Effect.logWarning("Cannot handle an MCP message", error))
      })
      return Effect.promise(() => connection.close())
    })
  })

// ---- helpers ----

/** Reports its end, which the SDK's transport does not. */
class ClosingTransport extends StdioServerTransport {
  private readonly onClosed: () => void

  constructor(onClosed: () => void) {
    super()
    this.onClosed = onClosed
  }

  override async close(): Promise<void> {
    await super.close()
    this.onClosed()
  }
}
