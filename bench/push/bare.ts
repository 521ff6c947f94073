/** Baseline: a server that writes one prepared string to every response. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { matchAt } from "./match.ts"
import type { Broadcaster } from "./server.ts"

export const bare = (): Promise<Broadcaster> =>
  new Promise((resolve) => {
    const open = new Set<ServerResponse>()
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
      response.write(": open\n\n")
      open.add(response)
      response.on("close", () => open.delete(response))
    })
    const publish = async () => {
      const match = matchAt(performance.timeOrigin + performance.now())
      const frame = `id: ${match.id}\nevent: match\ndata: ${JSON.stringify(match)}\n\n`
      for (const response of open) response.write(frame)
    }
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, publish }))
  })
