/** `GrantStore` in memory. */
import { Effect, Layer, Option } from "effect"
import { type GrantEnd, isActive } from "../../core/grants/Grant.ts"
import {
  GrantStore,
  KEPT_GRANTS,
  KEPT_TOKENS,
  type NewGrant,
  type NewTokens,
  type StoredGrant,
  withKeyEnd
} from "../../core/grants/GrantStore.ts"
import { KeyStore } from "../../core/keys/KeyStore.ts"
import type { GrantId } from "../../core/model/Ids.ts"
import type { Timestamp } from "../../core/model/Timestamp.ts"

export const memoryGrants: Layer.Layer<GrantStore, never, KeyStore> = Layer.effect(
  GrantStore,
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const grants = new Map<GrantId, Row>()
    let tokens: ReadonlyArray<Token> = []
    let secret: string | undefined

    const stored = ({ grant, ended, generation, expiresAt, lastUsedAt }: Row, at: Timestamp) =>
      Effect.map(keys.list(Option.none()), (all): StoredGrant => {
        const { codeDigest: _, redirectUri: __, challenge: ___, expiresAt: ____, ...rest } = grant
        const key = all.find(({ id }) => id === grant.key_id)
        const ends = [key?.revoked_at, key?.expires_at].filter((end) => typeof end === "string").sort()
        return withKeyEnd(
          {
            ...rest,
            last_used_at: lastUsedAt,
            expires_at: expiresAt,
            ended_at: ended?.at ?? null,
            ended_by: ended?.by ?? null,
            isExchanged: generation > 0,
            keyEndsAt: ends[0] ?? null
          },
          at
        )
      })

    const addTokens = (id: GrantId, { access, refresh }: NewTokens, generation: number, at: Timestamp) => {
      const own = tokens.filter((token) => token.id === id && token.expiresAt > at)
      const kept = own.toSorted((a, b) => b.generation - a.generation).slice(0, KEPT_TOKENS - 2)
      tokens = [
        ...tokens.filter((token) => token.id !== id),
        ...kept,
        { ...access, id, kind: "access", generation },
        { ...refresh, id, kind: "refresh", generation }
      ]
    }

    return GrantStore.of({
      insert: (grant) =>
        Effect.gen(function* () {
          const own = [...grants.values()].filter((row) => row.grant.account_id === grant.account_id)
          const old = own.toSorted((a, b) => (a.grant.id < b.grant.id ? 1 : -1)).slice(KEPT_GRANTS - 1)
          for (const row of old) {
            if (!isActive(yield* stored(row, grant.created_at), grant.created_at)) grants.delete(row.grant.id)
          }
          if (grants.has(grant.id)) return false
          grants.set(grant.id, { grant, generation: 0, expiresAt: grant.expiresAt, lastUsedAt: null })
          return true
        }),
      findByCode: (digest, at) =>
        Effect.gen(function* () {
          const row = [...grants.values()].find(({ grant }) => grant.codeDigest === digest)
          if (row === undefined) return Option.none()
          const { redirectUri, challenge, expiresAt } = row.grant
          return Option.some({ grant: yield* stored(row, at), redirectUri, challenge, expiresAt })
        }),
      findByToken: (digest, at) =>
        Effect.gen(function* () {
          const token = tokens.find((one) => one.digest === digest)
          const row = token === undefined ? undefined : grants.get(token.id)
          if (token === undefined || row === undefined) return Option.none()
          const { kind, generation, expiresAt } = token
          return Option.some({ grant: yield* stored(row, at), kind, generation, expiresAt })
        }),
      list: (account, at) =>
        Effect.forEach(
          [...grants.values()]
            .filter(({ grant }) => !Option.exists(account, (own) => own !== grant.account_id))
            .sort((a, b) => (a.grant.id < b.grant.id ? -1 : 1)),
          (row) => stored(row, at)
        ),
      exchange: (id, added, at) =>
        Effect.sync(() => {
          const row = grants.get(id)
          if (row === undefined || row.generation > 0 || row.ended !== undefined) return false
          grants.set(id, { ...row, generation: 1, rotatedAt: at, expiresAt: added.refresh.expiresAt })
          addTokens(id, added, 1, at)
          return true
        }),
      rotate: (id, generation, added, { at, graceMillis }) =>
        Effect.sync(() => {
          const row = grants.get(id)
          if (row === undefined || row.ended !== undefined) return false
          const isLast = row.generation === generation
          const isRecent = Date.parse(at) - Date.parse(row.rotatedAt ?? "") < graceMillis
          if (!isLast && !(row.generation === generation + 1 && isRecent)) return false
          const rotatedAt = isLast ? at : row.rotatedAt
          const rotated = { ...row, generation: generation + 1, expiresAt: added.refresh.expiresAt }
          grants.set(id, { ...rotated, ...(rotatedAt !== undefined && { rotatedAt }) })
          addTokens(id, added, generation + 1, at)
          return true
        }),
      end: ({ id, account }, end) =>
        Effect.gen(function* () {
          const row = grants.get(id)
          if (row === undefined || Option.exists(account, (own) => own !== row.grant.account_id)) return Option.none()
          const ended = { ...row, ended: row.ended ?? end }
          grants.set(id, ended)
          tokens = tokens.filter((token) => token.id !== id)
          return Option.some(yield* stored(ended, end.at))
        }),
      touch: (id, at) =>
        Effect.sync(() => {
          const row = grants.get(id)
          if (row !== undefined) grants.set(id, { ...row, lastUsedAt: at })
        }),
      secret: (own) =>
        Effect.sync(() => {
          secret ??= own
          return secret
        })
    })
  })
)

// ---- helpers ----

interface Row {
  readonly grant: NewGrant
  readonly generation: number
  readonly rotatedAt?: Timestamp
  readonly expiresAt: Timestamp
  readonly lastUsedAt: Timestamp | null
  readonly ended?: { readonly at: Timestamp; readonly by: GrantEnd }
}

interface Token {
  readonly digest: string
  readonly id: GrantId
  readonly kind: "access" | "refresh"
  readonly generation: number
  readonly expiresAt: Timestamp
}
