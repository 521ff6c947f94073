/** The contract of `GrantStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { v7 } from "uuid"
import { GrantStore, KEPT_GRANTS, KEPT_TOKENS, type NewGrant, type StoredGrant } from "../../core/grants/GrantStore.ts"
import { KeyStore } from "../../core/keys/KeyStore.ts"
import { fromUuid } from "../../core/model/Ids.ts"
import { at, newAccount, newKey } from "./samples.ts"

const LATER = at(100)

export const newGrant = (overrides: Partial<NewGrant> = {}) =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const account_id = overrides.account_id ?? (yield* newAccount)
    const key = newKey({ accountId: account_id })
    if (overrides.key_id === undefined) yield* keys.insert(key)
    const grant: NewGrant = {
      id: fromUuid("grant", v7()),
      account_id,
      client_id: "https://client.example/metadata.json",
      client_name: "Ünïcode client",
      redirect_host: "client.example",
      scope: "write",
      resource: "https://earshot.example/mcp",
      key_id: key.id,
      created_at: at(0),
      codeDigest: `code ${v7()}`,
      redirectUri: "https://client.example/callback",
      challenge: "challenge",
      expiresAt: at(5),
      ...overrides
    }
    return grant
  })

/** Stored, with its code. */
const storedGrant = (overrides: Partial<NewGrant> = {}) =>
  Effect.gen(function* () {
    const grant = yield* newGrant(overrides)
    assert.isTrue(yield* (yield* GrantStore).insert(grant))
    return grant
  })

const newTokens = (minutes = 60) => ({
  access: { digest: `access ${v7()}`, expiresAt: at(minutes) },
  refresh: { digest: `refresh ${v7()}`, expiresAt: at(minutes * 2) }
})

/** With its first tokens. */
const exchangedGrant = (overrides: Partial<NewGrant> = {}) =>
  Effect.gen(function* () {
    const grant = yield* storedGrant(overrides)
    const tokens = newTokens()
    assert.isTrue(yield* (yield* GrantStore).exchange(grant.id, tokens, at(1)))
    return { ...grant, tokens }
  })

const byCode = ({ codeDigest }: NewGrant, time = at(1)) =>
  Effect.flatMap(GrantStore, (grants) => Effect.map(grants.findByCode(codeDigest, time), Option.getOrNull))

const byToken = (digest: string, time = at(1)) =>
  Effect.flatMap(GrantStore, (grants) => Effect.map(grants.findByToken(digest, time), Option.getOrNull))

const ids = (grants: ReadonlyArray<StoredGrant>) => grants.map(({ id }) => id)

