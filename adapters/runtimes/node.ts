/** HTTP server on Node. */
import { randomUUID } from "node:crypto"
import { createServer, type Server, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import { Effect, type Scope } from "effect"
import type { Push } from "../../core/work/push.ts"
import {
  CannotListen,
  GRACE_MILLIS,
  type Handling,
  type ServeOptions,
  type SocketOptions,
  STALLED_MILLIS,
  STREAM_GRACE_MILLIS
} from "./server.ts"

/**
 * Serves until the scope closes, and returns the port. On close it refuses new connections, lets requests in flight
 * finish and ends the event streams.
 */
export const serve = (options: ServeOptions): Effect.Effect<number, CannotListen, Scope.Scope> =>
  Effect.acquireRelease(listen({ host: options.host, port: options.port }, options), close).pipe(
    Effect.mapError((cause) => new CannotListen({ ...options, cause })),
    Effect.map(({ server }) => (server.address() as AddressInfo).port)
  )

/** Serves on a Unix socket, in the same way. Fails with the operating system's error. */
export const serveSocket = (options: SocketOptions): Effect.Effect<void, unknown, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(listen({ path: options.path }, options), close))

// ---- helpers ----

/**
 * How long a connection stays open between two requests: longer than load balancers keep theirs, which is often a minute.
 * Otherwise a request can arrive on a connection that is being closed, and fails.
 */
const IDLE_MILLIS = 65_000

interface Listening {
  readonly server: Server
  /** Responses in flight. */
  readonly open: ReadonlySet<ServerResponse>
}

const listen = (
  address: Pick<ServeOptions, "host" | "port"> | Pick<SocketOptions, "path">,
  { handler, unreadable, stalledMillis = STALLED_MILLIS }: Handling
) =>
  Effect.async<Listening, unknown>((resume) => {
    const handle = (request: Request, { outgoing }: { readonly outgoing: unknown }) =>
      handler(request, outgoing instanceof ServerResponse ? pushTo(outgoing) : undefined)
    const listener = getRequestListener(handle, {
      errorHandler: () =>
        new Response(unreadable, {
          status: 400,
          headers: {
            "content-type": "application/json",
            "x-content-type-options": "nosniff",
            connection: "close",
            "x-request-id": randomUUID()
          }
        })
    })
    const server = createServer({ requireHostHeader: false, keepAliveTimeout: IDLE_MILLIS }, listener)
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, unreadable))
    server.once("error", (cause) => resume(Effect.fail(cause)))
    const open = new Set<ServerResponse>()
    server.on("request", (_, response) => {
      open.add(response)
      response.once("close", () => open.delete(response))
      response.setTimeout(stalledMillis, () => {
        // With an empty buffer the client is waiting for us, not stalled.
        if (response.writableLength > 0) response.destroy()
      })
    })
    server.listen(address, () => resume(Effect.succeed({ server, open })))
  })

/** Responses that are written in parts and have an end. */
const lists = new WeakSet<ServerResponse>()

/** Writes to the response directly: a `ReadableStream` would take as much memory as the rest of the connection. */
const pushTo =
  (outgoing: ServerResponse): Push =>
  (body, { status, headers }) => {
    if (outgoing.destroyed) {
      body.cancel()
      return RESPONSE_ALREADY_SENT
    }
    if (headers["content-type"] !== "text/event-stream") lists.add(outgoing)
    outgoing.writeHead(status, headers)
    outgoing.flushHeaders()
    const { resume, close } = body.open({
      // It ends early when the server stops.
      write: (bytes) => !outgoing.writableEnded && outgoing.write(bytes),
      end: () => outgoing.end(),
      abort: () => outgoing.destroy()
    })
    outgoing.on("drain", resume).on("close", close).on("error", close)
    return RESPONSE_ALREADY_SENT
  }

const close = ({ server, open }: Listening) =>
  Effect.async<void>((resume) => {
    const deadline = setTimeout(() => server.closeAllConnections(), GRACE_MILLIS)
    const streamDeadline = setTimeout(() => endStreams(open), STREAM_GRACE_MILLIS)
    server.close(() => {
      clearTimeout(deadline)
      clearTimeout(streamDeadline)
      resume(Effect.void)
    })
    server.closeIdleConnections()
    // A connection whose request finishes from now on must not stay open for another request.
    server.keepAliveTimeout = 1
  })

const endStreams = (open: ReadonlySet<ServerResponse>): void => {
  for (const response of open) {
    // Only event streams and lists in parts are still open after their headers were sent, and the lists may finish.
    const isStream = response.headersSent && !response.writableEnded && !lists.has(response)
    if (isStream && response.writableNeedDrain) response.destroy()
    else if (isStream) response.end()
  }
}

/** Answers bytes that are not HTTP with the usual error body. */
const refuse = (error: NodeJS.ErrnoException, socket: Socket, body: string) => {
  if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy()
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request"
  return socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\nx-request-id: ${randomUUID()}\r\n\r\n${body}`
  )
}
