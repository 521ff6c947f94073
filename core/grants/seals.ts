/** Texts that only servers of this store can read and write: what they hold needs no row. */
import { Effect, Either, Encoding, Option, Schema } from "effect"
import { Entropy } from "../model/Entropy.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import { GrantStore } from "./GrantStore.ts"

export interface Seals {
  /** `use` keeps texts of one use from being taken for those of another. The text is safe in a URL. */
  readonly seal: (use: Use, text: string) => Effect.Effect<string, StoreUnavailable>
  /** None for any other text. */
  readonly unseal: (use: Use, sealed: string) => Effect.Effect<Option.Option<string>, StoreUnavailable>
}

export const makeSeals: Effect.Effect<Seals, never, GrantStore | Entropy> = Effect.gen(function* () {
  const store = yield* GrantStore
  const entropy = yield* Entropy
  let known: string | undefined

  const secret = Effect.gen(function* () {
    known ??= yield* store.secret(hexOf(entropy.bytes(SECRET_BYTES)))
    return known
  })
  return {
    seal: (use, text) => Effect.map(secret, (secret) => toUrl(entropy.seal(text, `${use} ${secret}`))),
    unseal: (use, sealed) =>
      Option.match(fromUrl(sealed), {
        onNone: () => Effect.succeedNone,
        onSome: (base64) =>
          Effect.map(secret, (secret) => Option.liftThrowable(entropy.unseal)(base64, `${use} ${secret}`))
      })
  }
})

/** Reads sealed JSON. None if it has another form. */
export const decodeSealed = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownOption(Schema.parseJson(schema))
  return (text: Option.Option<string>): Option.Option<A> => Option.flatMap(text, (json) => decode(json))
}

// ---- helpers ----

type Use = "client" | "request"

const SECRET_BYTES = 32

const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")

const MAX_LENGTH = 8_000

const toUrl = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")

/** None for a text that is not exactly what `toUrl` returns: each sealed text has one form. */
const fromUrl = (text: string): Option.Option<string> =>
  text.length > MAX_LENGTH
    ? Option.none()
    : Either.getRight(Encoding.decodeBase64Url(text)).pipe(
        Option.filter((bytes) => Encoding.encodeBase64Url(bytes) === text),
        Option.map((bytes) => Encoding.encodeBase64(bytes))
      )
