/**
 * Locks a folder for one process. The lock is a listening socket in it, which the kernel closes when the process ends.
 *
 * A process first listens on a socket with a random name, then looks for other sockets. Of two concurrent processes at
 * least one sees the other and backs off, so both never hold the lock. A socket without a listener was left by a killed
 * process. Removing it is safe because names are never reused.
 */
import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, readdirSync, rmSync } from "node:fs"
import * as net from "node:net"
import { join } from "node:path"
import { Data, Effect, Random, type Scope } from "effect"
import { connectionError, type PathTooLong, socketAddress } from "../runtimes/unixSocket.ts"

/** Another process holds the lock. */
export class FolderInUse extends Data.TaggedError("FolderInUse") {}

/** `cause` is the operating system's error, with its `code`. */
export class LockFailed extends Data.TaggedError("LockFailed")<{ readonly cause: unknown }> {}

/** Holds the lock of the folder until the scope closes. */
export const acquire = (folder: string): Effect.Effect<void, FolderInUse | PathTooLong | LockFailed, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(hold(folder, ATTEMPTS), (server) => Effect.sync(() => server.close())))

// ---- helpers ----

/** Processes that back off retry after a random delay. */
const ATTEMPTS = 8

const hold = (folder: string, attempts: number): Effect.Effect<net.Server, FolderInUse | PathTooLong | LockFailed> =>
  Effect.gen(function* () {
    const name = `lock-${randomBytes(4).toString("hex")}`
    const server = yield* listen(yield* socketAddress(join(folder, name)))
    const others = yield* attempt(() => locksIn(folder))
    const live = yield* Effect.filter(
      others.filter((other) => other !== name),
      (other) => isLive(folder, other)
    )
    // Another process may have removed our socket in the moment between its creation and `listen`.
    const isRemoved = !existsSync(join(folder, name))
    if (live.length === 0 && !isRemoved) {
      yield* attempt(() => chmodSync(join(folder, name), 0o600))
      return server
    }
    yield* Effect.sync(() => server.close())
    if (attempts <= 1) return yield* new FolderInUse()
    yield* Effect.sleep(yield* Random.nextIntBetween(20, 200))
    return yield* hold(folder, attempts - 1)
  })

const attempt = <A>(work: () => A) => Effect.try({ try: work, catch: (cause) => new LockFailed({ cause }) })

/** Earlier versions named it `lock`. */
const locksIn = (folder: string) => readdirSync(folder).filter((name) => /^lock(-[0-9a-f]+)?$/.test(name))

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
    const error = yield* connectionError(yield* socketAddress(path))
    if (error?.code === "ECONNREFUSED") yield* Effect.sync(() => rmSync(path, { force: true }))
    // ENOENT: its process has ended meanwhile. After any other error a process may still be there.
    return error?.code !== "ECONNREFUSED" && error?.code !== "ENOENT"
  })