export const grantStoreContract = <E>(name: string, layer: Layer.Layer<GrantStore | KeyStore, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`GrantStore on ${name}`, (it) => {
    // PGlite runs the SQL of Postgres, and takes ten seconds for so many rows.
    const bounded = it.effect.skipIf(name === "PGlite")

    it.effect("insert stores a grant that findByCode finds, without tokens yet", () =>
      Effect.gen(function* () {
        const grant = yield* storedGrant()
        const { codeDigest: _, redirectUri, challenge, expiresAt, ...rest } = grant
        const stored: StoredGrant = {
          ...rest,
          last_used_at: null,
          expires_at: expiresAt,
          ended_at: null,
          ended_by: null,
          isExchanged: false,
          keyEndsAt: null
        }
        assert.deepStrictEqual(yield* byCode(grant), { grant: stored, redirectUri, challenge, expiresAt })
        assert.isNull(yield* byCode({ ...grant, codeDigest: `${grant.codeDigest}.` }))
        const grants = yield* GrantStore
        assert.isFalse(yield* grants.insert({ ...grant, codeDigest: "another" }))
        assert.deepStrictEqual(yield* grants.list(Option.some(grant.account_id), at(1)), [stored])
      })
    )

    it.effect("exchange adds the first tokens once, also of concurrent calls", () =>
      Effect.gen(function* () {
        const grants = yield* GrantStore
        const grant = yield* storedGrant()
        const attempts = Array.from({ length: 5 }, () => newTokens())
        const done = yield* Effect.forEach(attempts, (tokens) => grants.exchange(grant.id, tokens, at(1)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(done.filter(Boolean).length, 1)
        for (const [index, { access, refresh }] of attempts.entries()) {
          const found = [yield* byToken(access.digest), yield* byToken(refresh.digest)]
          if (done[index] !== true) assert.deepStrictEqual(found, [null, null])
          else {
            assert.deepInclude(found[0], { kind: "access", generation: 1, expiresAt: access.expiresAt })
            assert.deepInclude(found[1], { kind: "refresh", generation: 1, expiresAt: refresh.expiresAt })
            assert.deepInclude(found[0]?.grant, { id: grant.id, isExchanged: true, expires_at: refresh.expiresAt })
          }
        }
        assert.isFalse(yield* grants.exchange(fromUuid("grant", v7()), newTokens(), at(1)))
      })
    )

    it.effect("rotate replaces a generation, further times only within the grace", () =>
      Effect.gen(function* () {
        const grants = yield* GrantStore
        const { id } = yield* exchangedGrant()
        const rotate = (generation: number, minutes: number, tokens = newTokens()) =>
          grants.rotate(id, generation, tokens, { at: at(minutes), graceMillis: 60_000 * 2 })
        const [second, sibling] = [newTokens(90), newTokens(91)]
        assert.isTrue(yield* rotate(1, 10, second))
        assert.isTrue(yield* rotate(1, 11, sibling), "within the grace of two minutes")
        for (const { refresh } of [second, sibling]) {
          assert.deepInclude(yield* byToken(refresh.digest), { generation: 2, expiresAt: refresh.expiresAt })
        }
        assert.strictEqual((yield* byToken(sibling.access.digest))?.grant.expires_at, sibling.refresh.expiresAt)
        assert.isFalse(yield* rotate(1, 13), "the grace counts from the first")
        assert.isTrue(yield* rotate(2, 14))
        assert.isFalse(yield* rotate(1, 14), "two generations later")
        assert.isFalse(yield* rotate(4, 14), "a generation that does not exist")
        const concurrent = yield* Effect.forEach([1, 2, 3], () => rotate(3, 20), { concurrency: "unbounded" })
        assert.deepStrictEqual(concurrent, [true, true, true])
      })
    )

    bounded("rotate forgets expired tokens, and the oldest of very many", () =>
      Effect.gen(function* () {
        const grants = yield* GrantStore
        const { id, tokens } = yield* exchangedGrant()
        const options = { at: at(61), graceMillis: 1 }
        assert.isTrue(yield* grants.rotate(id, 1, newTokens(200), options))
        assert.isNull(yield* byToken(tokens.access.digest), "expired")
        assert.isNotNull(yield* byToken(tokens.refresh.digest), "replaced, but known")
        for (let generation = 2; generation <= KEPT_TOKENS / 2; generation++) {
          yield* grants.rotate(id, generation, newTokens(200), options)
        }
        const last = newTokens(200)
        yield* grants.rotate(id, KEPT_TOKENS / 2 + 1, last, options)
        assert.isNull(yield* byToken(tokens.refresh.digest))
        assert.isNotNull(yield* byToken(last.refresh.digest))
      })
    )

    it.effect("end keeps the first end, deletes the tokens, and returns none for an unknown or foreign id", () =>
      Effect.gen(function* () {
        const grants = yield* GrantStore
        const { id, account_id, tokens, ...grant } = yield* exchangedGrant()
        const other = yield* exchangedGrant()
        const end = { at: at(2), by: "client" as const }
        assert.isTrue(Option.isNone(yield* grants.end({ id, account: Option.some(other.account_id) }, end)))
        assert.isTrue(Option.isNone(yield* grants.end({ id: fromUuid("grant", v7()), account: Option.none() }, end)))
        assert.isNotNull(yield* byToken(tokens.access.digest))
        const ended = yield* grants.end({ id, account: Option.some(account_id) }, end)
        assert.deepInclude(Option.getOrNull(ended), { id, ended_at: at(2), ended_by: "client" })
        const again = yield* grants.end({ id, account: Option.none() }, { at: at(3), by: "revoked" })
        assert.deepStrictEqual(again, ended)
        for (const { digest } of [tokens.access, tokens.refresh]) assert.isNull(yield* byToken(digest))
        assert.isNotNull(yield* byToken(other.tokens.access.digest))
        assert.deepInclude((yield* byCode({ id, account_id, ...grant }))?.grant, { ended_at: at(2) })
        assert.isFalse(yield* grants.rotate(id, 1, newTokens(), { at: at(3), graceMillis: 1 }))
        const unused = yield* storedGrant()
        yield* grants.end({ id: unused.id, account: Option.none() }, end)
        assert.isFalse(yield* grants.exchange(unused.id, newTokens(), at(3)))
      })
    )

    it.effect("a grant ends with its key, at the earlier of revocation and expiry", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const grants = yield* GrantStore
        const accountId = yield* newAccount
        const key = newKey({ accountId, expiresAt: Option.some(at(50)) })
        yield* keys.insert(key)
        const { tokens } = yield* exchangedGrant({ account_id: accountId, key_id: key.id })
        assert.deepInclude((yield* byToken(tokens.access.digest, at(49)))?.grant, {
          ended_at: null,
          keyEndsAt: at(50)
        })
        const expired = { ended_at: at(50), ended_by: "key" as const }
        assert.deepInclude((yield* byToken(tokens.access.digest, at(50)))?.grant, expired)
        yield* keys.revoke({ id: key.id, account: Option.none() }, { at: at(20), force: true })
        const [listed] = yield* grants.list(Option.some(accountId), LATER)
        assert.deepInclude(listed, { ended_at: at(20), ended_by: "key" })
      })
    )

    it.effect("touch sets the last use, and list returns the grants of an account or all, oldest first", () =>
      Effect.gen(function* () {
        const grants = yield* GrantStore
        const first = yield* exchangedGrant()
        const second = yield* storedGrant({ account_id: first.account_id })
        const other = yield* storedGrant()
        yield* grants.touch(first.id, at(7))
        const own = yield* grants.list(Option.some(first.account_id), LATER)
        assert.deepStrictEqual(ids(own), [first.id, second.id])
        assert.strictEqual(own[0]?.last_used_at, at(7))
        const all = ids(yield* grants.list(Option.none(), LATER))
        const three = [first.id, second.id, other.id]
        assert.deepStrictEqual(
          all.filter((id) => three.includes(id)),
          three
        )
      })
    )

    bounded("insert deletes the oldest grants beyond the kept ones, unless they are active", () =>
      Effect.gen(function* () {
        const [grants, keys] = [yield* GrantStore, yield* KeyStore]
        const active = yield* exchangedGrant()
        const rest = { account_id: active.account_id, key_id: active.key_id }
        const ofOtherKey = yield* exchangedGrant({ account_id: active.account_id })
        const more = Array.from({ length: KEPT_GRANTS }, () => rest)
        yield* Effect.forEach(more, storedGrant, { concurrency: 10 })
        const add = () => storedGrant({ ...rest, created_at: at(6), expiresAt: at(11) })
        const left = () => Effect.map(grants.list(Option.some(active.account_id), at(6)), ids)
        yield* add()
        assert.lengthOf(yield* left(), KEPT_GRANTS + 2)
        assert.deepStrictEqual((yield* left()).slice(0, 2), [active.id, ofOtherKey.id])
        yield* keys.revoke({ id: ofOtherKey.key_id, account: Option.none() }, { at: at(5), force: true })
        yield* add()
        assert.lengthOf(yield* left(), KEPT_GRANTS + 1)
        assert.notInclude(yield* left(), ofOtherKey.id)
      })
    )

    it.effect("secret is the one of the first call", () =>
      Effect.gen(function* () {
        const grants = yield* GrantStore
        const secrets = yield* Effect.forEach(["a", "b", "c"], grants.secret, { concurrency: "unbounded" })
        assert.strictEqual(new Set(secrets).size, 1)
        assert.strictEqual(yield* grants.secret("d"), secrets[0])
      })
    )
  })
