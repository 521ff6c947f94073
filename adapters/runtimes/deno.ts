/** HTTP server on Deno. */
import { Effect, type Scope } from "effect"
import {
  CannotListen,
  GRACE_MILLIS,
  type Handling,
  type ServeOptions,
  type SocketOptions,
  STALLED_MILLIS,
  STREAM_GRACE_MILLIS
} from "./server.ts"

/** Serves as `node.ts` does, and returns the port. */
export const serve = (options: ServeOptions): Effect.Effect<number, CannotListen, Scope.Scope> =>
  Effect.acquireRelease(listen({ hostname: options.host, port: options.port }, options), close).pipe(
    Effect.mapError((cause) => new CannotListen({ ...options, cause })),
    Effect.map(({ server }) => server.addr.port)
  )

/** Serves on a Unix socket. Fails with the operating system's error. */
export const serveSocket = (options: SocketOptions): Effect.Effect<void, unknown, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(listen({ path: options.path }, options), close))

// ---- helpers ----

/** The part of Deno's API used here: this file is compiled with Node's types. */
interface DenoServer {
  readonly addr: { readonly port: number }
  readonly shutdown: () => Promise<void>
}

type Address = { readonly hostname: string; readonly port: number } | { readonly path: string }

type DenoServe = (
  options: Address & { readonly onListen: () => void },
  handler: (request: Request) => Promise<Response>
) => DenoServer

interface Listening {
  readonly server: DenoServer
  /** One function per open event stream, which ends it. */
  readonly streams: ReadonlySet<() => void>
}

const listen = (address: Address, { handler, stalledMillis = STALLED_MILLIS }: Handling) =>
  Effect.try({
    try: (): Listening => {
      const { Deno } = globalThis as unknown as { readonly Deno: { readonly serve: DenoServe } }
      const streams = new Set<() => void>()
      const server = Deno.serve({ ...address, onListen: () => {} }, async (request) => {
        const response = await handler(request)
        const isStream = response.headers.get("content-type") === "text/event-stream"
        // Reading `body` makes it a stream, which is sent in chunks without a Content-Length. So check the type first.
        if (!isStream || response.body === null) return response
        return new Response(endable(response.body, { streams, stalledMillis }), response)
      })
      return { server, streams }
    },
    catch: (cause) => cause
  })

const close = ({ server, streams }: Listening) =>
  Effect.promise(() => {
    const streamDeadline = setTimeout(() => {
      for (const end of streams) end()
    }, STREAM_GRACE_MILLIS)
    return server.shutdown().finally(() => clearTimeout(streamDeadline))
  }).pipe(Effect.timeout(GRACE_MILLIS), Effect.ignore)

/** The same body, which ends when its function in `streams` is called or when the client stalls. */
const endable = (
  body: ReadableStream<Uint8Array>,
  { streams, stalledMillis }: { readonly streams: Set<() => void>; readonly stalledMillis: number }
): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  let stallTimer: ReturnType<typeof setTimeout> | undefined
  const end = () => void reader.cancel().catch(() => {})
  const forget = () => {
    clearTimeout(stallTimer)
    streams.delete(end)
  }
  streams.add(end)
  return new ReadableStream(
    {
      pull: async (controller) => {
        clearTimeout(stallTimer)
        const { done, value } = await reader.read()
        if (done) {
          forget()
          return controller.close()
        }
        controller.enqueue(value)
        // Deno offers no way to close the connection here; ending the body at least frees the stream's resources.
        stallTimer = setTimeout(() => {
          forget()
          end()
          controller.close()
        }, stalledMillis)
      },
      cancel: (reason) => {
        forget()
        return reader.cancel(reason)
      }
    },
    { highWaterMark: 0 }
  )
}
