/** X's rules endpoints: bodies and statuses as in its reference. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NOW, RULES, type Stage, stage, X } from "./stage.ts"

const add = (sim: Stage, rules: ReadonlyArray<unknown>, query = "") =>
  sim.call(`${RULES}${query}`, { method: "POST", headers: X, body: { add: rules } })

const HOST = "https://api.x.com/2/problems"

describe("GET rules", () => {
  it.scoped("returns no data without rules, only meta.sent and the count", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const { status, body, headers } = yield* sim.call(RULES, { headers: X })
      assert.deepStrictEqual([status, body], [200, { meta: { sent: new Date(NOW).toISOString(), result_count: 0 } }])
      assert.deepStrictEqual(
        ["limit", "remaining", "reset"].map((name) => headers.get(`x-rate-limit-${name}`)),
        ["450", "449", String(NOW / 1_000 + 900)]
      )
    })
  )

  it.scoped("lists rules in pages and by ids, in order of creation", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const ids = yield* sim.addX("cat", "dog", "bird")
      const first = yield* sim.call(`${RULES}?max_results=2`, { headers: X })
      assert.deepStrictEqual(
        first.body.data.map(({ id }: { id: string }) => id),
        ids.slice(0, 2)
      )
      assert.match(first.body.meta.next_token, /^[0-9A-V]{16}$/)
      const second = yield* sim.call(`${RULES}?max_results=2&pagination_token=${first.body.meta.next_token}`, {
        headers: X
      })
      assert.deepStrictEqual([second.body.data.length, second.body.meta.next_token], [1, undefined])
      const one = yield* sim.call(`${RULES}?ids=${ids[1]},999`, { headers: X })
      assert.deepStrictEqual(one.body.data, [{ id: ids[1], value: "dog" }])
    })
  )

  for (const query of ["max_results=0", "max_results=1001", "max_results=x", "ids=abc", "pagination_token=short"]) {
    it.scoped(`answers ${query} with Invalid Request`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        const { status, body } = yield* sim.call(`${RULES}?${query}`, { headers: X })
        assert.deepStrictEqual([status, body.title, body.type], [400, "Invalid Request", `${HOST}/invalid-request`])
        assert.property(body.errors[0].parameters, query.slice(0, query.indexOf("=")))
      })
    )
  }
})

describe("POST rules", () => {
  it.scoped("adds rules with 201 and returns them", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const { status, body } = yield* add(sim, [{ value: "cat has:images", tag: "cats" }, { value: "dog" }])
      assert.strictEqual(status, 201)
      assert.deepStrictEqual(body.meta, {
        sent: new Date(NOW).toISOString(),
        summary: { created: 2, not_created: 0, valid: 2, invalid: 0 }
      })
      assert.deepStrictEqual(
        body.data.map(({ value, tag }: { value: string; tag?: string }) => [value, tag]),
        [
          ["cat has:images", "cats"],
          ["dog", undefined]
        ]
      )
      for (const { id } of body.data) assert.match(id, /^[0-9]{1,19}$/)
      assert.notProperty(body, "errors")
    })
  )

  it.scoped("answers a duplicate with the id of the existing rule, and counts it as invalid", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const [id] = yield* sim.addX("cat")
      const all = yield* add(sim, [{ value: "cat", tag: "other" }])
      assert.strictEqual(all.status, 201)
      assert.deepStrictEqual(all.body, {
        meta: { sent: new Date(NOW).toISOString(), summary: { created: 0, not_created: 1, valid: 0, invalid: 1 } },
        errors: [{ value: "cat", id, title: "DuplicateRule", type: `${HOST}/duplicate-rules` }]
      })
      const some = yield* add(sim, [{ value: "dog" }, { value: "cat" }, { value: "bird" }])
      assert.deepStrictEqual(some.body.meta.summary, { created: 2, not_created: 1, valid: 2, invalid: 1 })
      yield* sim.control.patch({ x: { all_duplicates_status: 200 } })
      assert.strictEqual((yield* add(sim, [{ value: "cat" }])).status, 200)
      assert.strictEqual((yield* add(sim, [{ value: "cat " }])).status, 201, "whitespace makes a different rule")
      yield* sim.control.patch({ x: { duplicate_check: "canonical" } })
      assert.strictEqual((yield* add(sim, [{ value: "  cat" }])).body.errors[0].title, "DuplicateRule")
    })
  )

  it.scoped("answers an invalid rule with 200, and adds the valid rules of the batch unless set otherwise", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const { status, body } = yield* add(sim, [{ value: "-cat" }])
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body.errors, [
        {
          value: "-cat",
          details: [
            "Rules must contain a non-negation term (at position 1)",
            "Rules must contain at least one positive, non-stopword clause (at position 1)"
          ],
          title: "UnprocessableEntity",
          type: `${HOST}/invalid-rules`
        }
      ])
      const mixed = yield* add(sim, [{ value: "cat" }, { value: "(dog" }])
      assert.deepStrictEqual(
        [mixed.status, mixed.body.meta.summary],
        [201, { created: 1, not_created: 1, valid: 1, invalid: 1 }]
      )
      yield* sim.control.patch({ x: { atomic_invalid: true } })
      const atomic = yield* add(sim, [{ value: "bird" }, { value: "(dog" }])
      assert.deepStrictEqual(
        [atomic.status, atomic.body.meta.summary],
        [200, { created: 0, not_created: 2, valid: 1, invalid: 1 }]
      )
    })
  )

  const details: ReadonlyArray<readonly [rule: string, ...details: ReadonlyArray<string>]> = [
    ["you", "Rules must contain at least one positive, non-stopword clause (at position 1)"],
    [
      "fish AND bird",
      'Ambiguous use of and as a keyword. Use a space to logically join two clauses, or "and" to find occurrences of and in text (at position 6)'
    ],
    ["has:links OR is:retweet", "has/is/lang/sample/source cannot be used as a standalone operator"],
    ["(a snow) cat)", "missing EOF at ')' (at position 13)"],
    ["(snow OR sleet fall", "mismatched input 'EOF' expecting ')' (at position 20)"],
    ["from:contains:heart", "Cannot parse rule at ':' (position 14)"],
    ["h:ello", "Reference to invalid operator 'h' (at position 1).", "Reference to invalid field 'h' (at position 1)."]
  ]
  for (const [rule, ...expected] of details) {
    it.scoped(`returns X's error details for ${rule}`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        const { body } = yield* add(sim, [{ value: rule }])
        assert.deepStrictEqual(body.errors[0].details, expected)
      })
    )
  }

  it.scoped("counts positions in UTF-16 code units", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const { body } = yield* add(sim, [{ value: 'Pizza OR 🍕 OR "🍕" sample:100' }])
      assert.match(body.errors[0].details[0], /^The sample operator cannot be used with an OR\..*\(at position 21\)$/)
    })
  )

  it.scoped("refuses a rule that is longer than the tier allows", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const long = "cat ".repeat(300).trim()
      const { body } = yield* add(sim, [{ value: long }])
      assert.deepStrictEqual(body.errors[0].details, [`Rule '${long}' must be at most 1024 characters`])
      yield* sim.control.patch({ x: { tier: "enterprise" } })
      assert.strictEqual((yield* add(sim, [{ value: long }])).status, 201)
    })
  )

  it.scoped("refuses the whole request if it exceeds the cap", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { rule_cap: 2 } })
      const { status, body } = yield* add(sim, [{ value: "a1" }, { value: "a2" }, { value: "a3" }])
      assert.deepStrictEqual([status, body.title, body.type], [422, "RulesCapExceeded", `${HOST}/rule-cap`])
      assert.strictEqual((yield* sim.call(RULES, { headers: X })).body.meta.result_count, 0)
      yield* sim.control.patch({ x: { rule_cap_status: 400 } })
      assert.strictEqual((yield* add(sim, [{ value: "a1" }, { value: "a2" }, { value: "a3" }])).status, 400)
    })
  )

  it.scoped("answers a dry run like a real call and changes nothing", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const added = yield* add(sim, [{ value: "cat" }], "?dry_run=true")
      assert.deepStrictEqual([added.status, added.body.meta.summary.created], [201, 1])
      assert.match(added.body.data[0].id, /^\d+$/)
      assert.strictEqual((yield* sim.call(RULES, { headers: X })).body.meta.result_count, 0)
      const [id] = yield* sim.addX("cat")
      const removed = yield* sim.call(`${RULES}?dry_run=true`, {
        method: "POST",
        headers: X,
        body: { delete: { ids: [id] } }
      })
      assert.deepStrictEqual(removed.body.meta.summary, { deleted: 1, not_deleted: 0 })
      assert.strictEqual((yield* sim.call(RULES, { headers: X })).body.meta.result_count, 1)
    })
  )

  it.scoped("deletes by id, by value and all at once", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const [id] = yield* sim.addX("cat", "dog", "bird", "fish")
      const remove = (body: unknown, query = "") => sim.call(`${RULES}${query}`, { method: "POST", headers: X, body })
      const some = yield* remove({ delete: { ids: [id, "123"], values: ["dog"] } })
      assert.deepStrictEqual([some.status, some.body.meta.summary], [200, { deleted: 2, not_deleted: 1 }])
      assert.notProperty(some.body, "data")
      assert.deepStrictEqual(some.body.errors[0].errors[0].parameters, { ids: ["123"] })
      const all = yield* remove({}, "?delete_all=true")
      assert.deepStrictEqual([all.status, all.body.meta.summary], [200, { deleted: 2, not_deleted: 0 }])
      assert.strictEqual((yield* sim.call(RULES, { headers: X })).body.meta.result_count, 0)
    })
  )

  const wrong: ReadonlyArray<readonly [what: string, body: unknown, query?: string]> = [
    ["no add or delete", {}],
    ["both add and delete", { add: [{ value: "a" }], delete: { ids: ["1"] } }],
    ["delete_all with add", { add: [{ value: "cat" }] }, "?delete_all=true"],
    ["delete_all as a dry run", {}, "?delete_all=true&dry_run=true"],
    ["an empty add", { add: [] }],
    ["a rule without a value", { add: [{ tag: "x" }] }],
    ["a rule with an unknown field", { add: [{ value: "cat", extra: 1 }] }],
    ["an empty delete", { delete: {} }],
    ["invalid JSON", "{"],
    ["a flag that is not a boolean", { add: [{ value: "cat" }] }, "?dry_run=yes"],
    ["a tag that is too long", { add: [{ value: "cat", tag: "t".repeat(256) }] }],
    ["too many rules", { add: Array.from({ length: 1_001 }, (_, index) => ({ value: `w${index}` })) }]
  ]
  for (const [what, body, query = ""] of wrong) {
    it.scoped(`answers ${what} with 400`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        const answer = yield* sim.call(`${RULES}${query}`, { method: "POST", headers: X, body })
        assert.deepStrictEqual([answer.status, answer.body.title], [400, "Invalid Request"])
        assert.isString(answer.body.errors[0].message)
      })
    )
  }

  it.scoped("takes only JSON, at most 5 MB", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const body = JSON.stringify({ add: [{ value: "cat" }] })
      const plain = yield* sim.call(RULES, { method: "POST", headers: { ...X, "content-type": "text/plain" }, body })
      assert.strictEqual(plain.status, 400)
      const large = yield* sim.call(RULES, { method: "POST", headers: X, body: `${body}${" ".repeat(5_242_880)}` })
      assert.strictEqual(large.status, 413)
    })
  )
})

describe("GET rules/counts", () => {
  it.scoped("returns numbers as strings unless set otherwise, and all apps only on request", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat", "dog")
      const { status, body } = yield* sim.call(`${RULES}/counts`, { headers: X })
      assert.deepStrictEqual([status, body.data.cap_per_client_app, body.data.project_rules_count], [200, "1000", "2"])
      assert.strictEqual(body.data.client_app_rules_count.rule_count, 2)
      assert.notProperty(body.data, "all_project_client_apps")
      const requested = yield* sim.call(`${RULES}/counts?rules_count.fields=all_project_client_apps`, { headers: X })
      assert.deepStrictEqual(Object.keys(requested.body.data), ["all_project_client_apps"])
      assert.strictEqual((yield* sim.call(`${RULES}/counts?rules_count.fields=x`, { headers: X })).status, 400)
      yield* sim.control.patch({ x: { counts_as: "numbers" } })
      assert.strictEqual((yield* sim.call(`${RULES}/counts`, { headers: X })).body.data.cap_per_client_app, 1_000)
    })
  )
})

describe("every X endpoint", () => {
  const endpoints = [
    RULES,
    `${RULES}/counts`,
    "/2/tweets/search/stream",
    "/2/connections",
    "/2/usage/tweets",
    "/2/tweets/counts/recent"
  ]
  for (const path of endpoints) {
    it.scoped(`${path} answers 401 without rate-limit headers for a wrong or missing token`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "Basic abc" }]) {
          const answer = yield* sim.call(path, { headers })
          assert.deepStrictEqual(
            [answer.status, answer.body],
            [401, { title: "Unauthorized", detail: "Unauthorized", type: "about:blank", status: 401 }]
          )
          assert.isNull(answer.headers.get("x-rate-limit-limit"))
        }
      })
    )
  }

  it.scoped("limits calls per 15 minutes, returns the reset time and records violations", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { rules_get_limit: 2 } })
      yield* sim.call(RULES, { headers: X })
      yield* sim.call(`${RULES}/counts`, { headers: X })
      const third = yield* sim.call(RULES, { headers: X })
      assert.deepStrictEqual(
        [
          third.status,
          third.body.title,
          third.headers.get("x-rate-limit-remaining"),
          third.headers.get("x-rate-limit-reset")
        ],
        [429, "Too Many Requests", "0", String(NOW / 1_000 + 900)]
      )
      const state = yield* sim.control.state
      assert.deepStrictEqual(
        state.violations.map(({ kind, platform }) => [kind, platform]),
        [["calls", "x"]]
      )
      assert.deepStrictEqual(state.calls["x.rules.list"]?.statuses, { 200: 1, 429: 1 })
      yield* sim.control.advance(900)
      assert.strictEqual((yield* sim.call(RULES, { headers: X })).status, 200)
      yield* sim.control.patch({ x: { rate_limit_body: "v1.1" } })
      yield* sim.call(RULES, { headers: X })
      assert.deepStrictEqual((yield* sim.call(RULES, { headers: X })).body, {
        errors: [{ code: 88, message: "Rate limit exceeded" }]
      })
    })
  )

  it.scoped("answers 404 for an unknown path and 405 for an unknown method", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      assert.strictEqual((yield* sim.call("/2/nothing", { headers: X })).status, 404)
      const answer = yield* sim.call(RULES, { method: "PUT", headers: X })
      assert.deepStrictEqual([answer.status, answer.headers.get("allow")], [405, "GET, POST"])
    })
  )

  it.scoped("uses the old host in problem types if set", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { problem_host: "https://api.twitter.com" } })
      const { body } = yield* add(sim, [{ value: "-cat" }])
      assert.strictEqual(body.errors[0].type, "https://api.twitter.com/2/problems/invalid-rules")
    })
  )
})
