/** Grants on the test clock: what expires when, and tokens of another address. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, TestClock } from "effect"
import * as RuntimeEntropy from "../../../adapters/runtimes/entropy.ts"
import { ClientDocuments } from "../../../core/grants/ClientDocuments.ts"
import { Clients } from "../../../core/grants/Clients.ts"
import { GrantStore } from "../../../core/grants/GrantStore.ts"
import { Grants, issuerAt } from "../../../core/grants/Grants.ts"
import { signInAt } from "../../../core/grants/signIn.ts"
import type { Key } from "../../../core/keys/Key.ts"
import { Keys } from "../../../core/keys/Keys.ts"
import { LimitReached } from "../../../core/model/Errors.ts"
import { type AccountId, Ids } from "../../../core/model/Ids.ts"
import { memoryGrants } from "../../stores/memoryGrants.ts"
import { memoryKeys } from "../../stores/memoryKeys.ts"

const servicesAt = (publicUrl: string | undefined) =>
  Keys.layerWithGrants.pipe(
    Layer.provideMerge(Grants.layerWith({ issuer: Option.map(Option.fromNullable(publicUrl), issuerAt) })),
    Layer.provideMerge(Clients.layer),
    // No client of these tests has a document.
    Layer.provide(Layer.mock(ClientDocuments, {}))
  )

const stores = Layer.provideMerge(memoryGrants, memoryKeys).pipe(
  Layer.provideMerge(Layer.provideMerge(Ids.layer, RuntimeEntropy.layer))
)

const layer = Layer.provideMerge(servicesAt("https://earshot.example"), stores)

const admit = () => Effect.void

const VERIFIER = "v".repeat(43)
const REDIRECT = "https://client.example/callback"

const ask = Effect.gen(function* () {
  const [clients, grants] = [yield* Clients, yield* Grants]
  const { clientId } = yield* clients.register({ redirect_uris: [REDIRECT] })
  const client = yield* clients.find(clientId)
  const challenge = createHash("sha256").update(VERIFIER).digest("base64url")
  const asked = { client, redirectUri: REDIRECT, challenge, state: null, scope: "write" as const }
  return { clientId, text: yield* grants.ask(asked) }
})

const newKey = Effect.gen(function* () {
  const keys = yield* Keys
  return (yield* keys.create(yield* keys.account("ann"), { name: "test", scope: "write" })).key
})

const allowedWith = (key: Key) =>
  Effect.gen(function* () {
    const grants = yield* Grants
    const account = key.account_id
    const { clientId, text } = yield* ask
    const address = yield* grants.decide({ account, key: Option.some(key.id) }, text, Option.some("write"))
    const code = new URL(address).searchParams.get("code") ?? ""
    const none = Option.none<string>()
    return {
      clientId,
      account,
      request: { clientId, code, verifier: VERIFIER, redirectUri: none, resource: none, admit }
    }
  })

const allowed = Effect.flatMap(newKey, allowedWith)

const signedIn = Effect.gen(function* () {
  const { request, ...rest } = yield* allowed
  const tokens = yield* (yield* Grants).exchange(request)
  return { ...rest, ...tokens }
})

const refreshed = (clientId: string, token: string) =>
  Effect.flatMap(Grants, (grants) =>
    grants.refresh({ clientId, token, scope: Option.none(), resource: Option.none(), admit })
  )

describe("Grants", () => {
  it.effect("a request can be decided for ten minutes", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const { text } = yield* ask
      yield* TestClock.adjust("599 seconds")
      assert.strictEqual((yield* grants.asked(text)).redirect_host, "client.example")
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Effect.flip(grants.asked(text)))._tag, "InvalidArgument")
    }).pipe(Effect.provide(layer))
  )

  it.effect("a code works for five minutes", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const [first, second] = [yield* allowed, yield* allowed]
      yield* TestClock.adjust("299 seconds")
      yield* grants.exchange(first.request)
      yield* TestClock.adjust("1 second")
      assert.propertyVal(yield* Effect.flip(grants.exchange(second.request)), "error", "invalid_grant")
      assert.lengthOf(yield* grants.list(first.account), 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an access token works for an hour, also if its caller is cached", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const { accessToken, account } = yield* signedIn
      yield* TestClock.adjust("3599 seconds")
      const caller = yield* keys.authenticate(accessToken)
      assert.deepInclude(caller, { account, scope: "write" })
      assert.match(caller.grant?.client ?? "", /^registered:[0-9a-f]{32}$/)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Effect.flip(keys.authenticate(accessToken)))._tag, "Unauthenticated")
    }).pipe(Effect.provide(layer))
  )

  it.effect("a grant lasts as long as it is refreshed within 30 days", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const { clientId, refreshToken, account } = yield* signedIn
      yield* TestClock.adjust("29 days")
      const second = yield* refreshed(clientId, refreshToken)
      yield* TestClock.adjust("29 days")
      const third = yield* refreshed(clientId, second.refreshToken)
      yield* TestClock.adjust("30 days")
      assert.propertyVal(yield* Effect.flip(refreshed(clientId, third.refreshToken)), "error", "invalid_grant")
      assert.deepInclude((yield* grants.list(account))[0], { ended_at: null, ended_by: null })
    }).pipe(Effect.provide(layer))
  )

  it.effect("a refresh token that was replaced works for 30 seconds more, and then ends the grant", () =>
    Effect.gen(function* () {
      const [grants, keys] = [yield* Grants, yield* Keys]
      const { clientId, refreshToken, account } = yield* signedIn
      yield* refreshed(clientId, refreshToken)
      yield* TestClock.adjust("29 seconds")
      const { accessToken } = yield* refreshed(clientId, refreshToken)
      yield* keys.authenticate(accessToken)
      yield* TestClock.adjust("1 second")
      assert.propertyVal(yield* Effect.flip(refreshed(clientId, refreshToken)), "error", "invalid_grant")
      assert.strictEqual((yield* Effect.flip(keys.authenticate(accessToken)))._tag, "Unauthenticated")
      assert.deepInclude((yield* grants.list(account))[0], { ended_by: "reuse" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("a request beyond the limit of the account changes nothing", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const { request, account } = yield* allowed
      const full = new LimitReached({ name: "requests", limit: 1, used: 1 })
      const asked: Array<AccountId> = []
      const refuse = (one: AccountId) =>
        Effect.zipRight(
          Effect.sync(() => asked.push(one)),
          full
        )
      assert.strictEqual((yield* Effect.flip(grants.exchange({ ...request, admit: refuse })))._tag, "LimitReached")
      const { refreshToken } = yield* grants.exchange(request)
      const again = { clientId: request.clientId, token: refreshToken, scope: Option.none(), resource: Option.none() }
      assert.strictEqual((yield* Effect.flip(grants.refresh({ ...again, admit: refuse })))._tag, "LimitReached")
      yield* TestClock.adjust("1 minute")
      yield* grants.refresh({ ...again, admit })
      assert.deepStrictEqual(asked, [account, account])
    }).pipe(Effect.provide(layer))
  )

  it.effect("of two that use one token within the grace, the one that comes later is noticed", () =>
    Effect.gen(function* () {
      const { clientId, refreshToken } = yield* signedIn
      const [client, thief] = [yield* refreshed(clientId, refreshToken), yield* refreshed(clientId, refreshToken)]
      yield* TestClock.adjust("1 hour")
      const next = yield* refreshed(clientId, client.refreshToken)
      yield* TestClock.adjust("1 hour")
      assert.match((yield* Effect.flip(refreshed(clientId, thief.refreshToken))).message, /used before/)
      assert.propertyVal(yield* Effect.flip(refreshed(clientId, next.refreshToken)), "error", "invalid_grant")
    }).pipe(Effect.provide(layer))
  )

  it.effect("tokens do not work for a server with another public address, or with none", () =>
    Effect.gen(function* () {
      const { accessToken, refreshToken, clientId } = yield* signedIn
      for (const other of ["https://other.example", undefined]) {
        yield* Effect.gen(function* () {
          const keys = yield* Keys
          assert.strictEqual((yield* Effect.flip(keys.authenticate(accessToken)))._tag, "Unauthenticated")
          assert.propertyVal(yield* Effect.flip(refreshed(clientId, refreshToken)), "error", "invalid_grant")
        }).pipe(Effect.provide(Layer.fresh(servicesAt(other))), Effect.provideService(GrantStore, yield* GrantStore))
      }
      yield* (yield* Keys).authenticate(accessToken)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an account has at most 100 active grants", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const allow = allowedWith(yield* newKey)
      for (let i = 0; i < 100; i++) yield* allow
      assert.propertyVal(yield* Effect.flip(allow), "name", "grants")
      yield* TestClock.adjust("5 minutes")
      const { account } = yield* allow
      assert.deepStrictEqual(yield* grants.list(account), [], "codes that nobody used are not shown")
    }).pipe(Effect.provide(layer))
  )
})

describe("signInAt", () => {
  it("needs https, except on localhost, and the console", () => {
    const at = (url: string | undefined, hasConsole = true) => signInAt(Option.fromNullable(url), hasConsole)._tag
    for (const url of ["https://earshot.example", "http://localhost:8787", "http://127.0.0.1:1", "http://[::1]:1"]) {
      assert.strictEqual(at(url), "Right", url)
    }
    for (const url of [undefined, "http://earshot.example", "http://localhost.example", "http://127.0.0.1.example"]) {
      assert.strictEqual(at(url), "Left", url)
    }
    assert.strictEqual(at("https://earshot.example", false), "Left")
  })
})
