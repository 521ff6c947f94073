/**
 * One process at a time in a folder. The lock is a listening socket in it: the kernel frees it however its process ends.
 *
 * Each process listens on a name of its own first and looks for others afterwards. Of two that come at the same time at
 * least one sees the other and gives way, however slow the machine is; no two ever stay. A socket that nobody listens on
 * belonged to a process that was killed. It can be removed, because no name is used twice.
 */
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, rmSync } from "node:fs"
import * as net from "node:net"
import { join, relative } from "node:path"
import process from "node:process"
import { Data, Effect, Random, type Scope } from "effect"

/** Another process has the lock. */
export class FolderInUse extends Data.TaggedError("FolderInUse") {}

/** The lock's own path is longer than an address of a socket can be. */
export class PathTooLong extends Data.TaggedError("PathTooLong")<{ readonly limit: number }> {}

/** Whatever the operating system said, with its `code`. */
export class LockFailed extends Data.TaggedError("LockFailed")<{ readonly cause: unknown }> {}

/** Holds the lock of the folder until the scope closes. */
export const acquire = (folder: string): Effect.Effect<void, FolderInUse | PathTooLong | LockFailed, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(hold(folder, ATTEMPTS), (server) => Effect.sync(() => server.close())))

// ---- helpers ----

/** Those that give way to each other try again, each after a while of its own. */
const ATTEMPTS = 8

/** Of `sun_path` on macOS, the shortest of the systems we know; Node cuts a longer one off without a word. */
const LONGEST_ADDRESS = 103

const hold = (folder: string, attempts: number): Effect.Effect<net.Server, FolderInUse | PathTooLong | LockFailed> =>
  Effect.gen(function* () {
    const name = `lock-${randomBytes(4).toString("hex")}`
    const server = yield* listen(yield* addressOf(join(folder, name)))
    const others = yield* Effect.try({ try: () => locksIn(folder), catch: (cause) => new LockFailed({ cause }) })
    const live = yield* Effect.filter(
      others.filter((other) => other !== name),
      (other) => isLive(folder, other)
    )
    // Another process saw our socket in the moment before we listened, and took it for one that was left behind.
    const isRemoved = !existsSync(join(folder, name))
    if (live.length === 0 && !isRemoved) return server
    yield* Effect.sync(() => server.close())
    if (attempts <= 1) return yield* new FolderInUse()
    yield* Effect.sleep(yield* Random.nextIntBetween(20, 200))
    return yield* hold(folder, attempts - 1)
  })

/** `lock` alone is the name that earlier versions used. */
const locksIn = (folder: string) => readdirSync(folder).filter((name) => /^lock(-[0-9a-f]+)?$/.test(name))

const addressOf = (path: string): Effect.Effect<string, PathTooLong> => {
  const fitting = [path, relative(process.cwd(), path)].find((name) => Buffer.byteLength(name) <= LONGEST_ADDRESS)
  return fitting === undefined ? new PathTooLong({ limit: LONGEST_ADDRESS }) : Effect.succeed(fitting)
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

/** Whether a process listens there; the socket of one that was killed is removed. */
const isLive = (folder: string, name: string) =>
  Effect.gen(function* () {
    const path = join(folder, name)
    const error = yield* connect(yield* addressOf(path))
    if (error?.code === "ECONNREFUSED") yield* Effect.sync(() => rmSync(path, { force: true }))
    // Gone in the meantime: its process ended properly. Whatever else goes wrong, somebody may be there.
    return error?.code !== "ECONNREFUSED" && error?.code !== "ENOENT"
  })

/** The kernel answers for a listener that is too busy to. */
const connect = (address: string) =>
  Effect.async<NodeJS.ErrnoException | undefined>((resume) => {
    const socket = net.connect(address)
    socket.on("error", (error) => resume(Effect.succeed(error)))
    socket.on("connect", () => {
      socket.destroy()
      resume(Effect.succeed(undefined))
    })
  })
