/** Idempotency keys on every interface: a header in REST, the field `idempotency_key` in tRPC and tools. */
import { Either, Option, Schema } from "effect"
import { InvalidArgument } from "../../core/model/Errors.ts"
import { optional } from "../../core/model/optional.ts"

export const KEY_HEADER = "Idempotency-Key"

export const KEY_FIELD = "idempotency_key"

export const REPLAYED_HEADER = "Idempotent-Replayed"

/** Printable ASCII characters, which every interface can carry. */
const KEY_PATTERN = /^[ -~]{1,255}$/

const EXPECTED = "Expected 1 to 255 printable ASCII characters"

export const keySchema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description:
    "For safe repeats: for 24 hours, requests with the same key run once and get the first answer. Use a new random text for each"
}

const IdempotencyKey = Schema.String.pipe(
  Schema.filter((key) => KEY_PATTERN.test(key) || EXPECTED),
  Schema.annotations({ jsonSchema: keySchema })
)

const Keyed = Schema.Struct({ [KEY_FIELD]: optional(IdempotencyKey) })

/** What a client asks an operation for. */
export interface Asked<A> {
  readonly input: A
  readonly key: Option.Option<string>
}

/** What `keyedInput` adds. */
export type KeyField = typeof Keyed.Encoded

/** Adds the field for the key to the input of an operation. `splitKey` takes it out again. */
export const keyedInput = <A, I>(input: Schema.Schema<A, I>): Schema.Schema<A, I> =>
  Schema.make(Schema.extend(input, Keyed).ast)

export const splitKey = <A>(keyed: A): Asked<A> => {
  const { [KEY_FIELD]: key, ...input } = keyed as A & KeyField
  // Without the field that `keyedInput` added.
  return { key: Option.fromNullable(key), input: input as A }
}

/** None if the request has no such header. */
export const keyOf = (request: Request): Either.Either<Option.Option<string>, InvalidArgument> => {
  const key = request.headers.get(KEY_HEADER)
  if (key === null) return Either.right(Option.none())
  return KEY_PATTERN.test(key)
    ? Either.right(Option.some(key))
    : Either.left(new InvalidArgument({ issues: [{ path: KEY_HEADER, message: EXPECTED }] }))
}

/** Header of an answer that was given before. */
export const REPLAYED = { [REPLAYED_HEADER]: "true" }
