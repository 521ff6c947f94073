/** Requests as the platforms see them, and their answers, without a socket. */
import { Data, type Stream } from "effect"

export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: string
  /** In milliseconds, by the simulator's own clock. */
  readonly now: number
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null | Stream.Stream<Uint8Array, Dropped>
}

/** The connection ends here, without what HTTP asks for at the end of an answer. */
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

/** The token that the call came with. */
export const bearerOf = ({ headers }: Call): string | undefined =>
  /^Bearer ([!-~]+)$/i.exec(headers.get("authorization") ?? "")?.[1]

/** Undefined for a text that is no JSON. */
export const parsedJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
