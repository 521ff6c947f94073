/** `WebhookSender` over HTTP. */
import { type ClientRequest, type IncomingMessage, request } from "node:http"
import type { Socket } from "node:net"
import { Effect, Layer, Option } from "effect"
import { type Answer, type Message, WebhookSender } from "../../core/webhooks/WebhookSender.ts"
import type { Addresses } from "../http/addresses.ts"
import { connect, literalRefusal, NotConnected } from "../http/connect.ts"
import { reasonOf } from "../http/reasons.ts"
import { retryAfterMillis } from "../http/retryAfter.ts"
import { signedHeaders } from "./signature.ts"

export const layerWith = (addresses: Addresses): Layer.Layer<WebhookSender> =>
  Layer.succeed(
    WebhookSender,
    WebhookSender.of({
      refusal: (url, { isSecure } = { isSecure: false }) => literalRefusal(addresses, new URL(url), isSecure),
      send: (message) =>
        Effect.gen(function* () {
          const url = new URL(message.url)
          const { timeoutSeconds = TIMEOUT_SECONDS, isSecure = false } = message.options ?? {}
          const response = yield* connect(url, addresses, isSecure).pipe(
            Effect.flatMap((socket) => post(socket, url, message)),
            Effect.timeoutFail({ duration: timeoutSeconds * 1_000, onTimeout: () => tooSlow(timeoutSeconds) })
          )
          const body = yield* bodyStartOf(
            response,
            message.options === undefined ? MAX_KEPT_CHARACTERS : MAX_ANSWER_CHARACTERS
          )
          return {
            _tag: "Answered" as const,
            status: response.statusCode ?? 0,
            body,
            retryAfter: Option.filter(
              Option.fromNullable(retryAfterMillis(response.headers["retry-after"], message.at)),
              (millis) => millis > 0
            )
          }
        }).pipe(
          Effect.catchTag("NotConnected", ({ reason, trouble }) =>
            Effect.succeed<Answer>({ _tag: "Unanswered", reason, trouble })
          ),
          Effect.scoped
        )
    })
  )

// ---- helpers ----

/** From the DNS lookup to the response headers. */
const TIMEOUT_SECONDS = 15

const tooSlow = (seconds: number) =>
  new NotConnected({ reason: `Did not answer within ${seconds} seconds`, trouble: "timeout" })

/** Short: the body is only kept for people to read. */
const BODY_TIMEOUT = "3 seconds"

const MAX_READ_BYTES = 64 * 1024
const MAX_KEPT_CHARACTERS = 500
/** The answer to a challenge is read, and may have other fields. */
const MAX_ANSWER_CHARACTERS = 4_000

/** Succeeds when the response headers arrive. */
const post = (socket: Socket, url: URL, message: Message): Effect.Effect<IncomingMessage, NotConnected> =>
  Effect.async((resume) => {
    const fail = (cause: unknown) =>
      resume(new NotConnected({ reason: `No response: ${reasonOf(cause)}`, trouble: "connection_refused" }))
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
        ...message.options?.headers,
        ...signedHeaders(message)
      }
    })
    sent.once("response", (response) => resume(Effect.succeed(response)))
    sent.on("error", fail)
    sent.once("close", () => fail("the connection was cut"))
    sent.end(message.body)
  })

/** Never fails: the status alone decides the outcome. */
const bodyStartOf = (response: IncomingMessage, characters: number): Effect.Effect<string> => {
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
    return new TextDecoder().decode(Buffer.concat(chunks)).slice(0, characters).toWellFormed()
  })
}
