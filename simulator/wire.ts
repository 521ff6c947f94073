/** Requests and replies of the simulator, independent of sockets. */
import { Data, type Stream } from "effect"

export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: string
  /** Milliseconds on the simulator's clock. */
  readonly now: number
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null | Stream.Stream<Uint8Array, Dropped>
}

/** The server drops the connection: no reply, or a body without its end. */
export class Dropped extends Data.TaggedError("Dropped")<{ readonly reason: string }> {
  override get message() {
    return `Connection dropped: ${this.reason}`
  }
}

export const jsonReply = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body: JSON.stringify(body)
})

export const bearerToken = ({ headers }: Call): string | undefined =>
  /^Bearer ([!-~]+)$/i.exec(headers.get("authorization") ?? "")?.[1]

/** Undefined for invalid JSON. */
export const parseJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
