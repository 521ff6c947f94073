/** One upstream: its address, its token, and calls to it. The token leaves this file only on the wire. */
import { Effect, Redacted, type Scope } from "effect"
import { type Answer, call, type OpenAnswer, open, Unreachable } from "./call.ts"

export interface UpstreamCall {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
}

export class Upstream {
  private readonly baseUrl: string
  private readonly token: Redacted.Redacted

  constructor(options: { readonly baseUrl: string; readonly token: Redacted.Redacted }) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, "")
    this.token = options.token
  }

  call(wanted: UpstreamCall): Effect.Effect<Answer, Unreachable> {
    return Effect.flatMap(this.request(wanted), call).pipe(
      Effect.map((answer) => ({ ...answer, text: this.scrubbed(answer.text) })),
      Effect.mapError(this.scrubbedReason)
    )
  }

  /** For an answer that is a stream. */
  open(wanted: UpstreamCall): Effect.Effect<OpenAnswer, Unreachable, Scope.Scope> {
    // Compressed, records would wait for others to fill a block.
    const headers = { ...wanted.headers, "accept-encoding": "identity" }
    return Effect.flatMap(this.request({ ...wanted, headers }), open).pipe(Effect.mapError(this.scrubbedReason))
  }

  /** Upstreams have been seen to repeat what they were sent. */
  scrubbed(text: string): string {
    return text.replaceAll(Redacted.value(this.token), "***")
  }

  private readonly scrubbedReason = ({ reason }: Unreachable): Unreachable =>
    new Unreachable({ reason: this.scrubbed(reason) })

  /** Fails on an address that is none, and on a token that no header can carry: the words for that would show it. */
  private request({
    method = "GET",
    path,
    query = {},
    headers = {},
    body
  }: UpstreamCall): Effect.Effect<Request, Unreachable> {
    const parameters = new URLSearchParams(query).toString()
    return Effect.try({
      try: () =>
        new Request(`${this.baseUrl}${path}${parameters === "" ? "" : `?${parameters}`}`, {
          method,
          headers: {
            ...headers,
            authorization: `Bearer ${Redacted.value(this.token)}`,
            "user-agent": "earshot",
            ...(body !== undefined && { "content-type": "application/json" })
          },
          ...(body !== undefined && { body: JSON.stringify(body) })
        }),
      catch: () => new Unreachable({ reason: "its address or its token cannot be used as it is set" })
    })
  }
}
