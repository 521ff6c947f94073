/** Keys over HTTP: scopes, rotation, expiry and revocation. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { allContracts } from "../../api/contracts.ts"
import { SCOPES } from "../../core/keys/Key.ts"
import { assertError, call, draft, type Target } from "./client.ts"
import { serve, service } from "./inProcess.ts"

const NEEDED = { read: 0, write: 1, admin: 2 }

describe("scopes", () => {
  it.scopedLive("every operation is refused for a smaller scope and not for a larger one, on REST and tRPC", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const targets = yield* Effect.forEach(SCOPES, (scope) => as("ann", scope))
      for (const [index, target] of targets.entries()) {
        for (const { method, path, scope } of [...allContracts, ...OTHER_ROUTES]) {
          const answer = yield* request(target, method, path)
          if (index >= NEEDED[scope]) {
            assert.notStrictEqual(answer.status, 403, path)
            continue
          }
          assertError(answer, 403, "permission_denied", new RegExp(`"${scope}" is needed`))
          assert.deepStrictEqual<unknown>(answer.body["details"], { scope: SCOPES[index], needed: scope })
        }
      }
      const [reader] = targets
      if (reader === undefined) return
      const denied = yield* ask(reader, "/trpc/keys.create", {})
      assert.strictEqual(denied.status, 403)
      assert.match(JSON.stringify(denied.body), /"code":"permission_denied".*"needed":"admin"/)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("the refusal does not depend on the id, byte for byte", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, reader] = [yield* as("ann"), yield* as("ann", "read")]
      const rule = String((yield* ask(ann, "/api.CreateRule", draft("cat"))).body["rule_id"])
      const unknown = rule.slice(0, -4) + (rule.endsWith("0000") ? "1111" : "0000")
      const answers = yield* Effect.forEach([rule, unknown], (rule_id) =>
        Effect.map(ask(reader, "/api.DeleteRule", { rule_id }), ({ status, body }) => JSON.stringify([status, body]))
      )
      assert.strictEqual(answers[0], answers[1])
      const { body } = yield* ask(ann, "/api.ListRules")
      assert.lengthOf(body["rules"] as unknown as ReadonlyArray<unknown>, 1)
    }).pipe(Effect.provide(service))
  )
})

describe("keys", () => {
  it.scopedLive("create returns a secret that works, list shows the key without it, and revoke ends it at once", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const created = yield* ask(ann, "/keys/create", { name: "reader", scope: "read" })
      const { key, secret } = decodeIssued(created.body)
      const reader = { ...ann, key: secret }
      assert.strictEqual((yield* ask(reader, "/api.ListRules")).status, 200)
      const listed = yield* ask(ann, "/keys")
      assert.deepInclude((listed.body["keys"] as unknown as ReadonlyArray<object>)[1], {
        id: key.id,
        scope: "read",
        expires_at: null
      })
      assert.notInclude(JSON.stringify(listed.body), secret)
      assert.strictEqual((yield* ask(ann, "/keys/revoke", { key_id: key.id })).status, 200)
      assertError(yield* ask(reader, "/api.ListRules"), 401, "unauthenticated")
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("rotate returns a second secret, and both work during the overlap only", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const first = decodeIssued((yield* ask(ann, "/keys/create", { name: "a", scope: "read" })).body)
      const works = (secret: string) =>
        Effect.map(ask({ ...ann, key: secret }, "/api.ListRules"), ({ status }) => status === 200)
      const second = decodeIssued((yield* ask(ann, "/keys/rotate", { key_id: first.key.id, overlap_seconds: 1 })).body)
      assert.strictEqual(second.key.id, first.key.id)
      assert.deepStrictEqual([yield* works(first.secret), yield* works(second.secret)], [true, true])
      yield* Effect.sleep("1100 millis")
      assert.deepStrictEqual([yield* works(first.secret), yield* works(second.secret)], [false, true])
      const third = decodeIssued((yield* ask(ann, "/keys/rotate", { key_id: first.key.id, overlap_seconds: 0 })).body)
      assert.deepStrictEqual([yield* works(second.secret), yield* works(third.secret)], [false, true])
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("a key stops working when it expires", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const expires_at = new Date(Date.now() + 1_500).toISOString()
      const { key, secret } = decodeIssued(
        (yield* ask(ann, "/keys/create", { name: "a", scope: "read", expires_at })).body
      )
      const list = ask({ ...ann, key: secret }, "/api.ListRules")
      assert.strictEqual((yield* list).status, 200)
      yield* Effect.sleep("1600 millis")
      assertError(yield* list, 401, "unauthenticated")
      assertError(yield* ask(ann, "/keys/rotate", { key_id: key.id }), 400, "failed_precondition", /expired/)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("bad input and the last admin key get an error that says what to do", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      const create = (fields: object) => ask(ann, "/keys/create", { name: "a", scope: "read", ...fields })
      assertError(yield* create({ scope: "owner" }), 400, "invalid_argument", /scope/)
      assertError(yield* create({ name: " " }), 400, "invalid_argument", /name/)
      assertError(yield* create({ expires_at: "tomorrow" }), 400, "invalid_argument", /2027-01-31T12:00:00Z/)
      assertError(yield* create({ expires_at: "2020-01-01" }), 400, "invalid_argument", /future/)
      for (const expires_at of ["2027-02-30", "2027-02-31T00:00:00Z", "2027-02-29T23:00:00-05:00", "2027-01-32"]) {
        assertError(yield* create({ expires_at }), 400, "invalid_argument", /"expires_at": The day 2027-\S+ does not/)
      }
      assert.strictEqual((yield* create({ expires_at: "2028-02-29" })).status, 200)
      const { body } = yield* ask(bob, "/keys")
      const foreign = String((body["keys"] as unknown as ReadonlyArray<{ id: string }>)[0]?.id)
      for (const key_id of [foreign, "key_1", ""]) {
        assertError(yield* ask(ann, "/keys/revoke", { key_id }), 404, "not_found")
        assertError(yield* ask(ann, "/keys/rotate", { key_id }), 404, "not_found")
      }
      assertError(yield* ask(bob, "/keys/revoke", { key_id: foreign }), 400, "failed_precondition", /last active admin/)
      assert.strictEqual((yield* ask(bob, "/keys")).status, 200)
    }).pipe(Effect.provide(service))
  )
})

// ---- helpers ----

const OTHER_ROUTES = [
  { method: "GET", path: "/matches/stream", scope: "read" },
  { method: "POST", path: "/local/events", scope: "write" }
] as const

const ask = (target: Target, path: string, body?: unknown) => Effect.promise(() => call(target, path, body))

/** With a body that no operation accepts, so that nothing changes. */
const request = (target: Target, method: string, path: string) =>
  method === "GET" ? ask(target, `${path}?nothing=1`) : ask(target, path, { nothing: 1 })

const decodeIssued = Schema.decodeUnknownSync(
  Schema.Struct({ key: Schema.Struct({ id: Schema.String }), secret: Schema.String })
)
