/** Raw HTTP over a socket, for requests that regular clients cannot send. */
import { connect, type Socket } from "node:net"

export interface Address {
  readonly host: string
  readonly port: number
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Connection {
  readonly write: (bytes: string | Uint8Array) => void
  /** The next response; undefined if the connection closed first. `bodiless`: for a HEAD request. */
  readonly answer: (options?: { readonly bodiless?: boolean }) => Promise<RawAnswer | undefined>
  /** Resolves when the server closes the connection. */
  readonly closed: Promise<void>
  readonly destroy: () => void
}

export const open = async ({ host, port }: Address): Promise<Connection> => {
  const socket = connect({ host, port, allowHalfOpen: false })
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject))
  return connectionOver(socket)
}

/** Sends the bytes on a new connection and returns the first response. */
export const exchange = async (
  address: Address,
  bytes: string | Uint8Array,
  options: { readonly bodiless?: boolean } = {}
): Promise<RawAnswer | undefined> => {
  const connection = await open(address)
  connection.write(bytes)
  const answer = await connection.answer(options)
  connection.destroy()
  return answer
}

/** A request as text, with a `Host` header unless `headers` overrides it. Undefined omits a header. */
export const requestText = (
  method: string,
  target: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  body = ""
): string => {
  const all: Record<string, string | undefined> = {
    host: "localhost",
    ...(body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    ...headers
  }
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]))
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`
}

/** One chunk of a chunked body. */
export const chunk = (bytes: string): string => `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`

export const LAST_CHUNK = "0\r\n\r\n"

// ---- helpers ----

const connectionOver = (socket: Socket): Connection => {
  let received = Buffer.alloc(0)
  let ended = false
  let wake = () => {}
  socket.on("data", (data: Buffer) => {
    received = Buffer.concat([received, data])
    wake()
  })
  const closed = new Promise<void>((resolve) => {
    const end = () => {
      ended = true
      wake()
      resolve()
    }
    // The server may reset the connection during a write.
    socket.on("error", end).on("end", end).on("close", end)
  })

  const answer = async (options: { readonly bodiless?: boolean } = {}): Promise<RawAnswer | undefined> => {
    for (;;) {
      const parsed = parse(received, options.bodiless === true)
      if (parsed !== undefined) {
        received = received.subarray(parsed.length)
        if (parsed.answer.status >= 200) return parsed.answer
        continue
      }
      if (ended) return undefined
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return {
    write: (bytes) => void (socket.writable && socket.write(bytes)),
    answer,
    closed,
    destroy: () => socket.destroy()
  }
}

/** The first complete response, with its length in bytes. */
const parse = (bytes: Buffer, bodiless: boolean): { answer: RawAnswer; length: number } | undefined => {
  const headEnd = bytes.indexOf("\r\n\r\n")
  if (headEnd < 0) return undefined
  const [first = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n")
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
  )
  const start = headEnd + 4
  if (bodiless || status < 200 || status === 204) return { answer: { status, headers, body: "" }, length: start }
  if (headers["transfer-encoding"] === "chunked") return parseChunks(bytes, start, { status, headers })
  const end = start + Number(headers["content-length"] ?? 0)
  if (bytes.length < end) return undefined
  return { answer: { status, headers, body: bytes.subarray(start, end).toString() }, length: end }
}

const parseChunks = (bytes: Buffer, start: number, head: Omit<RawAnswer, "body">) => {
  const parts: Array<Buffer> = []
  let at = start
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16)
    const next = lineEnd + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { answer: { ...head, body: Buffer.concat(parts).toString() }, length: next }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}
