/** The tools on standard input and output, for an agent that starts this process itself. */
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import { Effect, Runtime } from "effect"
import { type ServerOptions, toolServer } from "./server.ts"

/** Serves until the other side closes its end. */
export const serveOnStdio = <R>(options: Omit<ServerOptions<R>, "runtime">): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R>()
    yield* Effect.async<void>((resume) => {
      const connection = serveStdio(() => toolServer({ ...options, runtime }), {
        transport: new Transport(() => resume(Effect.void)),
        onerror: (error) => Runtime.runFork(runtime)(Effect.logWarning("A message could not be handled", error))
      })
      return Effect.promise(() => connection.close())
    })
  })

// ---- helpers ----

/** The SDK's own keeps it to itself when it is closed. */
class Transport extends StdioServerTransport {
  private readonly closed: () => void

  constructor(closed: () => void) {
    super()
    this.closed = closed
  }

  override async close(): Promise<void> {
    await super.close()
    this.closed()
  }
}
