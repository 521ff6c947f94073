/** Opens a port for the simulator. It writes to Node's sockets itself, so that a connection can be dropped at any byte. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Data, Effect, type Scope } from "effect"
import type { Simulator } from "./Simulator.ts"

export class SimulatorCannotListen extends Data.TaggedError("SimulatorCannotListen")<{
  readonly host: string
  readonly port: number
  readonly cause: unknown
}> {
  override get message() {
    const code = this.cause instanceof Error && "code" in this.cause ? String(this.cause.code) : String(this.cause)
    const reason = code === "EADDRINUSE" ? "another program uses the port; choose another with --port" : code
    return `Cannot listen on ${this.host}:${this.port}: ${reason}`
  }
}

/** Serves until the scope closes; open streams are ended then. Gives the port. */
export const serve = (
  simulator: Simulator,
  options: { readonly host: string; readonly port: number }
): Effect.Effect<number, SimulatorCannotListen, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(listen(simulator, options), (server) => close(server, simulator)),
    // A server that listens on a port has an address of this kind.
    (server) => (server.address() as AddressInfo).port
  )

// ---- helpers ----

const GRACE_MILLIS = 500

const listen = ({ handler }: Simulator, { host, port }: { readonly host: string; readonly port: number }) =>
  Effect.async<Server, SimulatorCannotListen>((resume) => {
    const server = createServer((incoming, outgoing) => {
      const leaving = new AbortController()
      outgoing.once("close", () => leaving.abort())
      exchange(handler, incoming, outgoing, leaving.signal).catch(() => incoming.socket.destroy())
    })
    server.once("error", (cause) => resume(new SimulatorCannotListen({ host, port, cause })))
    server.listen(port, host, () => resume(Effect.succeed(server)))
  })

/** Rejects where the connection is to be dropped. */
const exchange = async (
  handler: Simulator["handler"],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal
): Promise<void> => {
  const { status, headers, body } = await handler(await requestOf(incoming, signal))
  outgoing.writeHead(status, Object.fromEntries(headers))
  if (body === null) {
    outgoing.end()
    return
  }
  // A client must see that the stream is open before anything comes on it.
  outgoing.flushHeaders()
  for await (const chunk of body) await written(outgoing, chunk)
  outgoing.end()
}

const requestOf = async (incoming: IncomingMessage, signal: AbortSignal): Promise<Request> => {
  const { method = "GET", url = "/" } = incoming
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value))
  const parts: Array<Uint8Array> = []
  for await (const part of incoming) parts.push(part)
  const hasBody = method !== "GET" && method !== "HEAD"
  return new Request(new URL(url, "http://simulator"), {
    method,
    headers,
    signal,
    ...(hasBody && { body: Buffer.concat(parts) })
  })
}

/** Waits until the system has the bytes: those before a cut must arrive. */
const written = (outgoing: ServerResponse, chunk: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    outgoing.write(chunk, (error) => (error ? reject(error) : resolve()))
  })

const close = (server: Server, simulator: Simulator) =>
  Effect.zipRight(
    simulator.control.hangUp,
    Effect.async<void>((resume) => {
      const deadline = setTimeout(() => server.closeAllConnections(), GRACE_MILLIS)
      server.close(() => {
        clearTimeout(deadline)
        resume(Effect.void)
      })
      server.closeIdleConnections()
    })
  )
