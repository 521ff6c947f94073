/** A webhook receiver on a real socket. The test controls its responses. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Reply = (request: Received, response: ServerResponse) => void

/** Runs until the scope closes. `received` holds the requests in order. */
export const startReceiver = (reply: Reply = (_, response) => void response.writeHead(204).end(), host = "127.0.0.1") =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const received: Array<Received> = []
      const server = createServer(async (request, response) => {
        const one = await read(request).catch(() => undefined)
        if (one === undefined) return
        received.push(one)
        reply(one, response)
      })
      await new Promise<void>((resume) => server.listen(0, host, resume))
      const { port } = server.address() as AddressInfo
      return { received, port, url: `http://${host}:${port}`, server }
    }),
    ({ server }) =>
      Effect.promise(
        () =>
          new Promise((resume) => {
            server.close(resume)
            server.closeAllConnections()
          })
      )
  )

// ---- helpers ----

const read = async (request: IncomingMessage): Promise<Received> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  return { path: request.url ?? "", headers, body: Buffer.concat(chunks).toString() }
}
