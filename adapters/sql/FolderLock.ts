/** One process at a time in a folder. The lock is a listening socket: the kernel frees it however its process ends. */
import { randomUUID } from "node:crypto"
import { rmSync } from "node:fs"
import * as net from "node:net"
import { relative } from "node:path"
import { Data, Effect, type Scope } from "effect"

/** Another process has the lock. */
export class FolderInUse extends Data.TaggedError("FolderInUse") {}

/** The lock's own path is longer than an address of a socket can be. */
export class PathTooLong extends Data.TaggedError("PathTooLong")<{ readonly limit: number }> {}

/** Whatever the operating system said, with its `code`. */
export class LockFailed extends Data.TaggedError("LockFailed")<{ readonly cause: unknown }> {}

/** Holds the lock at `path` until the scope closes. */
export const acquire = (path: string): Effect.Effect<void, FolderInUse | PathTooLong | LockFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const address = yield* addressOf(path)
    yield* Effect.acquireRelease(hold(address), (server) => Effect.sync(() => server.close()))
  })

// ---- helpers ----

/** Of `sun_path` on macOS, the shortest of the systems we know; Node cuts a longer one off without a word. */
const LONGEST_ADDRESS = 103

const addressOf = (path: string): Effect.Effect<string, PathTooLong> => {
  const fitting = [path, relative(process.cwd(), path)].find((name) => Buffer.byteLength(name) <= LONGEST_ADDRESS)
  return fitting === undefined ? new PathTooLong({ limit: LONGEST_ADDRESS }) : Effect.succeed(fitting)
}

const hold = (address: string) =>
  Effect.gen(function* () {
    const token = randomUUID()
    const first = yield* listen(address, token)
    if (first !== undefined) return first
    if ((yield* tokenAt(address)) !== undefined) return yield* new FolderInUse()
    // Nobody listens: the last holder was killed and its socket is left behind.
    yield* Effect.sync(() => rmSync(address, { force: true }))
    const server = yield* listen(address, token)
    if (server === undefined) return yield* new FolderInUse()
    // Another process may have come to the same conclusion and removed our socket instead: the last one has it.
    yield* Effect.sleep("200 millis")
    if ((yield* tokenAt(address)) !== token) {
      // Closing a server removes whatever has its name by now, and that is the other's.
      yield* Effect.sync(() => server.unref())
      return yield* new FolderInUse()
    }
    return server
  })

/** Undefined when there is a socket of that name already. */
const listen = (address: string, token: string) =>
  Effect.tryPromise({
    try: () =>
      new Promise<net.Server | undefined>((resume, fail) => {
        const server = net.createServer((socket) => socket.on("error", () => {}).end(token))
        server.once("error", (error: NodeJS.ErrnoException) =>
          error.code === "EADDRINUSE" ? resume(undefined) : fail(error)
        )
        server.listen(address, () => resume(server.unref()))
      }),
    catch: (cause) => new LockFailed({ cause })
  })

/** What the holder of the lock says; undefined when nobody listens. */
const tokenAt = (address: string) =>
  Effect.async<string | undefined>((resume) => {
    let token = ""
    const socket = net.connect(address)
    // A holder that is too busy to answer is a holder.
    socket.setTimeout(2_000, () => socket.destroy())
    socket.on("data", (chunk) => {
      token += chunk.toString()
    })
    let connected = false
    socket.on("connect", () => {
      connected = true
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(connected ? token : undefined)))
  })
