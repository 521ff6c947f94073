/** A TCP proxy between one server and Postgres or the platforms, to cut the server off from it. */
import { connect as connectTo, createServer, type Socket } from "node:net"

/**
 * `refused` closes all connections and refuses new ones, like a firewall that rejects. `silent` holds the bytes back
 * until the proxy is `open` again, like a lost route: nobody notices at once, and late bytes arrive.
 */
export type Mode = "open" | "refused" | "silent"

export interface TcpProxy {
  readonly port: number
  readonly set: (mode: Mode) => void
  /** The GET requests that went through, with the time in milliseconds. */
  readonly requests: ReadonlyArray<{ readonly path: string; readonly at: number }>
  readonly close: () => Promise<void>
}

export const startProxy = async (target: { readonly host: string; readonly port: number }): Promise<TcpProxy> => {
  const sockets = new Set<Socket>()
  const requests: Array<TcpProxy["requests"][number]> = []
  let mode: Mode = "open"

  const forward = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.setNoDelay(true)
    from.on("data", (chunk) => to.write(chunk))
    // The close follows, and it ends the other side.
    from.on("error", () => {})
    from.on("close", () => {
      sockets.delete(from)
      to.destroySoon()
    })
    if (mode === "silent") from.pause()
  }
  const server = createServer((client) => {
    if (mode === "refused") {
      client.on("error", () => {}).resetAndDestroy()
      return
    }
    const upstream = connectTo(target)
    client.on("data", (chunk) => {
      const [, path] = /^GET (\S+)/.exec(chunk.toString("latin1", 0, 100)) ?? []
      if (path !== undefined) requests.push({ path, at: Date.now() })
    })
    forward(client, upstream)
    forward(upstream, client)
  })
  await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error(`The proxy listens on "${address}"`)

  const closeAll = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    port: address.port,
    set: (next) => {
      mode = next
      if (next === "refused") closeAll()
      for (const socket of sockets) next === "silent" ? socket.pause() : socket.resume()
    },
    requests,
    close: () => {
      closeAll()
      return new Promise((resume) => server.close(() => resume()))
    }
  }
}
