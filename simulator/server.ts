/** Serves the simulator on a port. Uses Node's HTTP server directly to drop a connection at any byte. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Data, Effect, type Scope } from "effect"
import { WebSocketServer } from "ws"
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

/** Serves until the scope closes, which ends open streams. Returns the port. */
export const serve = (
  simulator: Simulator,
  options: { readonly host: string; readonly port: number }
): Effect.Effect<number, SimulatorCannotListen, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(listen(simulator, options), (server) => close(server, simulator)),
    // A server that listens on a TCP port always has an `AddressInfo`.
    (server) => (server.address() as AddressInfo).port
  )

/** Listens to nothing yet. */
export const httpServer = (handler: Simulator["handler"]): Server =>
  createServer({ keepAliveTimeout: IDLE_MILLIS }, (incoming, outgoing) => {
    const controller = new AbortController()
    outgoing.once("close", () => controller.abort())
    respond(handler, incoming, outgoing, controller.signal).catch(() => incoming.socket.destroy())
  })

// ---- helpers ----

const CLOSE_TIMEOUT_MILLIS = 500

/** Node's five seconds end when a busy client sends its next request: it would fail. */
const IDLE_MILLIS = 65_000

const listen = ({ handler, jetstream }: Simulator, { host, port }: { readonly host: string; readonly port: number }) =>
  Effect.flatMap(Effect.clock, (clock) =>
    Effect.async<Server, SimulatorCannotListen>((resume) => {
      const server = httpServer(handler)
      server.on("upgrade", (incoming, socket, head) => {
        const url = new URL(incoming.url ?? "/", `http://${incoming.headers.host}`)
        const refusal = jetstream.check(url)
        if (refusal !== undefined) {
          const { status, body } = refusal
          const length = Buffer.byteLength(body)
          socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`)
          return
        }
        sockets.handleUpgrade(incoming, socket, head, (peer) => {
          const connection = jetstream.open(
            url,
            {
              send: (text) => peer.send(text),
              close: (code, reason) => (code === ABNORMAL ? peer.terminate() : peer.close(code, reason))
            },
            clock.unsafeCurrentTimeMillis()
          )
          peer.on("close", connection.left).on("error", connection.left)
        })
      })
      server.once("error", (cause) => resume(new SimulatorCannotListen({ host, port, cause })))
      server.listen(port, host, () => resume(Effect.succeed(server)))
    })
  )

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })

/** The code of a connection that ends without a closing message. */
const ABNORMAL = 1006

/** Rejects when the connection must be dropped. */
const respond = async (
  handler: Simulator["handler"],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal
): Promise<void> => {
  const { status, headers, body } = await handler(await toRequest(incoming, signal))
  outgoing.writeHead(status, Object.fromEntries(headers))
  if (body === null) {
    outgoing.end()
    return
  }
  // The client must see that the stream is open before the first record.
  outgoing.flushHeaders()
  for await (const chunk of body) await write(outgoing, chunk)
  outgoing.end()
}

const toRequest = async (incoming: IncomingMessage, signal: AbortSignal): Promise<Request> => {
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

/** Waits until the bytes are flushed: bytes before a cut must arrive. */
const write = (outgoing: ServerResponse, chunk: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    outgoing.write(chunk, (error) => (error ? reject(error) : resolve()))
  })

const close = (server: Server, simulator: Simulator) =>
  Effect.zipRight(
    Effect.zipRight(
      Effect.sync(() => simulator.jetstream.close()),
      simulator.control.close
    ),
    Effect.async<void>((resume) => {
      const timeout = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MILLIS)
      server.close(() => {
        clearTimeout(timeout)
        resume(Effect.void)
      })
      server.closeIdleConnections()
    })
  )
