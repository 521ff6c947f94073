/** `ClientDocuments` over HTTPS, through the same checks of addresses as webhooks. */
import { type IncomingMessage, request } from "node:http"
import type { Socket } from "node:net"
import { Effect, Layer, Option } from "effect"
import { ClientDocuments, DocumentUnavailable } from "../../core/grants/ClientDocuments.ts"
import type { Addresses } from "../http/addresses.ts"
import { connect, literalRefusal } from "../http/connect.ts"
import { reasonOf } from "../http/reasons.ts"

export const layerWith = (addresses: Addresses): Layer.Layer<ClientDocuments> =>
  Layer.succeed(
    ClientDocuments,
    ClientDocuments.of({
      read: (text) =>
        Effect.gen(function* () {
          const url = new URL(text)
          // Nobody but the server's own network could publish such a document.
          const refused = literalRefusal(addresses, url, true)
          if (url.protocol !== "https:" || Option.isSome(refused))
            return yield* unavailable("its address is not public")
          const socket = yield* connect(url, addresses, true)
          const response = yield* get(socket, url)
          if (response.statusCode !== 200) return yield* unavailable(`HTTP ${response.statusCode}`)
          return yield* bodyOf(response)
        }).pipe(
          Effect.timeoutFail({ duration: TIMEOUT, onTimeout: () => unavailable("no answer within 5 seconds") }),
          Effect.catchTag("NotConnected", () => unavailable("it cannot be reached")),
          Effect.scoped
        )
    })
  )

// ---- helpers ----

/** From the DNS lookup to the end of the document. */
const TIMEOUT = "5 seconds"

const MAX_BYTES = 64 * 1024

const unavailable = (reason: string) => new DocumentUnavailable({ reason })

/** Succeeds when the response headers arrive. Redirects are not followed. */
const get = (socket: Socket, url: URL): Effect.Effect<IncomingMessage, DocumentUnavailable> =>
  Effect.async((resume) => {
    const fail = (cause: unknown) => resume(unavailable(reasonOf(cause)))
    const sent = request({
      createConnection: () => socket,
      path: url.pathname + url.search,
      headers: { host: url.host, accept: "application/json", "user-agent": "Earshot", connection: "close" }
    })
    sent.once("response", (response) => resume(Effect.succeed(response)))
    sent.on("error", fail)
    sent.once("close", () => fail("the connection was cut"))
    sent.end()
  })

const bodyOf = (response: IncomingMessage): Effect.Effect<string, DocumentUnavailable> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > MAX_BYTES) resume(unavailable(`it is longer than ${MAX_BYTES} bytes`))
    })
    response.once("end", () => resume(Effect.sync(() => new TextDecoder().decode(Buffer.concat(chunks)))))
    for (const event of ["error", "close"]) response.once(event, () => resume(unavailable("the connection was cut")))
  })
