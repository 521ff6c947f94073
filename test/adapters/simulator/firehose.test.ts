/** Firehose's taps, rules and validation: shapes and statuses as the reference has them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MANAGER, settle, stage, TAP } from "./stage.ts"

describe("taps", () => {
  it.scoped("are listed with their tokens; the one of the settings is there from the start", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const { status, body } = yield* on.call("/v1/taps", { headers: MANAGER })
      assert.strictEqual(status, 200)
      assert.lengthOf(body.data, 1)
      const [{ id, ...tap }] = body.data
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.deepStrictEqual(tap, {
        name: "Simulator",
        token: on.control.settings.firehose.tap_token,
        token_prefix: "fh_sim",
        rules_count: 0,
        last_used_at: null,
        created_at: "2026-11-15T12:00:00+00:00"
      })
    })
  )

  it.scoped("are made, renamed, paused and deleted", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const made = yield* on.call("/v1/taps", { method: "POST", headers: MANAGER, body: { name: "Second" } })
      assert.strictEqual(made.status, 201)
      assert.match(made.body.token, /^fh_[A-Za-z0-9]{40}$/)
      assert.hasAllKeys(made.body.data, ["id", "name", "token_prefix", "created_at"])
      const path = `/v1/taps/${made.body.data.id}`
      const own = { authorization: `Bearer ${made.body.token}` }
      assert.notProperty((yield* on.call(path, { headers: MANAGER })).body.data, "token")
      const rule = yield* on.call("/v1/rules", { method: "POST", headers: own, body: { value: "tesla" } })
      assert.strictEqual(rule.status, 201)
      assert.strictEqual(
        (yield* on.call("/v1/rules", { headers: TAP })).body.meta.count,
        0,
        "each tap has its own rules"
      )

      const put = (body: unknown) => on.call(path, { method: "PUT", headers: MANAGER, body })
      assert.strictEqual((yield* put({ name: "Renamed" })).body.data.name, "Renamed")
      assert.strictEqual((yield* put({ status: "odd" })).status, 422)
      const stream = yield* on.listen("/v1/stream", own)
      yield* put({ status: "paused" })
      yield* on.page("tesla 1")
      yield* put({ status: "active" })
      yield* on.page("tesla 2")
      yield* settle
      assert.notInclude(stream.text(), "tesla 1")
      assert.include(stream.text(), "tesla 2")

      const gone = yield* on.call(path, { method: "DELETE", headers: MANAGER })
      assert.deepStrictEqual([gone.status, gone.body], [204, ""])
      yield* settle
      assert.strictEqual(stream.ended(), "end")
      assert.strictEqual((yield* on.call("/v1/rules", { headers: own })).status, 401)
      assert.strictEqual((yield* on.call(path, { headers: MANAGER })).status, 404)
    })
  )

  it.scoped("are refused over the cap, without a name, and by the token of a tap", () =>
    Effect.gen(function* () {
      const on = yield* stage({ firehose: { tap_cap: 1 } })
      const post = (body: unknown, headers = MANAGER) => on.call("/v1/taps", { method: "POST", headers, body })
      assert.strictEqual((yield* post({ name: "Second" })).status, 422)
      assert.strictEqual((yield* post({})).status, 422)
      assert.strictEqual((yield* post({ name: "Second" }, TAP)).status, 401)
      yield* on.control.patch({ firehose: { wrong_key_status: 403 } })
      assert.strictEqual((yield* post({ name: "Second" }, TAP)).status, 403)
    })
  )
})

describe("rules", () => {
  it.scoped("are made, read, changed in part and deleted", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const made = yield* on.call("/v1/rules", {
        method: "POST",
        headers: TAP,
        body: { value: "title:tesla", tag: "cars" }
      })
      const { id } = made.body.data
      assert.deepStrictEqual(
        [made.status, made.body],
        [201, { data: { id, value: "title:tesla", tag: "cars", nsfw: false, quality: true } }]
      )
      assert.deepStrictEqual((yield* on.call("/v1/rules", { headers: TAP })).body, {
        data: [made.body.data],
        meta: { count: 1 }
      })
      const put = (body?: unknown) =>
        on.call(`/v1/rules/${id}`, { method: "PUT", headers: TAP, ...(body !== undefined && { body }) })
      const changed = yield* put({ quality: false })
      assert.deepStrictEqual([changed.status, changed.body.data], [200, { ...made.body.data, quality: false }])
      assert.deepStrictEqual((yield* put()).body.data, changed.body.data)
      assert.strictEqual((yield* put({ value: "(tesla" })).status, 422)
      assert.deepStrictEqual((yield* on.call(`/v1/rules/${id}`, { headers: TAP })).body.data, changed.body.data)
      const gone = yield* on.call(`/v1/rules/${id}`, { method: "DELETE", headers: TAP })
      assert.deepStrictEqual([gone.status, gone.body], [204, ""])
      for (const method of ["GET", "PUT", "DELETE"]) {
        const body = method === "PUT" ? { body: {} } : {}
        assert.strictEqual((yield* on.call(`/v1/rules/${id}`, { method, headers: TAP, ...body })).status, 404)
      }
    })
  )

  const refused: ReadonlyArray<readonly [what: string, body: unknown, field: string]> = [
    ["no value", { tag: "x" }, "value"],
    ["an empty value", { value: "" }, "value"],
    ["a query that is not valid", { value: "(tesla" }, "value"],
    ["a field that does not exist", { value: "category:news" }, "value"],
    ["a value that is too long", { value: "tesla ".repeat(1_400) }, "value"],
    ["a tag that is too long", { value: "tesla", tag: "t".repeat(256) }, "tag"],
    ["the key query", { query: "tesla" }, "query"],
    ["the key label", { value: "tesla", label: "x" }, "label"],
    ["a flag that is no boolean", { value: "tesla", nsfw: "yes" }, "nsfw"]
  ]
  for (const [what, body, field] of refused) {
    it.scoped(`are refused with 422 for ${what}`, () =>
      Effect.gen(function* () {
        const on = yield* stage()
        const answer = yield* on.call("/v1/rules", { method: "POST", headers: TAP, body })
        assert.strictEqual(answer.status, 422)
        assert.isString(answer.body.message)
        assert.isArray(answer.body.errors[field])
      })
    )
  }

  it.scoped("may be equal, or not if that is set; are capped over all taps", () =>
    Effect.gen(function* () {
      const on = yield* stage({ firehose: { rule_cap: 2 } })
      const [one, other] = yield* on.addFirehose("tesla", "tesla")
      assert.notStrictEqual(one, other)
      const third = yield* on.call("/v1/rules", { method: "POST", headers: TAP, body: { value: "ford" } })
      assert.strictEqual(third.status, 422)
      yield* on.control.patch({ firehose: { rule_cap: 25, duplicates: "refused", error_body: "nested" } })
      const again = yield* on.call("/v1/rules", { method: "POST", headers: TAP, body: { value: "tesla" } })
      assert.deepStrictEqual([again.status, again.body.error.code], [422, "validation_error"])
    })
  )

  it.scoped("are limited to sixty calls a minute", () =>
    Effect.gen(function* () {
      const on = yield* stage({ firehose: { rules_limit: 1 } })
      yield* on.call("/v1/rules", { headers: TAP })
      const second = yield* on.call("/v1/rules", { headers: TAP })
      assert.deepStrictEqual([second.status, second.headers.get("retry-after")], [429, "60"])
      assert.lengthOf((yield* on.control.state).violations, 1)
      yield* on.control.advance(60)
      assert.strictEqual((yield* on.call("/v1/rules", { headers: TAP })).status, 200)
    })
  )

  const keyless = ["/v1/taps", "/v1/rules", "/v1/stream"]
  for (const path of keyless) {
    it.scoped(`and all else need a key: ${path} answers 401`, () =>
      Effect.gen(function* () {
        const on = yield* stage()
        const { status, body } = yield* on.call(path)
        assert.deepStrictEqual([status, body], [401, { message: "Unauthenticated." }])
      })
    )
  }

  it.scoped("are not below a path without /v1", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      assert.strictEqual(
        (yield* on.call("/rules", { method: "POST", headers: TAP, body: { value: "tesla" } })).status,
        404
      )
      assert.strictEqual((yield* on.call("/v1/rules", { method: "PATCH", headers: TAP })).status, 405)
    })
  )
})

describe("validate", () => {
  it.scoped("tells whether a query is valid, what is wrong with it and how it reads", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const good = yield* on.call("/v1/validate", {
        method: "POST",
        headers: TAP,
        body: { value: "title:tesla  AND  ev" }
      })
      assert.deepStrictEqual(
        [good.status, good.body.data.valid, good.body.data.compiled],
        [200, true, "title:tesla AND ev"]
      )
      const bad = yield* on.call("/v1/validate/public", { method: "POST", body: { value: "(tesla" } })
      assert.deepStrictEqual([bad.status, bad.body.data.valid], [200, false])
      assert.hasAllKeys(bad.body.data.diagnostics[0], ["severity", "message", "start", "end"])
      assert.strictEqual((yield* on.call("/v1/validate", { method: "POST", body: { value: "tesla" } })).status, 401)
      assert.strictEqual((yield* on.call("/v1/validate/public", { method: "POST", body: {} })).status, 422)
    })
  )
})
