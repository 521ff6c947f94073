/** What both runtimes are asked for when they open a port. */
import { createServer } from "node:net"
import { Data, Effect } from "effect"

export interface ServeOptions {
  readonly host: string
  readonly port: number
  readonly handler: (request: Request) => Promise<Response>
  /** The JSON body for a request so broken that it never becomes a `Request`. */
  readonly unreadable: string
  /** A client that takes nothing for this long of what waits for it is cut off. Two minutes where it is not given. */
  readonly stalledMillis?: number
}

export const STALLED_MILLIS = 120_000

/** How long requests in flight may take once the server is told to stop. */
export const GRACE_MILLIS = 10_000

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

/** Fails when the port cannot be listened on, before anything slow is done for the sake of it. */
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
  ENOTFOUND: "the name is not known; set HOST to an address of this machine"
}
