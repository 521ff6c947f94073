/** `WebhookSender` over HTTP. */
import { type ClientRequest, type IncomingMessage, request } from "node:http"
import type { Socket } from "node:net"
import { Effect, Layer, Option } from "effect"
import { type Answer, type Message, WebhookSender } from "../../core/webhooks/WebhookSender.ts"
import { reasonOf } from "../http/reasons.ts"
import type { Addresses } from "./addresses.ts"
import { connect, literalRefusal, NotConnected } from "./connect.ts"
import { signedHeaders } from "./signature.ts"

export const layerWith = (addresses: Addresses): Layer.Layer<WebhookSender> =>
  Layer.succeed(
    WebhookSender,
    WebhookSender.of({
      refusal: (url) => literalRefusal(addresses, new URL(url)),
      send: (message) =>
        Effect.gen(function* () {
          const url = new URL(message.url)
          const response = yield* Effect.flatMap(connect(url, addresses), (socket) => post(socket, url, message)).pipe(
            Effect.timeoutFail({ duration: TIMEOUT, onTimeout: () => new NotConnected({ reason: TOO_SLOW }) })
          )
          const body = yield* bodyStartOf(response)
          return {
            _tag: "Answered" as const,
            status: response.statusCode ?? 0,
            body,
            retryAfter: retryAfterOf(response.headers["retry-after"], message.at)
          }
        }).pipe(
          Effect.catchTag("NotConnected", ({ reason }) => Effect.succeed<Answer>({ _tag: "Unanswered", reason })),
          Effect.scoped
        )
    })
  )

// ---- helpers ----

/** From the DNS lookup to the response headers. */
const TIMEOUT = "15 seconds"
const TOO_SLOW = "Did not answer within 15 seconds"

/** Short: the body is only kept for people to read. */
const BODY_TIMEOUT = "3 seconds"

const MAX_READ_BYTES = 64 * 1024
const MAX_KEPT_CHARACTERS = 500

/** Succeeds when the response headers arrive. */
const post = (socket: Socket, url: URL, message: Message): Effect.Effect<IncomingMessage, NotConnected> =>
  Effect.async((resume) => {
    const fail = (cause: unknown) => resume(new NotConnected({ reason: `No response: ${reasonOf(cause)}` }))
    const sent: ClientRequest = request({
      createConnection: () => socket,
      method: "POST",
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(message.body),
        "user-agent": "Earshot",
        connection: "close",
        ...signedHeaders(message)
      }
    })
    sent.once("response", (response) => resume(Effect.succeed(response)))
    sent.on("error", fail)
    sent.once("close", () => fail("the connection was cut"))
    sent.end(message.body)
  })

/** Never fails: the status alone decides the outcome. */
const bodyStartOf = (response: IncomingMessage): Effect.Effect<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  const read = Effect.async<void>((resume) => {
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size >= MAX_READ_BYTES) resume(Effect.void)
    })
    for (const event of ["end", "error", "close"]) response.on(event, () => resume(Effect.void))
  })
  return Effect.map(Effect.timeoutOption(read, BODY_TIMEOUT), () => {
    response.destroy()
    return new TextDecoder().decode(Buffer.concat(chunks)).slice(0, MAX_KEPT_CHARACTERS).toWellFormed()
  })
}

/** In milliseconds. The header is a number of seconds or an HTTP date. */
const retryAfterOf = (header: string | undefined, now: number): Option.Option<number> => {
  if (header === undefined) return Option.none()
  const millis = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isFinite(millis) && millis > 0 ? Option.some(millis) : Option.none()
}
