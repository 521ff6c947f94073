/** The web-standard request handler: routing, authentication, request ids, logs, traces and metrics. */
import {
  Cause,
  Effect,
  Either,
  Exit,
  type Fiber,
  FiberId,
  FiberRef,
  FiberRefs,
  LogLevel,
  Option,
  Runtime,
  Tracer
} from "effect"
import { Actor, type Caller } from "../../core/keys/Key.ts"
import type { Keys } from "../../core/keys/Keys.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { RequestId } from "../../core/model/RequestId.ts"
import type { Quotas, Rate } from "../../core/quotas/Quotas.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { type Push, pushToStream } from "../../core/work/push.ts"
import { currentParty, roomInTurn } from "../../core/work/turns.ts"
import { admit, authenticate, checkScope } from "../auth.ts"
import {
  type DoorFailure,
  internal,
  methodNotAllowed,
  noSuchPath,
  rateHeaders,
  toWire,
  wireOfCause
} from "../errors.ts"
import { errorReply, type KeyedRoute, type Mount, type Reply, type Route } from "./route.ts"
import { requestSpans } from "./tracing.ts"

/** `push` sends the bodies of event streams. Default: as a `ReadableStream`. */
export type Handler = (request: Request, push?: Push) => Promise<Response>

/** The handler never rejects: every failure becomes a response in the documented error shape. */
export const makeHandler = <R>(
  routes: ReadonlyArray<Route<R>>,
  mounts: ReadonlyArray<Mount<R>>
): Effect.Effect<Handler, never, R | Keys | Quotas | Entropy> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R | Keys | Quotas>()
    const { uuid } = yield* Entropy
    const newId = requestIds(uuid())
    const logsRequests = LogLevel.lessThanEqual(yield* FiberRef.get(FiberRef.currentMinimumLogLevel), LogLevel.Debug)
    const openSpan = yield* requestSpans
    const table = routeTable(routes)
    const mountOf = (path: string) => mounts.find(({ prefix }) => path.startsWith(prefix))

    const respond = async (request: Request, path: string, run: Run<R | Keys | Quotas>): Promise<Answer> => {
      const methods = table.get(path)
      if (methods === undefined) {
        const mount = mountOf(path)
        return {
          exit: mount === undefined ? Exit.fail(noSuchPath(path, table.keys())) : await run(mount.handle(request))
        }
      }
      const route = methods.get(request.method === "HEAD" ? "GET" : request.method)
      if (route === undefined) return { exit: Exit.fail(methodNotAllowed(request.method, path, [...methods.keys()])) }
      if ("reply" in route) return { exit: await run(route.reply(request)) }
      if ("readOperators" in route) {
        const work = await route.readOperators(request)
        return { exit: Either.isLeft(work) ? Exit.fail(work.left) : await run(work.right) }
      }
      const { showsLimits = false } = route
      const admission = await run(admit(authenticate(request), showsLimits))
      const { errorHeaders } = route
      if (Exit.isFailure(admission)) return { exit: Exit.failCause(admission.cause), errorHeaders }
      const { caller, rate } = admission.value
      const exit = await runRoute(route, request, caller, run).catch(Exit.die)
      return { exit, rate: Option.getOrUndefined(rate), errorHeaders }
    }

    return async (request, push = pushToStream) => {
      const startedAt = performance.now()
      const room = roomInTurn()
      if (room !== undefined) await room
      const path = pathOf(request.url)
      const route = table.has(path) ? path : mountOf(path)?.prefix
      const id = requestId(request) ?? newId()
      const traced = openSpan?.(request, route, id)
      const run = runner(
        traced === undefined ? runtime : Runtime.provideService(runtime, Tracer.ParentSpan, traced.span),
        request,
        id
      )
      const { exit, rate, errorHeaders } = await respond(request, path, run).catch(
        (defect): Answer => ({ exit: Exit.die(defect) })
      )
      const reply = replyOf(exit, request, errorHeaders)
      if (reply.status === internal.status && Exit.isFailure(exit)) {
        run(Effect.logError(`${request.method} ${path} failed`, exit.cause))
      }
      if (logsRequests) run(Effect.logDebug(`${request.method} ${path} ${reply.status}`))
      traced?.end(reply)
      Metrics.answered({
        route: route ?? "unknown",
        status: reply.status,
        seconds: (performance.now() - startedAt) / 1_000
      })
      return toResponse(request.method === "HEAD" ? { ...reply, body: null } : reply, id, rate, push)
    }
  })

