/** Opens a port on Deno. */
import { Effect, type Scope } from "effect"
import { CannotListen, GRACE_MILLIS, type ServeOptions } from "./server.ts"

/** Serves until the scope closes: then takes no new connection and lets requests in flight finish. Gives the port. */
export const serve = (options: ServeOptions): Effect.Effect<number, CannotListen, Scope.Scope> =>
  Effect.map(Effect.acquireRelease(listen(options), close), (server) => server.addr.port)

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

const listen = ({ host, port, handler }: ServeOptions) =>
  Effect.try({
    try: () => {
      const { Deno } = globalThis as unknown as { readonly Deno: { readonly serve: DenoServe } }
      return Deno.serve({ hostname: host, port, onListen: () => {} }, handler)
    },
    catch: (cause) => new CannotListen({ host, port, cause })
  })

const close = (server: DenoServer) =>
  Effect.promise(() => server.shutdown()).pipe(Effect.timeout(GRACE_MILLIS), Effect.ignore)
