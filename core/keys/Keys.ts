/** The key use cases: authenticate, create, list, revoke and rotate. */
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { type AccessTokens, Grants, isAccessToken } from "../grants/Grants.ts"
import { afterCommit } from "../idempotency/CommitHooks.ts"
import { Entropy } from "../model/Entropy.ts"
import {
  InvalidArgument,
  KeyInactive,
  KeyNotFound,
  type LastAdminKey,
  LimitReached,
  type StoreUnavailable,
  Unauthenticated
} from "../model/Errors.ts"
import { type AccountId, Ids, KeyId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { isMistyped, makeSecret } from "../model/secretText.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { trimmedText } from "../model/trimmedText.ts"
import { wholeNumber } from "../model/wholeNumber.ts"
import { type Caller, hintOf, isActive, Key, Scope } from "./Key.ts"
import { KeyStore } from "./KeyStore.ts"

export const KeyDraft = Schema.Struct({
  name: trimmedText(200).annotations({
    jsonSchema: { type: "string", minLength: 1, maxLength: 200, description: "A name to recognize the key by" }
  }),
  scope: Scope,
  expires_at: optional(Timestamp.FromRequest, "The key stops working at this time. Without it: never")
})
export type KeyDraft = typeof KeyDraft.Type

/** How long the previous secret of a rotated key works, in seconds: a day, at most 30 days. */
export const OVERLAP_SECONDS = { min: 0, max: 30 * 86_400, fallback: 86_400 }

/** Of a request to rotate a key. */
export const overlapSeconds = wholeNumber({ ...OVERLAP_SECONDS, description: "How long the previous secret works" })

/** A new key with its secret, which is not stored. */
export const IssuedKey = Schema.Struct({ key: Key, secret: Schema.Redacted(Schema.String) })
export type IssuedKey = typeof IssuedKey.Type

/** The account of the first key and of the bootstrap key. */
export const DEFAULT_ACCOUNT = "default"

/** Another process may accept a revoked key for this long. */
const CACHE_MILLIS = 5_000
/** Precision of the last-used time, besides `CACHE_MILLIS`: each update is a write. */
const TOUCH_INTERVAL_MILLIS = 60_000
const CACHE_LIMIT = 10_000
const KEYS_PER_ACCOUNT = 100
const NEVER = "1970-01-01T00:00:00.000Z"

/** Whose keys: of one account, or of all. */
export interface KeyOwner {
  readonly account: Option.Option<AccountId>
}

/** For the operator. */
export const EVERY_ACCOUNT: KeyOwner = { account: Option.none() }

export class Keys extends Context.Tag("core/Keys")<
  Keys,
  {
    readonly authenticate: (secret: string) => Effect.Effect<Caller, Unauthenticated | StoreUnavailable>
    readonly create: (
      account: AccountId,
      draft: KeyDraft
    ) => Effect.Effect<IssuedKey, InvalidArgument | LimitReached | StoreUnavailable>
    /** Finds or creates the account by name. For local callers, which need no key. */
    readonly account: (name: string) => Effect.Effect<AccountId, StoreUnavailable>
    /** Oldest first, including revoked and expired keys. */
    readonly list: (owner: KeyOwner) => Effect.Effect<ReadonlyArray<Key>, StoreUnavailable>
    /** `id` may be any text. Fails for the last admin key of an account, unless `force`. */
    readonly revoke: (
      id: string,
      owner: KeyOwner & { readonly force: boolean }
    ) => Effect.Effect<Key, KeyNotFound | LastAdminKey | StoreUnavailable>
    /** Replaces the secret. The previous one works for `overlapSeconds` more. */
    readonly rotate: (
      id: string,
      owner: KeyOwner & { readonly overlapSeconds: number }
    ) => Effect.Effect<IssuedKey, KeyNotFound | KeyInactive | StoreUnavailable>
    /** None when the store already has keys. Of several servers that start at once, one gets the key. */
    readonly issueFirst: Effect.Effect<Option.Option<IssuedKey>, StoreUnavailable>
    /** Stores the operator's own secret as an admin key of the default account. Idempotent. */
    readonly adopt: (secret: Redacted.Redacted) => Effect.Effect<Key, StoreUnavailable>
  }
>() {
  /** Accepts the access tokens of OAuth like keys. */
  static readonly layerWith = (tokens: AccessTokens): Layer.Layer<Keys, never, KeyStore | Ids | Entropy> =>
    Layer.effect(
      Keys,
      Effect.gen(function* () {
        const store = yield* KeyStore
        const ids = yield* Ids
        const entropy = yield* Entropy
        const clock = yield* Effect.clock
        // Keyed by the secret itself: a digest per request would cost more than the rest of the check.
        const cache = new Map<string, { readonly caller: Caller; readonly until: number }>()

        const forgetCallers = afterCommit(Effect.sync(() => cache.clear()))

        yield* tokens.onEnd(Effect.sync(() => cache.clear()))

        const keyHolder = (secret: string, now: number) =>
          Effect.gen(function* () {
            const at = Timestamp.fromMillis(now)
            const key = Option.getOrUndefined(yield* store.findByDigest(entropy.sha256(secret), at))
            if (key === undefined || !isActive(key, at)) return Option.none()
            if (now - Date.parse(key.last_used_at ?? NEVER) > TOUCH_INTERVAL_MILLIS) yield* store.touch(key.id, at)
            const ends = [key.expires_at, key.previous_secret_until].filter((end) => end !== null)
            return Option.some({ account: key.account_id, scope: key.scope, key: key.id, ends })
          })

        const lookUp = (secret: string, now: number) =>
          Effect.gen(function* () {
            const holder: Option.Option<Holder> = isAccessToken(secret)
              ? yield* tokens.holderOf(secret)
              : yield* keyHolder(secret, now)
            if (Option.isNone(holder)) {
              cache.delete(secret)
              return yield* refusalOf(secret)
            }
            const { ends, ...caller } = holder.value
            const later = ends.map((end) => Date.parse(end)).filter((end) => end > now)
            if (cache.size >= CACHE_LIMIT) cache.clear()
            cache.set(secret, { caller, until: Math.min(now + CACHE_MILLIS, ...later) })
            return caller
          })

        const authenticate = (secret: string) =>
          Effect.suspend((): Effect.Effect<Caller, Unauthenticated | StoreUnavailable> => {
            const known = cache.get(secret)
            const now = clock.unsafeCurrentTimeMillis()
            if (known !== undefined && now < known.until) return Effect.succeed(known.caller)
            return isMistyped(secret) ? refusalOf(secret) : lookUp(secret, now)
          })

        const account = (name: string) =>
          Effect.gen(function* () {
            return yield* store.account({ id: yield* ids.account, name, createdAt: yield* Timestamp.now })
          })

        const newKey = (accountId: AccountId, secret: Redacted.Redacted, draft: KeyDraft) =>
          Effect.gen(function* () {
            return {
              id: yield* ids.key,
              accountId,
              name: draft.name,
              scope: draft.scope,
              hint: hintOf(Redacted.value(secret)),
              digest: entropy.sha256(Redacted.value(secret)),
              createdAt: yield* Timestamp.now,
              expiresAt: Option.fromNullable(draft.expires_at)
            }
          })

        const newSecret = Effect.sync(() => Redacted.make(makeSecret(entropy.bytes)))

        const create = Effect.fn("Keys.create")(function* (accountId: AccountId, draft: KeyDraft) {
          if (draft.expires_at !== undefined && draft.expires_at <= (yield* Timestamp.now)) {
            return yield* new InvalidArgument({
              issues: [{ path: "expires_at", message: "Expected a time in the future" }]
            })
          }
          const keys = yield* store.list(Option.some(accountId))
          const now = yield* Timestamp.now
          const used = keys.filter((key) => isActive(key, now)).length
          if (used >= KEYS_PER_ACCOUNT) return yield* new LimitReached({ name: "keys", limit: KEYS_PER_ACCOUNT, used })
          const secret = yield* newSecret
          return { secret, key: yield* store.insert(yield* newKey(accountId, secret, draft)) }
        })

        const revoke = Effect.fn("Keys.revoke")(function* (
          text: string,
          owner: KeyOwner & { readonly force: boolean }
        ) {
          const id = Option.getOrUndefined(asKeyId(text))
          if (id === undefined) return yield* new KeyNotFound({ keyId: text })
          const { account, force } = owner
          const revoked = yield* store.revoke({ id, account }, { at: yield* Timestamp.now, force })
          yield* forgetCallers
          return Option.isSome(revoked) ? revoked.value : yield* new KeyNotFound({ keyId: text })
        })

        const rotate = Effect.fn("Keys.rotate")(function* (
          text: string,
          { account, overlapSeconds }: KeyOwner & { readonly overlapSeconds: number }
        ) {
          const id = Option.getOrUndefined(asKeyId(text))
          if (id === undefined) return yield* new KeyNotFound({ keyId: text })
          const secret = yield* newSecret
          const now = yield* Clock.currentTimeMillis
          const rotated = yield* store.rotate(
            { id, account },
            {
              digest: entropy.sha256(Redacted.value(secret)),
              hint: hintOf(Redacted.value(secret)),
              at: Timestamp.fromMillis(now),
              previousUntil: Timestamp.fromMillis(now + overlapSeconds * 1_000)
            }
          )
          yield* forgetCallers
          if (Option.isSome(rotated)) return { secret, key: rotated.value }
          const isKnown = (yield* store.list(account)).some((key) => key.id === id)
          return yield* isKnown ? new KeyInactive({ keyId: text }) : new KeyNotFound({ keyId: text })
        })

        const issueFirst = Effect.gen(function* () {
          const existing = yield* store.list(Option.none())
          if (existing.length > 0) return Option.none()
          const secret = yield* newSecret
          const draft: KeyDraft = { name: "first key", scope: "admin" }
          const stored = yield* store.insertFirst(yield* newKey(yield* account(DEFAULT_ACCOUNT), secret, draft))
          return Option.map(stored, (key) => ({ secret, key }))
        })

        const adopt = (secret: Redacted.Redacted) =>
          Effect.gen(function* () {
            const draft: KeyDraft = { name: "bootstrap key", scope: "admin" }
            return yield* store.insert(yield* newKey(yield* account(DEFAULT_ACCOUNT), secret, draft))
          })

        return Keys.of({
          authenticate,
          create,
          account,
          list: ({ account }) => store.list(account),
          revoke,
          rotate,
          issueFirst,
          adopt
        })
      })
    )

  /** Accepts keys only. */
  static readonly layer = Keys.layerWith({ holderOf: () => Effect.succeedNone, onEnd: () => Effect.void })

  static readonly layerWithGrants: Layer.Layer<Keys, never, KeyStore | Ids | Entropy | Grants> = Layer.unwrapEffect(
    Effect.map(Grants, Keys.layerWith)
  )
}

// ---- helpers ----

const refusalOf = (secret: string) => new Unauthenticated({ key: isAccessToken(secret) ? "token" : "refused" })

/** A caller, and times at which the secret may stop working. */
type Holder = Caller & { readonly ends: ReadonlyArray<Timestamp.Timestamp> }

const asKeyId = Schema.decodeUnknownOption(KeyId)
