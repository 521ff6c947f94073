/** Addresses of Unix sockets in the data folder. */
import * as net from "node:net"
import { relative } from "node:path"
import process from "node:process"
import { Data, Effect } from "effect"

/** The path exceeds the limit for socket addresses. */
export class PathTooLong extends Data.TaggedError("PathTooLong")<{ readonly limit: number }> {
  override get message() {
    return `its path is too long: the limit is ${this.limit} bytes; start the program in a folder closer to it`
  }
}

/** In bytes: the length of `sun_path` on macOS, the shortest. Node silently truncates a longer address. */
const MAX_ADDRESS_BYTES = 103

/** The path itself, or relative to the current folder if that is shorter. */
export const socketAddress = (path: string): Effect.Effect<string, PathTooLong> => {
  const fitting = [path, relative(process.cwd(), path)].find((name) => Buffer.byteLength(name) <= MAX_ADDRESS_BYTES)
  return fitting === undefined ? new PathTooLong({ limit: MAX_ADDRESS_BYTES }) : Effect.succeed(fitting)
}

/** Why no process accepts connections; undefined if one does. The kernel accepts even if the listener is busy. */
export const connectionError = (address: string): Effect.Effect<NodeJS.ErrnoException | undefined> =>
  Effect.async((resume) => {
    const socket = net.connect(address)
    socket.on("error", (error) => resume(Effect.succeed(error)))
    socket.on("connect", () => {
      socket.destroy()
      resume(Effect.succeed(undefined))
    })
  })
