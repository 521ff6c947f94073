/** Opens a port on Deno. */
import { Effect, type Scope } from "effect"
import { CannotListen, GRACE_MILLIS, type ServeOptions, STALLED_MILLIS } from "./server.ts"

/**
 * Serves until the scope closes: then takes no new connection, lets requests in flight finish, and ends event streams,
 * which have no end of their own. Gives the port.
 */
export const serve = (options: ServeOptions): Effect.Effect<number, CannotListen, Scope.Scope> =>
  Effect.map(Effect.acquireRelease(listen(options), close), ({ server }) => server.addr.port)

// ---- helpers ----

/** The part of Deno's own interface that is used here: the compiler reads this file with Node's types. */
interface DenoServer {
  readonly addr: { readonly port: number }
  readonly shutdown: () => Promise<void>
}

type DenoServe = (
  options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
  handler: (request: Request) => Promise<Response>
) => DenoServer

interface Listening {
  readonly server: DenoServer
  /** Ends an event stream, for each that is open. */
  readonly streams: ReadonlySet<() => void>
}

const listen = ({ host, port, handler, stalledMillis = STALLED_MILLIS }: ServeOptions) =>
  Effect.try({
    try: (): Listening => {
      const { Deno } = globalThis as unknown as { readonly Deno: { readonly serve: DenoServe } }
      const streams = new Set<() => void>()
      const server = Deno.serve({ hostname: host, port, onListen: () => {} }, async (request) => {
        const response = await handler(request)
        const isStream = response.headers.get("content-type") === "text/event-stream"
        // To look at the body makes a stream of it, which goes out in chunks, without a Content-Length.
        if (!isStream || response.body === null) return response
        return new Response(endable(response.body, { streams, stalledMillis }), response)
      })
      return { server, streams }
    },
    catch: (cause) => new CannotListen({ host, port, cause })
  })

const close = ({ server, streams }: Listening) =>
  Effect.promise(() => {
    const closed = server.shutdown()
    for (const end of streams) end()
    return closed
  }).pipe(Effect.timeout(GRACE_MILLIS), Effect.ignore)

/** The same body, which can be ended from outside as long as it is in the set, and which ends when nobody takes from it. */
const endable = (
  body: ReadableStream<Uint8Array>,
  { streams, stalledMillis }: { readonly streams: Set<() => void>; readonly stalledMillis: number }
): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  let patience: ReturnType<typeof setTimeout> | undefined
  // What is being read when it ends is not there any more.
  const end = () => void reader.cancel().catch(() => {})
  const forget = () => {
    clearTimeout(patience)
    streams.delete(end)
  }
  streams.add(end)
  return new ReadableStream(
    {
      pull: async (controller) => {
        clearTimeout(patience)
        const { done, value } = await reader.read()
        if (done) {
          forget()
          return controller.close()
        }
        controller.enqueue(value)
        // The connection itself cannot be closed from here; all that feeds it can be let go of.
        patience = setTimeout(() => {
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
