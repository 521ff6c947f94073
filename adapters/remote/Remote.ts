/** HTTP client of a running Earshot. */
import { Data, Effect, Option, Redacted, Schema, type Scope, Stream } from "effect"
import { type Call, type RemoteFailure, RemoteRefused, RemoteUnreachable } from "../../api/calls.ts"
import { type Answer, lines, open, read, type Unreachable } from "../http/call.ts"
import { Fetch } from "../http/Fetch.ts"
import { CONNECTION_REFUSED, reasonOf } from "../http/reasons.ts"
import { type SseEvent, sseEvents } from "../http/sse.ts"

/** The URL or the key is missing or not valid. */
export class RemoteSettingsInvalid extends Data.TaggedError("RemoteSettingsInvalid")<{ readonly message: string }> {}

/** Checks the settings and sends nothing. Requests use the `Fetch` in context at this point. */
export const clientFor = (settings: {
  readonly url: string
  readonly key: Option.Option<Redacted.Redacted>
  /** The setting that holds the key, for messages. */
  readonly keySetting?: string
}) =>
  Effect.gen(function* () {
    const url = yield* checkedUrl(settings.url)
    const authorization = yield* checkedKey(settings.key)
    return yield* client(url, Option.some(authorization), settings.keySetting)
  })

/** For a door that needs no key, reached by the `Fetch` in context. */
export const keylessClient = Effect.suspend(() => client("http://localhost", Option.none()))

// ---- helpers ----

const client = (url: string, authorization: Option.Option<Redacted.Redacted>, keySetting = "EARSHOT_API_KEY") =>
  Effect.gen(function* () {
    const { send } = yield* Fetch
    const key = Option.match(authorization, {
      onNone: () => ({}),
      onSome: (secret) => ({ authorization: Redacted.value(secret) })
    })

    const request = <A, I>({ method, path, body, idempotencyKey, answer }: Call<A, I>) =>
      Effect.gen(function* () {
        const response = yield* Effect.tryPromise({
          try: async (signal) => {
            const response = await send(
              new Request(`${url}${path}`, {
                method,
                headers: {
                  ...key,
                  ...(body !== undefined && { "content-type": body.type }),
                  ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey })
                },
                body: body?.content ?? null,
                redirect: "manual",
                signal
              })
            )
            return { status: response.status, headers: response.headers, text: await response.text() }
          },
          catch: (cause) => unreachable(url, reasonOf(cause))
        })
        if (response.status !== 200) return yield* refusal(url, response, keySetting)
        return yield* Effect.mapError(
          // Fields of a newer server are kept.
          Schema.decodeUnknown(Schema.parseJson(answer), { onExcessProperty: "preserve" })(response.text),
          () => notEarshot(url, response.status)
        )
      })

    const noAnswer = ({ reason }: Unreachable) => unreachable(url, reason)

    const events = (
      path: string,
      after: Option.Option<string>
    ): Effect.Effect<Stream.Stream<SseEvent, RemoteUnreachable>, RemoteFailure, Scope.Scope> =>
      Effect.gen(function* () {
        const subscription = new Request(`${url}${path}`, {
          headers: {
            ...key,
            accept: "text/event-stream",
            ...(Option.isSome(after) && { "last-event-id": after.value })
          }
        })
        const answer = yield* Effect.mapError(open(subscription), noAnswer)
        if (answer.status !== 200)
          return yield* refusal(url, yield* Effect.mapError(read(answer), noAnswer), keySetting)
        if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) {
          return yield* notEarshot(url, answer.status)
        }
        const bytes = Stream.mapError(answer.bytes, noAnswer)
        const silent = () => unreachable(url, SILENT)
        return sseEvents(lines(Stream.timeoutFail(bytes, silent, SILENCE_TIMEOUT)))
      }).pipe(Effect.provideService(Fetch, { send }))

    return { request, events }
  })

/** Three heartbeat intervals of the server. */
const SILENCE_TIMEOUT = "45 seconds"

const SILENT = "the connection is open, but no data arrives"

const START_SERVER = "start the server with npm start or earshot serve, or name another one with --url or EARSHOT_URL"

const notEarshot = (url: string, status: number) =>
  unreachable(url, `the response is not from Earshot (status ${status}); check the address`)

const unreachable = (url: string, reason: string) =>
  new RemoteUnreachable({
    message: `Cannot reach Earshot at ${url}: ${reason}${reason === CONNECTION_REFUSED ? `; ${START_SERVER}` : ""}`
  })

const wrongKey = (url: string, keySetting: string) =>
  `Earshot at ${url} rejects the key: set ${keySetting} to a key of that server`

const checkedUrl = (text: string): Effect.Effect<string, RemoteSettingsInvalid> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // A user, password, query or fragment could hold a secret, or would be silently dropped.
  const isPlain =
    url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === ""
  return isPlain
    ? Effect.succeed(url.href.replace(/\/+$/, ""))
    : new RemoteSettingsInvalid({
        message: `The address of Earshot (--url or EARSHOT_URL) is not valid: expected one like http://127.0.0.1:8787${/[@?#]/.test(text) ? ", without user name, password, query and fragment" : `, not "${text}"`}`
      })
}

const checkedKey = (key: Option.Option<Redacted.Redacted>): Effect.Effect<Redacted.Redacted, RemoteSettingsInvalid> => {
  const secret = Option.match(key, { onNone: () => "", onSome: (value) => Redacted.value(value).trim() })
  if (secret === "")
    return new RemoteSettingsInvalid({
      message:
        'No API key: set EARSHOT_API_KEY to a key of the server. The server prints one on its first start, or writes it to the file "first-key" in its data folder; "earshot keys create" on the machine of the store creates another'
    })
  return /^[!-~]{1,512}$/.test(secret)
    ? Effect.succeed(Redacted.make(`Bearer ${secret}`))
    : new RemoteSettingsInvalid({ message: "EARSHOT_API_KEY is not a key: it contains characters that no key has" })
}

const ErrorBody = Schema.parseJson(
  Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    details: Schema.Record({ key: Schema.String, value: Schema.Unknown })
  })
)

const refusal = (url: string, { status, headers, text }: Answer, keySetting: string) => {
  const retryAfter = headers.get("retry-after")
  const retryAfterSeconds = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : undefined
  return Option.match(Schema.decodeOption(ErrorBody)(text), {
    onNone: () => notEarshot(url, status),
    onSome: (error) =>
      new RemoteRefused({
        ...error,
        // The server's message names a header; the user has a setting.
        message: error.code === "unauthenticated" ? wrongKey(url, keySetting) : error.message,
        retryAfterSeconds
      })
  })
}
