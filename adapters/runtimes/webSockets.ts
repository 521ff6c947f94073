/** WebSocket clients: the package `ws` on Node, which has none of its own before version 22, and Deno's own. */
import { Effect, Layer, Option, Queue, type Scope, Stream } from "effect"
import { Unreachable } from "../http/call.ts"
import { reasonOf } from "../http/reasons.ts"
import { Refused, WebSockets } from "../http/WebSockets.ts"

export const layer: Layer.Layer<WebSockets> = Layer.succeed(
  WebSockets,
  WebSockets.of({ open: (url) => ("Deno" in globalThis ? openWith(url, denoSocket) : openWith(url, nodeSocket)) })
)

// ---- helpers ----

interface Listeners {
  readonly opened: () => void
  readonly message: (data: unknown) => void
  /** The last call. Before `opened`: it could not be opened. */
  readonly ended: (problem: Refused | Unreachable) => void
}

interface Socket {
  readonly close: () => void
  /** Absent: the socket cannot pause. */
  readonly pause?: () => void
  readonly resume?: () => void
}

type Connect = (url: string, listeners: Listeners) => Promise<Socket>

const TIMEOUT_MILLIS = 10_000

/** Far above any record. */
const MAX_BYTES = 4 * 1_024 * 1_024

/** Messages in memory at which the socket pauses, or ends if it cannot. */
const MANY = 2_000
const TOO_MANY = 50_000

const nodeSocket: Connect = async (url, { opened, message, ended }) => {
  const { WebSocket } = await import("ws")
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    handshakeTimeout: TIMEOUT_MILLIS,
    maxPayload: MAX_BYTES,
    headers: { "user-agent": "earshot" }
  })
  socket.on("open", opened)
  socket.on("message", (data, isBinary) => message(isBinary ? undefined : String(data)))
  socket.on("error", (cause) => ended(new Unreachable({ reason: reasonOf(cause) })))
  socket.on("close", (code, reason) => ended(closed(code, reason.toString())))
  socket.on("unexpected-response", (request, response) => {
    let text = ""
    const refuse = () => {
      request.destroy()
      ended(new Refused({ status: response.statusCode ?? 0, text }))
    }
    response.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (text.length > MAX_REFUSAL) refuse()
    })
    response.on("end", refuse).on("error", refuse)
  })
  return { close: () => socket.terminate(), pause: () => socket.pause(), resume: () => socket.resume() }
}

const MAX_REFUSAL = 10_000

const denoSocket: Connect = async (url, { opened, message, ended }) => {
  const socket = new WebSocket(url)
  socket.addEventListener("open", opened)
  socket.addEventListener("message", ({ data }) => message(data))
  socket.addEventListener("error", (event) => {
    const reason = "message" in event ? String(event.message) : "the connection failed"
    const [, status] = /status code:? (\d{3})/i.exec(reason) ?? []
    ended(
      status === undefined
        ? new Unreachable({ reason: reasonOf(new Error(reason)) })
        : new Refused({ status: Number(status), text: "" })
    )
  })
  socket.addEventListener("close", ({ code, reason }) => ended(closed(code, reason)))
  return { close: () => socket.close() }
}

const closed = (code: number, reason: string) =>
  new Unreachable({ reason: `the connection was closed with code ${code}${reason === "" ? "" : `: ${reason}`}` })

const openWith = (
  url: string,
  connect: Connect
): Effect.Effect<Stream.Stream<string, Unreachable>, Refused | Unreachable, Scope.Scope> =>
  Effect.gen(function* () {
    const queue = yield* Effect.acquireRelease(Queue.unbounded<string | Unreachable>(), Queue.shutdown)
    let isOpen = false
    let isPaused = false
    const opening = Effect.async<Socket, Refused | Unreachable>((resume) => {
      let socket: Socket | undefined
      const listeners: Listeners = {
        opened: () => {
          isOpen = true
          if (socket !== undefined) resume(Effect.succeed(socket))
        },
        message: (data) => {
          if (typeof data !== "string") return
          Queue.unsafeOffer(queue, data)
          const count = sizeOf(queue)
          if (count < MANY || isPaused) return
          if (socket?.pause !== undefined) {
            isPaused = true
            socket.pause()
          } else if (count >= TOO_MANY) socket?.close()
        },
        ended: (problem) => {
          if (!isOpen) resume(Effect.fail(problem))
          else if (problem._tag === "Unreachable") Queue.unsafeOffer(queue, problem)
        }
      }
      connect(url, listeners).then(
        (connected) => {
          socket = connected
          if (isOpen) resume(Effect.succeed(connected))
        },
        (cause) => resume(Effect.fail(new Unreachable({ reason: reasonOf(cause) })))
      )
      return Effect.sync(() => socket?.close())
    })
    const socket = yield* Effect.timeoutFail(opening, {
      duration: TIMEOUT_MILLIS,
      onTimeout: () => new Unreachable({ reason: "it did not answer in time" })
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => socket.close()))
    let problem = new Unreachable({ reason: "the connection was cut" })
    const messages = Stream.fromQueue(queue, { maxChunkSize: 500 }).pipe(
      Stream.tap(() =>
        Effect.sync(() => {
          if (!isPaused || sizeOf(queue) >= MANY / 2) return
          isPaused = false
          socket.resume?.()
        })
      ),
      Stream.takeWhile((item): item is string => {
        if (typeof item !== "string") problem = item
        return typeof item === "string"
      })
    )
    return Stream.concat(
      messages,
      Stream.suspend(() => Stream.fail(problem))
    )
  })

const sizeOf = <A>(queue: Queue.Queue<A>): number => Option.getOrElse(queue.unsafeSize(), () => 0)
