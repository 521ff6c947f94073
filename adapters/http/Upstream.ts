/** Authenticated HTTP calls to one upstream. The token leaves this file only on the wire. */
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

  call(options: UpstreamCall): Effect.Effect<Answer, Unreachable> {
    return Effect.flatMap(this.request(options), call).pipe(
      Effect.map((answer) => ({ ...answer, text: this.scrubbed(answer.text) })),
      Effect.mapError(this.scrubbedReason)
    )
  }

  /** Opens a streaming response. */
  open(options: UpstreamCall): Effect.Effect<OpenAnswer, Unreachable, Scope.Scope> {
    // Compression would hold back a record until its block is full.
    const headers = { ...options.headers, "accept-encoding": "identity" }
    return Effect.flatMap(this.request({ ...options, headers }), open).pipe(Effect.mapError(this.scrubbedReason))
  }

  /** Masks the token in text from the upstream: some upstreams echo requests. */
  scrubbed(text: string): string {
    return text.replaceAll(Redacted.value(this.token), "***")
  }

  private readonly scrubbedReason = ({ reason }: Unreachable): Unreachable =>
    new Unreachable({ reason: this.scrubbed(reason) })

  /** Fails on an invalid URL or token. The original error is dropped because it quotes the token. */
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
      catch: () => new Unreachable({ reason: "its URL or token is not valid" })
    })
  }
}
