/** Options and errors of the HTTP server, shared by both runtimes. */
import { createServer } from "node:net"
import { Data, Effect } from "effect"
import type { Push } from "../../core/work/push.ts"

export interface Handling {
  readonly handler: (request: Request, push?: Push) => Promise<Response>
  /** The JSON error body for bytes that cannot be parsed as a `Request`. */
  readonly unreadable: string
  /** A client that reads nothing for this long while data waits is disconnected. Default: two minutes. */
  readonly stalledMillis?: number
}

export interface ServeOptions extends Handling {
  readonly host: string
  readonly port: number
}

/** A Unix socket. */
export interface SocketOptions extends Handling {
  readonly path: string
}

export const STALLED_MILLIS = 120_000

/** Time for requests in flight to finish after a stop. */
export const GRACE_MILLIS = 10_000

/** Time for event streams that end by themselves after a stop, such as a call over MCP that reports its progress. */
export const STREAM_GRACE_MILLIS = 250

export class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly host: string
  readonly port: number
  readonly cause: unknown
}> {
  override get message() {
    const code = this.cause instanceof Error && "code" in this.cause ? String(this.cause.code) : String(this.cause)
    return `Cannot listen on ${this.host}:${this.port}: ${reasons[code] ?? code}`
  }
}

/** Fails early, before a slow start, if the port cannot be opened. */
export const checkFree = ({ host, port }: Pick<ServeOptions, "host" | "port">): Effect.Effect<void, CannotListen> =>
  Effect.async((resume) => {
    const server = createServer()
    server.once("error", (cause) => resume(new CannotListen({ host, port, cause })))
    server.listen(port, host, () => server.close(() => resume(Effect.void)))
  })

// ---- helpers ----

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses the port; set PORT to a free one",
  EACCES: "not permitted; set PORT to one above 1023",
  EADDRNOTAVAIL: "this machine has no such address; set HOST to one of its own",
  ENOTFOUND: "the host name is unknown; set HOST to an address of this machine"
}
