/** A proxy before Postgres that drops all notifications, like a connection pooler in transaction mode. */
import { connect, createServer, type Socket } from "node:net"
import { Effect, Redacted } from "effect"

/** The URL of the same database through the proxy, which ends with the scope. */
export const poolerBefore = (url: Redacted.Redacted) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: Redacted.Redacted; readonly close: () => void }>((resume) => {
      const target = new URL(Redacted.value(url))
      const sockets = new Set<Socket>()
      const server = createServer((client) => {
        const database = connect(Number(target.port), target.hostname)
        for (const socket of [client, database]) {
          sockets.add(socket)
          socket.on("error", () => {})
        }
        client.pipe(database)
        forward(database, client)
      })
      const close = () => {
        server.close()
        for (const socket of sockets) socket.destroy()
      }
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const proxied = new URL(target)
        proxied.port = String(typeof address === "object" ? address?.port : address)
        resume(Effect.succeed({ url: Redacted.make(proxied.href), close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

// ---- helpers ----

const NOTIFICATION = "A".charCodeAt(0)

/** A message is a byte for its type, its length in four bytes, which count too, and the content. */
const forward = (from: Socket, to: Socket) => {
  let rest = Buffer.alloc(0)
  from.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5) {
      const size = 1 + rest.readUInt32BE(1)
      if (rest.length < size) break
      if (rest[0] !== NOTIFICATION) to.write(rest.subarray(0, size))
      rest = rest.subarray(size)
    }
  })
  from.on("end", () => to.end())
}