/** The path of an absolute URL. Unlike parsing, it neither fails nor resolves `..`. */
export const pathOf = (url: string): string => {
  const start = url.indexOf("/", url.indexOf("//") + 2)
  if (start < 0) return "/"
  const end = url.indexOf("?", start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

// ---- helpers ----

const routeTable = <R>(routes: ReadonlyArray<Route<R>>) => {
  const table = new Map<string, Map<string, Route<R>>>()
  for (const route of routes) {
    table.set(route.path, (table.get(route.path) ?? new Map()).set(route.method, route))
  }
  return table
}

interface Answer {
  readonly exit: Exit.Exit<Reply, DoorFailure>
  /** Of a request that was counted, even if it failed. */
  readonly rate?: Rate | undefined
  readonly errorHeaders?: KeyedRoute<never>["errorHeaders"] | undefined
}

/** Runs an effect of a request, of `caller` if it is known. Returns no promise if the effect did not suspend. */
type Run<R> = <A, E>(effect: Effect.Effect<A, E, R>, caller?: Caller) => Exit.Exit<A, E> | Promise<Exit.Exit<A, E>>

const runner =
  <R>(runtime: Runtime.Runtime<R>, request: Request, id: string): Run<R> =>
  (effect, caller) => {
    const fiber = Runtime.runFork(runtime, effect, {
      updateRefs: (refs, fiberId) =>
        FiberRefs.updateManyAs(refs, {
          entries: [
            [RequestId, [[fiberId, Option.some(id)]]],
            ...(caller === undefined
              ? []
              : [[Actor, [[fiberId, caller]]] as const, [currentParty, [[fiberId, caller.account]]] as const])
          ]
        })
    })
    // Touching `signal` is expensive: skip it for a fiber that is done.
    return fiber.unsafePoll() ?? exitOf(fiber, request.signal)
  }

const runRoute = async <R>(
  { scope, read }: KeyedRoute<R>,
  request: Request,
  caller: Caller,
  run: Run<R>
): Promise<Exit.Exit<Reply, DoorFailure>> => {
  const allowed = checkScope(caller, scope)
  if (Either.isLeft(allowed)) return Exit.fail(allowed.left)
  // Reads the body outside of Effect, for speed: a suspended fiber costs more than the rest of a request.
  const reading = read(request)
  const work = reading instanceof Promise ? await reading : reading
  return Either.isLeft(work) ? Exit.fail(work.left) : run(work.right(caller), caller)
}

/** Interrupts the fiber when the client disconnects. */
const exitOf = <A, E>(fiber: Fiber.RuntimeFiber<A, E>, signal: AbortSignal): Promise<Exit.Exit<A, E>> =>
  new Promise((resolve) => {
    const interrupt = () => fiber.unsafeInterruptAsFork(FiberId.none)
    fiber.addObserver((exit) => {
      signal.removeEventListener("abort", interrupt)
      resolve(exit)
    })
    if (signal.aborted) interrupt()
    else signal.addEventListener("abort", interrupt, { once: true })
  })

const replyOf = (
  exit: Exit.Exit<Reply, DoorFailure>,
  request: Request,
  errorHeaders: Answer["errorHeaders"]
): Reply => {
  if (Exit.isSuccess(exit)) return exit.value
  const failure = Cause.failureOption(exit.cause)
  if (Option.isSome(failure)) {
    const reply = errorReply(toWire(failure.value))
    return errorHeaders === undefined
      ? reply
      : { ...reply, headers: { ...reply.headers, ...errorHeaders(failure.value) } }
  }
  return errorReply(wireOfCause(exit.cause, () => request.signal.aborted))
}

const toResponse = ({ status, headers, body }: Reply, id: string, rate: Rate | undefined, push: Push): Response => {
  // The object is built in one expression, which is faster than adding to it.
  const head = {
    status,
    headers: {
      ...headers,
      "x-content-type-options": "nosniff",
      "x-request-id": id,
      ...(rate !== undefined && rateHeaders(rate))
    }
  }
  return body !== null && typeof body === "object" && "open" in body ? push(body, head) : new Response(body, head)
}

/** The prefix is unique to the process, the counter within it. */
const requestIds = (process: string): (() => string) => {
  let count = 0
  return () => `${process}-${++count}`
}

/** The caller's id, if it is safe for a log line. */
const requestId = (request: Request): string | undefined => {
  const given = request.headers.get("x-request-id")
  return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : undefined
}
