/** Handles the operations on keys, for the account of the caller. */
import { Effect, Option, Redacted } from "effect"
import type { keys } from "../../api/keys.ts"
import { type IssuedKey, Keys } from "../../core/keys/Keys.ts"
import type { Handlers } from "./Handlers.ts"

export const keyHandlers: Handlers<typeof keys> = {
  create: (account, draft) => Effect.flatMap(Keys, (keys) => Effect.map(keys.create(account, draft), withSecret)),

  list: (account) =>
    Effect.gen(function* () {
      const keys = yield* Keys
      return { keys: yield* keys.list({ account: Option.some(account) }) }
    }),

  revoke: (account, { key_id }) =>
    Effect.gen(function* () {
      const keys = yield* Keys
      return { key: yield* keys.revoke(key_id, { account: Option.some(account), force: false }) }
    }),

  rotate: (account, { key_id, overlap_seconds }) =>
    Effect.gen(function* () {
      const keys = yield* Keys
      return withSecret(yield* keys.rotate(key_id, { account: Option.some(account), overlapSeconds: overlap_seconds }))
    })
}

// ---- helpers ----

const withSecret = ({ key, secret }: IssuedKey) => ({ key, secret: Redacted.value(secret) })
