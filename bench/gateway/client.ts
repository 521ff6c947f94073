/** Generates load: some keep-alive connections, each with one request at a time. */
import { connect, type Socket } from "node:net"
import { type Endpoint, KEY } from "./data.ts"

const CONNECTIONS = 16
const STALLED_AFTER_MILLIS = 60_000

export interface Target {
  readonly port: number
  readonly endpoint: Endpoint
  /** The size of every answer. */
  readonly bytes: number
}

/** Sends `requests` requests. Fails on the first answer that is not 200 with the expected size. */
export const load = async ({ port, endpoint, bytes }: Target, requests: number): Promise<void> => {
  const request = requestOf(endpoint)
  let left = requests
  const next = () => left-- > 0
  await Promise.all(Array.from({ length: CONNECTIONS }, () => drive(port, request, bytes, next)))
}

// ---- helpers ----

const requestOf = ({ method, path, body }: Endpoint): string =>
  [
    `${method} ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    `authorization: Bearer ${KEY}`,
    "user-agent: bench",
    "accept: application/json",
    ...(body === "" ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`]),
    "",
    body
  ].join("\r\n")

const drive = (port: number, request: string, expectedBytes: number, next: () => boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect(port, "127.0.0.1")
    let received: Array<Buffer> = []
    const send = () => (next() ? socket.write(request) : socket.end(resolve))
    const fail = (reason: string) => {
      socket.destroy()
      reject(new Error(`Port ${port}: ${reason}`))
    }
    socket.setNoDelay(true)
    socket.setTimeout(STALLED_AFTER_MILLIS, () => fail("No answer in time"))
    socket.on("connect", send)
    socket.on("error", (error) => fail(error.message))
    socket.on("close", () => fail("The server closed the connection"))
    socket.on("data", (chunk) => {
      received.push(chunk)
      const answer = parse(received.length === 1 ? chunk : Buffer.concat(received))
      if (answer === undefined) return
      received = []
      // No server here streams its answers.
      if (answer.bytes === undefined) return fail("The answer has no Content-Length")
      if (answer.status !== "200" || answer.bytes !== expectedBytes) {
        return fail(`Expected 200 with ${expectedBytes} bytes, got ${answer.status} with ${answer.bytes}`)
      }
      send()
    })
  })

/** Status and size of a complete answer. Only one request is in flight, so all bytes belong to it. */
const parse = (bytes: Buffer): { readonly status: string; readonly bytes: number | undefined } | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const head = bytes.toString("latin1", 0, end)
  const status = head.slice(9, 12)
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (declared === undefined) return { status, bytes: undefined }
  return bytes.length < end + 4 + Number(declared) ? undefined : { status, bytes: Number(declared) }
}
