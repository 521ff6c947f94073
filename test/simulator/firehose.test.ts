/** Firehose's taps, rules and validation: bodies and statuses as in its reference. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MANAGER, settle, stage, TAP } from "./stage.ts"

describe("/v1/taps", () => {
  it.scoped("lists taps with their tokens, initially the tap of the settings", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const { status, body } = yield* sim.call("/v1/taps", { headers: MANAGER })
      assert.strictEqual(status, 200)
      assert.lengthOf(body.data, 1)
      const [{ id, ...tap }] = body.data
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.deepStrictEqual(tap, {
        name: "Simulator",
        token: sim.control.settings.firehose.tap_token,
        token_prefix: "fh_sim",
        rules_count: 0,
        last_used_at: null,
        created_at: "2026-11-15T12:00:00+00:00"
      })
    })
  )

  it.scoped("creates, renames, pauses and deletes a tap", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const created = yield* sim.call("/v1/taps", { method: "POST", headers: MANAGER, body: { name: "Second" } })
      assert.strictEqual(created.status, 201)
      assert.match(created.body.token, /^fh_[A-Za-z0-9]{40}$/)
      assert.hasAllKeys(created.body.data, ["id", "name", "token_prefix", "created_at"])
      const path = `/v1/taps/${created.body.data.id}`
      const own = { authorization: `Bearer ${created.body.token}` }
      assert.notProperty((yield* sim.call(path, { headers: MANAGER })).body.data, "token")
      const rule = yield* sim.call("/v1/rules", { method: "POST", headers: own, body: { value: "tesla" } })
      assert.strictEqual(rule.status, 201)
      assert.strictEqual(
        (yield* sim.call("/v1/rules", { headers: TAP })).body.meta.count,
        0,
        "each tap has its own rules"
      )

      const put = (body: unknown) => sim.call(path, { method: "PUT", headers: MANAGER, body })
      assert.strictEqual((yield* put({ name: "Renamed" })).body.data.name, "Renamed")
      assert.strictEqual((yield* put({ status: "odd" })).status, 422)
      const stream = yield* sim.listen("/v1/stream", own)
      yield* put({ status: "paused" })
      yield* sim.page("tesla 1")
      yield* put({ status: "active" })
      yield* sim.page("tesla 2")
      yield* settle
      assert.notInclude(stream.text(), "tesla 1")
      assert.include(stream.text(), "tesla 2")

      const deleted = yield* sim.call(path, { method: "DELETE", headers: MANAGER })
      assert.deepStrictEqual([deleted.status, deleted.body], [204, ""])
      yield* settle
      assert.strictEqual(stream.ended(), "end")
      assert.strictEqual((yield* sim.call("/v1/rules", { headers: own })).status, 401)
      assert.strictEqual((yield* sim.call(path, { headers: MANAGER })).status, 404)
    })
  )

  it.scoped("refuses a tap over the cap, without a name, or with a tap token", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ firehose: { tap_cap: 1 } })
      const post = (body: unknown, headers = MANAGER) => sim.call("/v1/taps", { method: "POST", headers, body })
      assert.strictEqual((yield* post({ name: "Second" })).status, 422)
      assert.strictEqual((yield* post({})).status, 422)
      assert.strictEqual((yield* post({ name: "Second" }, TAP)).status, 401)
      yield* sim.control.patch({ firehose: { wrong_key_status: 403 } })
      assert.strictEqual((yield* post({ name: "Second" }, TAP)).status, 403)
    })
  )
})

describe("/v1/rules", () => {
  it.scoped("creates, reads, partly updates and deletes a rule", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const created = yield* sim.call("/v1/rules", {
        method: "POST",
        headers: TAP,
        body: { value: "title:tesla", tag: "cars" }
      })
      const { id } = created.body.data
      assert.deepStrictEqual(
        [created.status, created.body],
        [201, { data: { id, value: "title:tesla", tag: "cars", nsfw: false, quality: true } }]
      )
      assert.deepStrictEqual((yield* sim.call("/v1/rules", { headers: TAP })).body, {
        data: [created.body.data],
        meta: { count: 1 }
      })
      const put = (body?: unknown) =>
        sim.call(`/v1/rules/${id}`, { method: "PUT", headers: TAP, ...(body !== undefined && { body }) })
      const changed = yield* put({ quality: false })
      assert.deepStrictEqual([changed.status, changed.body.data], [200, { ...created.body.data, quality: false }])
      assert.deepStrictEqual((yield* put()).body.data, changed.body.data)
      assert.strictEqual((yield* put({ value: "(tesla" })).status, 422)
      assert.deepStrictEqual((yield* sim.call(`/v1/rules/${id}`, { headers: TAP })).body.data, changed.body.data)
      const deleted = yield* sim.call(`/v1/rules/${id}`, { method: "DELETE", headers: TAP })
      assert.deepStrictEqual([deleted.status, deleted.body], [204, ""])
      for (const method of ["GET", "PUT", "DELETE"]) {
        const body = method === "PUT" ? { body: {} } : {}
        assert.strictEqual((yield* sim.call(`/v1/rules/${id}`, { method, headers: TAP, ...body })).status, 404)
      }
    })
  )

  const refused: ReadonlyArray<readonly [what: string, body: unknown, field: string]> = [
    ["no value", { tag: "x" }, "value"],
    ["an empty value", { value: "" }, "value"],
    ["an invalid query", { value: "(tesla" }, "value"],
    ["an unknown field", { value: "category:news" }, "value"],
    ["a value that is too long", { value: "tesla ".repeat(1_400) }, "value"],
    ["a tag that is too long", { value: "tesla", tag: "t".repeat(256) }, "tag"],
    ["the key query", { query: "tesla" }, "query"],
    ["the key label", { value: "tesla", label: "x" }, "label"],
    ["a flag that is not a boolean", { value: "tesla", nsfw: "yes" }, "nsfw"]
  ]
  for (const [what, body, field] of refused) {
    it.scoped(`answers ${what} with 422`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        const answer = yield* sim.call("/v1/rules", { method: "POST", headers: TAP, body })
        assert.strictEqual(answer.status, 422)
        assert.isString(answer.body.message)
        assert.isArray(answer.body.errors[field])
      })
    )
  }

  it.scoped("allows duplicates unless set otherwise, and caps rules over all taps", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ firehose: { rule_cap: 2 } })
      const [one, other] = yield* sim.addFirehose("tesla", "tesla")
      assert.notStrictEqual(one, other)
      const third = yield* sim.call("/v1/rules", { method: "POST", headers: TAP, body: { value: "ford" } })
      assert.strictEqual(third.status, 422)
      yield* sim.control.patch({ firehose: { rule_cap: 25, duplicates: "refused", error_body: "nested" } })
      const again = yield* sim.call("/v1/rules", { method: "POST", headers: TAP, body: { value: "tesla" } })
      assert.deepStrictEqual([again.status, again.body.error.code], [422, "validation_error"])
    })
  )

  it.scoped("limits calls per minute", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ firehose: { rules_limit: 1 } })
      yield* sim.call("/v1/rules", { headers: TAP })
      const second = yield* sim.call("/v1/rules", { headers: TAP })
      assert.deepStrictEqual([second.status, second.headers.get("retry-after")], [429, "60"])
      assert.lengthOf((yield* sim.control.state).violations, 1)
      yield* sim.control.advance(60)
      assert.strictEqual((yield* sim.call("/v1/rules", { headers: TAP })).status, 200)
    })
  )

  for (const path of ["/v1/taps", "/v1/rules", "/v1/stream"]) {
    it.scoped(`${path} answers 401 without a key`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        const { status, body } = yield* sim.call(path)
        assert.deepStrictEqual([status, body], [401, { message: "Unauthenticated." }])
      })
    )
  }

  it.scoped("answers 404 without /v1 and 405 for an unknown method", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      assert.strictEqual(
        (yield* sim.call("/rules", { method: "POST", headers: TAP, body: { value: "tesla" } })).status,
        404
      )
      assert.strictEqual((yield* sim.call("/v1/rules", { method: "PATCH", headers: TAP })).status, 405)
    })
  )
})

describe("/v1/validate", () => {
  it.scoped("returns validity, diagnostics and the compiled query", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const good = yield* sim.call("/v1/validate", {
        method: "POST",
        headers: TAP,
        body: { value: "title:tesla  AND  ev" }
      })
      assert.deepStrictEqual(
        [good.status, good.body.data.valid, good.body.data.compiled],
        [200, true, "title:tesla AND ev"]
      )
      const bad = yield* sim.call("/v1/validate/public", { method: "POST", body: { value: "(tesla" } })
      assert.deepStrictEqual([bad.status, bad.body.data.valid], [200, false])
      assert.hasAllKeys(bad.body.data.diagnostics[0], ["severity", "message", "start", "end"])
      assert.strictEqual((yield* sim.call("/v1/validate", { method: "POST", body: { value: "tesla" } })).status, 401)
      assert.strictEqual((yield* sim.call("/v1/validate/public", { method: "POST", body: {} })).status, 422)
    })
  )
})
