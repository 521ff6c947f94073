/** The gateway: one web-standard handler for every door, on any runtime. */
import { Cause, Effect, Exit, Runtime } from "effect"
import { Entropy } from "../core/Entropy.ts"
import { RequestId } from "../core/RequestId.ts"
import { canceled, type DoorFailure, internal, methodNotAllowed, noSuchPath, toWire } from "./errors.ts"
import { errorReply, type Mount, type Reply, type Route } from "./route.ts"

export type Handler = (request: Request) => Promise<Response>

/** The handler of these routes. It never rejects: whatever goes wrong is answered in the documented shape. */
export const makeHandler = <R>(
  routes: ReadonlyArray<Route<R>>,
  mounts: ReadonlyArray<Mount<R>>
): Effect.Effect<Handler, never, R | Entropy> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R | Entropy>()
    const { uuid } = yield* Entropy
    const table = routeTable(routes)

    const dispatch = (request: Request, path: string): Effect.Effect<Reply, DoorFailure, R> => {
      const methods = table.get(path)
      if (methods !== undefined) {
        const handle = methods.get(request.method)
        return handle === undefined ? methodNotAllowed(request.method, path, [...methods.keys()]) : handle(request)
      }
      const mount = mounts.find(({ prefix }) => path.startsWith(prefix))
      return mount === undefined ? noSuchPath(path) : mount.handle(request)
    }

    return async (request) => {
      const path = pathOf(request.url)
      const id = requestId(request) ?? uuid()
      const reply = Effect.suspend(() => dispatch(request, path)).pipe(
        Effect.catchAll((failure) => Effect.succeed(errorReply(toWire(failure)))),
        Effect.tap(({ status }) => Effect.logDebug(`${request.method} ${path} ${status}`)),
        Effect.tapErrorCause((cause) => Effect.logError(`${request.method} ${path} failed`, cause))
      )
      const run = Runtime.runPromiseExit(Runtime.provideService(runtime, RequestId, id))
      return toResponse(replyOf(await run(reply, { signal: request.signal })), id)
    }
  })

// ---- helpers ----

const routeTable = <R>(routes: ReadonlyArray<Route<R>>) => {
  const table = new Map<string, Map<string, Route<R>["handle"]>>()
  for (const { path, method, handle } of routes) {
    table.set(path, (table.get(path) ?? new Map()).set(method, handle))
  }
  return table
}

const replyOf = (exit: Exit.Exit<Reply, never>): Reply =>
  Exit.match(exit, {
    onSuccess: (reply) => reply,
    onFailure: (cause) => errorReply(Cause.isInterruptedOnly(cause) ? canceled : internal)
  })

const toResponse = ({ status, headers, body }: Reply, id: string): Response =>
  new Response(body, { status, headers: { ...headers, "x-request-id": id } })

/** A caller's own id is kept when it is short and plain enough for a log line. */
const requestId = (request: Request): string | undefined => {
  const given = request.headers.get("x-request-id")
  return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : undefined
}

/** The path of an absolute URL, without parsing the rest of it. */
const pathOf = (url: string): string => {
  const start = url.indexOf("/", url.indexOf("//") + 2)
  if (start < 0) return "/"
  const end = url.indexOf("?", start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}
