/**
 * Locks a folder for one process. The lock is a listening socket in it, which the kernel closes when the process ends.
 *
 * A process first listens on a socket with a random name, then looks for other sockets. Of two concurrent processes at
 * least one sees the other and backs off, so both never hold the lock. A socket without a listener was left by a killed
 * process. Removing it is safe because names are never reused.
 */
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, rmSync } from "node:fs"
import * as net from "node:net"
import { join, relative } from "node:path"
import process from "node:process"
import { Data, Effect, Random, type Scope } from "effect"

/** Another process holds the lock. */
export class FolderInUse extends Data.TaggedError("FolderInUse") {}

/** The path of the lock exceeds the limit for socket addresses. */
export class PathTooLong extends Data.TaggedError("PathTooLong")<{ readonly limit: number }> {}

/** `cause` is the operating system's error, with its `code`. */
export class LockFailed extends Data.TaggedError("LockFailed")<{ readonly cause: unknown }> {}

/** Holds the lock of the folder until the scope closes. */
export const acquire = (folder: string): Effect.Effect<void, FolderInUse | PathTooLong | LockFailed, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(hold(folder, ATTEMPTS), (server) => Effect.sync(() => server.close())))

// ---- helpers ----

/** Processes that back off retry after a random delay. */
const ATTEMPTS = 8

/** In bytes: the length of `sun_path` on macOS, the shortest. Node silently truncates a longer address. */
const MAX_ADDRESS_BYTES = 103

const hold = (folder: string, attempts: number): Effect.Effect<net.Server, FolderInUse | PathTooLong | LockFailed> =>
  Effect.gen(function* () {
    const name = `lock-${randomBytes(4).toString("hex")}`
    const server = yield* listen(yield* addressOf(join(folder, name)))
    const others = yield* Effect.try({ try: () => locksIn(folder), catch: (cause) => new LockFailed({ cause }) })
    const live = yield* Effect.filter(
      others.filter((other) => other !== name),
      (other) => isLive(folder, other)
    )
    // Another process may have removed our socket in the moment between its creation and `listen`.
    const isRemoved = !existsSync(join(folder, name))
    if (live.length === 0 && !isRemoved) return server
    yield* Effect.sync(() => server.close())
    if (attempts <= 1) return yield* new FolderInUse()
    yield* Effect.sleep(yield* Random.nextIntBetween(20, 200))
    return yield* hold(folder, attempts - 1)
  })

/** Earlier versions named it `lock`. */
const locksIn = (folder: string) => readdirSync(folder).filter((name) => /^lock(-[0-9a-f]+)?$/.test(name))

const addressOf = (path: string): Effect.Effect<string, PathTooLong> => {
  const fitting = [path, relative(process.cwd(), path)].find((name) => Buffer.byteLength(name) <= MAX_ADDRESS_BYTES)
  return fitting === undefined ? new PathTooLong({ limit: MAX_ADDRESS_BYTES }) : Effect.succeed(fitting)
}

const listen = (address: string) =>
  Effect.tryPromise({
    try: () =>
      new Promise<net.Server>((resume, fail) => {
        const server = net.createServer((socket) => socket.destroy())
        server.once("error", fail)
        server.listen(address, () => resume(server.unref()))
      }),
    catch: (cause) => new LockFailed({ cause })
  })

/** Whether a process listens on the socket. Removes the socket of a killed process. */
const isLive = (folder: string, name: string) =>
  Effect.gen(function* () {
    const path = join(folder, name)
    const error = yield* connect(yield* addressOf(path))
    if (error?.code === "ECONNREFUSED") yield* Effect.sync(() => rmSync(path, { force: true }))
    // ENOENT: its process has ended meanwhile. After any other error a process may still be there.
    return error?.code !== "ECONNREFUSED" && error?.code !== "ENOENT"
  })

/** The kernel accepts the connection even if the listener is busy. */
const connect = (address: string) =>
  Effect.async<NodeJS.ErrnoException | undefined>((resume) => {
    const socket = net.connect(address)
    socket.on("error", (error) => resume(Effect.succeed(error)))
    socket.on("connect", () => {
      socket.destroy()
      resume(Effect.succeed(undefined))
    })
  })
