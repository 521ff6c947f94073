/** A receiver of events as the reference describes ChatGPT: it meets challenges and takes events, and knows nothing else. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Webhook } from "standardwebhooks"

export interface ChatEvent {
  readonly eventId: string
  readonly name: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
  readonly cursor?: string
}

export interface ChatReceiver {
  readonly url: string
  readonly secret: string
  /** In the order of arrival, repeats too. */
  readonly events: Array<ChatEvent>
  /** Why it answered with an error, or which message it does not know. */
  readonly refused: Array<string>
  /** The bytes of the largest body. */
  largest: number
  readonly close: () => Promise<void>
}

export const startChatReceiver = async (): Promise<ChatReceiver> => {
  const secret = `whsec_${Buffer.from("a secret of twenty-four bytes or more").toString("base64")}`
  const verifier = new Webhook(secret)
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    receiver.largest = Math.max(receiver.largest, body.length)
    const refuse = (status: number, reason: string) => {
      receiver.refused.push(reason)
      response.writeHead(status).end()
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    if (request.method !== "POST" || headers["content-type"] !== "application/json") return refuse(415, "type")
    if (body.length > MAX_BYTES) return refuse(413, "too large")
    if (!/^sub_[0-9a-f]{32}$/.test(headers["x-mcp-subscription-id"] ?? "")) return refuse(401, "no subscription")
    let message: unknown
    try {
      message = verifier.verify(body.toString(), headers)
    } catch (cause) {
      return refuse(401, `signature: ${String(cause)}`)
    }
    if (isChallenge(message)) return void response.end(JSON.stringify({ challenge: message.challenge }))
    if (!isEvent(message)) return refuse(400, `not an event: ${body.toString().slice(0, 200)}`)
    if (message.eventId !== headers["webhook-id"]) return refuse(400, "another id")
    receiver.events.push(message)
    response.writeHead(202).end()
  })
  await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
  const receiver: ChatReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events?conversation=1`,
    secret,
    events: [],
    refused: [],
    largest: 0,
    close: () =>
      new Promise((resume) => {
        server.close(() => resume())
        server.closeAllConnections()
      })
  }
  return receiver
}

// ---- helpers ----

const MAX_BYTES = 262_144

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isChallenge = (message: unknown): message is { readonly challenge: string } =>
  isObject(message) && message["type"] === "verification" && typeof message["challenge"] === "string"

/** A top-level type marks a control message. */
const isEvent = (message: unknown): message is ChatEvent =>
  isObject(message) &&
  !("type" in message) &&
  typeof message["eventId"] === "string" &&
  typeof message["name"] === "string" &&
  /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(String(message["timestamp"])) &&
  isObject(message["data"])
