/** Fetches a feed: every connection and redirect goes to a checked address, and the body is limited. */
import { type IncomingMessage, request } from "node:http"
import type { Socket } from "node:net"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { Data, Effect, Option } from "effect"
import { isAllowedPort } from "../../core/model/webUrl.ts"
import type { Addresses } from "../http/addresses.ts"
import { connect, literalRefusal } from "../http/connect.ts"
import { reasonOf } from "../http/reasons.ts"

/** `isNetwork`: nothing answered, so the fault may be on our side. */
export class NotFetched extends Data.TaggedError("NotFetched")<{
  readonly reason: string
  readonly isNetwork?: boolean
}> {
  override get message() {
    return this.reason
  }
}

export interface Fetched {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  /** After decompression. Empty unless the status is 200. */
  readonly body: Uint8Array
  readonly url: string
  /** Every redirect on the way was permanent. False without one. */
  readonly isMoved: boolean
}

export const fetchFeed = (
  url: string,
  options: {
    readonly addresses: Addresses
    readonly headers: Readonly<Record<string, string>>
    /** Of the body after decompression. */
    readonly maxBytes: number
  }
): Effect.Effect<Fetched, NotFetched> =>
  Effect.gen(function* () {
    let address = url
    let isPermanent = true
    for (let redirects = 0; ; redirects++) {
      const checked = yield* checkedUrl(address, options.addresses)
      const response = yield* get(checked, options)
      const { statusCode: status = 0, headers } = response
      const location = REDIRECTS.has(status) ? headers.location : undefined
      if (location === undefined) {
        const body = status === 200 ? yield* bodyOf(response, options.maxBytes) : new Uint8Array()
        return { status, headers, body, url: address, isMoved: redirects > 0 && isPermanent }
      }
      if (redirects === MAX_REDIRECTS) return yield* failed(`it redirects more than ${MAX_REDIRECTS} times`)
      if (!URL.canParse(location, address)) return yield* failed("it redirects to an address that is not valid")
      isPermanent &&= status === 301 || status === 308
      address = new URL(location, address).href
      if (!isAllowedPort(address)) return yield* failed("it redirects to a port that is not for web pages")
    }
  }).pipe(
    Effect.scoped,
    Effect.timeoutFail({
      duration: TIMEOUT,
      onTimeout: () => new NotFetched({ reason: "it did not answer within 20 seconds", isNetwork: true })
    })
  )

/** The reason why a URL is refused whatever its host answers. */
export const urlRefusal = (text: string, addresses: Addresses): Option.Option<string> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return Option.some("expected an address with http or https")
  if (url.username !== "" || url.password !== "") return Option.some("an address with a password is not accepted")
  return literalRefusal(addresses, url, false)
}

// ---- helpers ----

const TIMEOUT = "20 seconds"
const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const failed = (reason: string) => new NotFetched({ reason })

const checkedUrl = (text: string, addresses: Addresses): Effect.Effect<URL, NotFetched> =>
  Option.match(urlRefusal(text, addresses), { onNone: () => Effect.succeed(new URL(text)), onSome: failed })

const get = (
  url: URL,
  { addresses, headers }: { readonly addresses: Addresses; readonly headers: Readonly<Record<string, string>> }
) =>
  Effect.flatMap(
    Effect.mapError(connect(url, addresses, false), ({ reason, trouble }) => {
      return new NotFetched({ reason, isNetwork: trouble !== "not_allowed" && trouble !== "tls_error" })
    }),
    (socket) => send(socket, url, headers)
  )

/** Succeeds when the response headers arrive. */
const send = (socket: Socket, url: URL, headers: Readonly<Record<string, string>>) =>
  Effect.async<IncomingMessage, NotFetched>((resume) => {
    const fail = (cause: unknown) => resume(new NotFetched({ reason: reasonOf(cause), isNetwork: true }))
    const sent = request({
      createConnection: () => socket,
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        accept:
          "application/rss+xml, application/atom+xml, application/rdf+xml, application/feed+json, application/json;q=0.9, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1",
        "accept-encoding": "gzip, deflate, br",
        "user-agent": "Earshot/0.1 (feed reader)",
        connection: "close",
        ...headers
      }
    })
    sent.once("response", (response) => resume(Effect.succeed(response)))
    sent.on("error", fail)
    sent.once("close", () => fail("the connection was cut"))
    sent.end()
  })

const bodyOf = (response: IncomingMessage, maxBytes: number): Effect.Effect<Uint8Array, NotFetched> =>
  Effect.async((resume) => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const finish = (result: Effect.Effect<Uint8Array, NotFetched>) => {
      response.destroy()
      resume(result)
    }
    const encoding = response.headers["content-encoding"]?.toLowerCase()
    const decoder =
      encoding === "gzip" || encoding === "x-gzip"
        ? createGunzip()
        : encoding === "br"
          ? createBrotliDecompress()
          : encoding === "deflate"
            ? createInflate()
            : undefined
    const body = decoder === undefined ? response : response.pipe(decoder)
    body.on("data", (chunk: Uint8Array) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > maxBytes) finish(failed(`it is larger than ${maxBytes / 1024 / 1024} MB`))
    })
    body.on("end", () => finish(Effect.succeed(Buffer.concat(chunks))))
    body.on("error", (cause) => finish(failed(reasonOf(cause))))
    response.on("error", (cause) => finish(failed(reasonOf(cause))))
    response.on("close", () => {
      if (!response.complete) finish(new NotFetched({ reason: "the connection was cut", isNetwork: true }))
    })
  })
