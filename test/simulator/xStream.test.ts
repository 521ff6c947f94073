/** X's stream: access, framing, slots, rate, credits, backfill; and the connections and usage endpoints. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { NOW, pass, RULES, recordsOf, STREAM, settle, stage, X } from "./stage.ts"

const PROBLEM = "https://api.x.com/2/problems"

describe("GET stream", () => {
  it.scoped("frames records and keep-alives with CRLF, and sends nothing else", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const [cat, dog] = yield* sim.addX("cat", "dog")
      const stream = yield* sim.listen(STREAM, X)
      assert.deepStrictEqual(
        [stream.status, stream.headers.get("content-type"), stream.headers.get("x-rate-limit-remaining")],
        [200, "application/json; charset=utf-8", "49"]
      )
      yield* sim.post("a cat and a dog", "a bird", "a cat")
      yield* settle
      assert.match(stream.text(), /^\{.*\}\r\n\{.*\}\r\n$/)
      const [both, one] = recordsOf(stream.text())
      assert.deepStrictEqual(both, {
        data: { id: "1000001", text: "a cat and a dog", edit_history_tweet_ids: ["1000001"] },
        matching_rules: [{ id: cat }, { id: dog }]
      })
      assert.deepStrictEqual(one.matching_rules, [{ id: cat }])
      const before = stream.text().length
      yield* pass(19)
      assert.strictEqual(stream.text().length, before)
      yield* pass(1)
      assert.strictEqual(stream.text().slice(before), "\r\n")
      yield* pass(40)
      assert.strictEqual(stream.text().slice(before), "\r\n\r\n\r\n")
      assert.strictEqual(stream.ended(), "open")
    })
  )

  it.scoped("sends the requested fields and expansions, with the field names of the call", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      const stream = yield* sim.listen(
        `${STREAM}?tweet.fields=lang,author_id&expansions=author_id&user.fields=verified`,
        X
      )
      yield* sim.post("a cat")
      yield* settle
      const [record] = recordsOf(stream.text())
      assert.hasAllKeys(record.data, ["id", "text", "edit_history_tweet_ids", "lang", "author_id"])
      assert.deepStrictEqual(record.includes, {
        users: [{ id: "7", name: "Seven", username: "seven", verified: true }]
      })
      yield* stream.hangUp
      yield* pass(5)
      const renamed = yield* sim.listen(`${STREAM}?post.fields=lang`, X)
      yield* sim.post("a cat")
      yield* settle
      assert.hasAllKeys(recordsOf(renamed.text())[0].data, ["id", "text", "edit_history_post_ids", "lang"])
    })
  )

  it.scoped("matches new rules on an open connection after the set delay", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { rule_delay_seconds: 20 } })
      yield* sim.addX("cat")
      const stream = yield* sim.listen(STREAM, X)
      yield* sim.post("a cat")
      yield* settle
      assert.strictEqual(stream.text(), "")
      yield* pass(20)
      yield* sim.post("a cat")
      yield* settle
      assert.lengthOf(recordsOf(stream.text()), 1)
    })
  )

  it.scoped("answers 409 without rules, 403 without access, and 400 for bad or unauthorized parameters", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const withoutRules = yield* sim.call(STREAM, { headers: X })
      assert.deepStrictEqual(
        [withoutRules.status, withoutRules.body],
        [
          409,
          {
            title: "ConnectionException",
            detail:
              "You must define rules using the POST /2/tweets/search/stream/rules endpoint before connecting to filtered stream.",
            connection_issue: "RuleConfigurationIssue",
            type: `${PROBLEM}/streaming-connection`
          }
        ]
      )
      yield* sim.addX("cat")
      for (const query of [
        "tweet.fields=nonsense",
        "partition=1",
        "backfill_minutes=2",
        "start_time=2026-11-15T11:00:00Z"
      ]) {
        const { status, body } = yield* sim.call(`${STREAM}?${query}`, { headers: X })
        assert.deepStrictEqual([status, body.title], [400, "Invalid Request"], query)
      }
      yield* sim.control.patch({ x: { tier: "free" } })
      const free = yield* sim.call(STREAM, { headers: X })
      assert.deepStrictEqual([free.status, free.body.reason], [403, "client-not-enrolled"])
    })
  )

  it.scoped("refuses a second connection, and keeps the slot of a disconnected client for five seconds", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      const first = yield* sim.listen(STREAM, X)
      const second = yield* sim.call(STREAM, { headers: X })
      assert.deepStrictEqual(
        [second.status, second.body.connection_issue, second.body.detail],
        [429, "TooManyConnections", "This stream is currently at the maximum allowed connection limit."]
      )
      assert.strictEqual(first.ended(), "open")
      const state = yield* sim.control.state
      assert.deepStrictEqual(
        state.violations.map(({ kind }) => kind),
        ["connections"]
      )

      yield* first.hangUp
      assert.strictEqual((yield* sim.call(STREAM, { headers: X })).status, 429)
      assert.lengthOf((yield* sim.control.state).violations, 1, "a held slot is not a violation")
      yield* pass(5)
      const third = yield* sim.listen(STREAM, X)
      assert.strictEqual(third.status, 200)
      assert.strictEqual(third.headers.get("x-rate-limit-remaining"), "46", "refused connections count too")
      const { connection_attempts, most_connections } = yield* sim.control.state
      assert.deepStrictEqual(
        connection_attempts.map(({ at, status }) => [(at - NOW) / 1_000, status]),
        [
          [0, 200],
          [0, 429],
          [0, 429],
          [5, 200]
        ]
      )
      assert.strictEqual(most_connections["x"], 1)
    })
  )

  it.scoped("frees the slot at once when the server ends the stream", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      const stream = yield* sim.listen(STREAM, X)
      yield* sim.control.inject({ kind: "disconnect", platform: "x", disconnect_type: "UpstreamOperationalDisconnect" })
      yield* settle
      assert.deepStrictEqual(recordsOf(stream.text()), [
        {
          errors: [
            {
              title: "operational-disconnect",
              disconnect_type: "UpstreamOperationalDisconnect",
              detail: "This stream has been disconnected upstream for operational reasons.",
              type: `${PROBLEM}/operational-disconnect`
            }
          ]
        }
      ])
      assert.strictEqual(stream.ended(), "end")
      assert.strictEqual((yield* sim.listen(STREAM, X)).status, 200)
    })
  )

  it.scoped("limits posts per second, and disconnects a reader whose queue is full", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { posts_per_second: 2, send_queue: 5 } })
      yield* sim.addX("cat")
      const stream = yield* sim.listen(STREAM, X)
      yield* sim.post("cat 1", "cat 2", "cat 3", "cat 4", "cat 5")
      yield* settle
      assert.lengthOf(recordsOf(stream.text()), 2)
      yield* pass(1)
      assert.lengthOf(recordsOf(stream.text()), 4)
      yield* sim.post("cat", "cat", "cat", "cat", "cat", "cat")
      yield* settle
      assert.strictEqual(recordsOf(stream.text()).at(-1).errors[0].disconnect_type, "SlowReader")
      assert.strictEqual(stream.ended(), "end")
    })
  )

  it.scoped("ends with an error line when the credits are used up, then answers 402", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { credits: 1 } })
      yield* sim.addX("cat")
      const stream = yield* sim.listen(STREAM, X)
      yield* sim.post("cat 1", "cat 2")
      yield* settle
      const [record, notice] = recordsOf(stream.text())
      assert.deepStrictEqual(
        [record.data.text, notice.errors[0].title, stream.ended()],
        ["cat 1", "UsageCapExceeded", "end"]
      )
      const next = yield* sim.call(STREAM, { headers: X })
      assert.deepStrictEqual([next.status, next.body.title], [402, "CreditsDepleted"])
    })
  )

  it.scoped("stays open when the last rule is deleted, or ends if set", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      const stream = yield* sim.listen(STREAM, X)
      yield* sim.call(`${RULES}?delete_all=true`, { method: "POST", headers: X, body: {} })
      yield* pass(20)
      assert.deepStrictEqual([stream.text(), stream.ended()], ["\r\n", "open"])
      yield* sim.control.patch({ x: { rules_gone: "disconnect", stream_errors: "bare" } })
      yield* settle
      const [notice] = recordsOf(stream.text())
      assert.deepStrictEqual([notice.disconnect_type, stream.ended()], ["InvalidRules", "end"])
    })
  )

  it.scoped("gives Enterprise a second connection, backfill, and recovery streams that end by themselves", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { tier: "enterprise" } })
      yield* sim.addX("cat")
      yield* sim.post("cat 1")
      yield* pass(90)
      yield* sim.post("cat 2")
      const live = yield* sim.listen(STREAM, X)
      const backfill = yield* sim.listen(`${STREAM}?backfill_minutes=1`, X)
      assert.deepStrictEqual([live.text(), recordsOf(backfill.text()).map(({ data }) => data.text)], ["", ["cat 2"]])
      const recovery = yield* sim.listen(`${STREAM}?start_time=2026-11-15T11:59:00Z&end_time=2026-11-15T12:01:00Z`, X)
      assert.deepStrictEqual(
        recordsOf(recovery.text()).map(({ data }) => data.text),
        ["cat 1"]
      )
      assert.strictEqual(recovery.ended(), "end")
      yield* sim.post("cat 3")
      yield* settle
      assert.lengthOf(recordsOf(live.text()), 1)
      assert.lengthOf(recordsOf(backfill.text()), 2)
    })
  )

  it.scoped("recovers at most 24 hours, on two connections at once that take no slot of the stream", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { tier: "enterprise", posts_per_second: 1, connection_cap: 1 } })
      yield* sim.addX("cat")
      yield* sim.post("cat 1", "cat 2", "cat 3")
      const recovery = `${STREAM}?start_time=2026-11-15T11:59:00Z&end_time=2026-11-15T12:00:30Z`
      const first = yield* sim.listen(recovery, X)
      const second = yield* sim.listen(recovery, X)
      assert.strictEqual((yield* sim.listen(recovery, X)).status, 429)
      assert.strictEqual((yield* sim.listen(STREAM, X)).status, 200)
      for (let turn = 0; turn < 4; turn++) yield* pass(1)
      assert.deepStrictEqual([first.ended(), second.ended()], ["end", "end"])
      assert.lengthOf(recordsOf(first.text()), 3)
      assert.strictEqual((yield* sim.control.state).most_connections["x"], 1)
      const tooOld = yield* sim.call(`${STREAM}?start_time=2026-11-14T11:59:00Z`, { headers: X })
      assert.strictEqual(tooOld.status, 400)
    })
  )

  it.scoped("ends a recovery cleanly only after its last post", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { tier: "enterprise", posts_per_second: 1 } })
      yield* sim.addX("cat")
      yield* sim.post("cat 1", "cat 2")
      const recovery = `${STREAM}?start_time=2026-11-15T11:59:00Z`
      yield* sim.control.inject({ kind: "close", platform: "x" })
      const open = yield* sim.listen(recovery, X)
      assert.strictEqual(open.ended(), "open")
      yield* sim.call("/2/connections/all", { method: "DELETE", headers: X })
      yield* settle
      assert.strictEqual(open.ended(), "dropped")
      const other = yield* sim.listen(recovery, X)
      yield* sim.control.close
      yield* settle
      assert.strictEqual(other.ended(), "dropped")
    })
  )

  it.scoped("answers 429 with the reset once the usage cap is reached, until then", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { usage_cap: 1, usage_cap_reset_seconds: 7_200 } })
      yield* sim.addX("cat")
      const stream = yield* sim.listen(STREAM, X)
      yield* sim.post("cat 1", "cat 2")
      yield* settle
      const [, problem] = recordsOf(stream.text())
      assert.strictEqual(problem.errors[0].title, "UsageCapExceeded")
      assert.strictEqual(stream.ended(), "end")
      yield* pass(10)
      const capped = yield* sim.call(STREAM, { headers: X })
      assert.deepStrictEqual(
        [capped.status, capped.body.title, capped.headers.get("x-rate-limit-reset")],
        [429, "UsageCapExceeded", String(NOW / 1_000 + 7_200)]
      )
      yield* pass(7_190)
      assert.strictEqual((yield* sim.listen(STREAM, X)).status, 200)
    })
  )
})

describe("an open stream", () => {
  it.scoped("ends when the client aborts its request, and counts as disconnected by the client", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      const controller = new AbortController()
      const request = new Request(`http://simulator${STREAM}`, { headers: X, signal: controller.signal })
      const response = yield* Effect.promise(() => sim.handler(request))
      const read = Effect.tryPromise({ try: () => response.text(), catch: (error) => error })
      controller.abort()
      assert.strictEqual(yield* Effect.flip(read), controller.signal.reason)
      yield* settle
      const { x } = yield* sim.control.state
      assert.deepStrictEqual([x.connections.length, x.slots_taken], [0, 1])
    })
  )

  it.effect("ends with the simulator, even if it stalls", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const sim = yield* Scope.extend(stage(), scope)
      yield* sim.addX("cat")
      yield* sim.control.inject({ kind: "stall", platform: "x", keep_alives: false })
      const stream = yield* sim.listen(STREAM, X)
      yield* Scope.close(scope, Exit.void)
      yield* settle
      assert.strictEqual(stream.ended(), "end")
    })
  )

  it.scoped("can be killed while it stalls", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      yield* sim.control.inject({ kind: "stall", platform: "x", keep_alives: true })
      const stream = yield* sim.listen(STREAM, X)
      yield* sim.call("/2/connections/all", { method: "DELETE", headers: X })
      yield* settle
      assert.strictEqual(stream.ended(), "end")
      assert.strictEqual((yield* sim.listen(STREAM, X)).status, 200)
    })
  )
})

describe("/2/connections", () => {
  it.scoped("lists connections, and ends them by id, by endpoint or all", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      const kill = (path: string, body?: unknown) =>
        sim.call(`/2/connections${path}`, { method: "DELETE", headers: X, ...(body !== undefined && { body }) })
      const empty = yield* sim.call("/2/connections", { headers: X })
      assert.deepStrictEqual(empty.body, { meta: { result_count: 0 } })

      const stream = yield* sim.listen(STREAM, X)
      const { body } = yield* sim.call("/2/connections?endpoints=filtered_stream", { headers: X })
      assert.deepStrictEqual(
        body.data.map(({ endpoint_name, connected_at }: Record<string, string>) => [endpoint_name, connected_at]),
        [["filtered_stream", new Date(NOW).toISOString()]]
      )
      const { id } = body.data[0]
      const killed = yield* kill("", { uuids: [id, "unknown"] })
      assert.deepStrictEqual(killed.body.data, {
        successful_kills: 1,
        failed_kills: 1,
        results: [
          { uuid: id, success: true },
          { uuid: "unknown", success: false, error_message: "Connection not found" }
        ]
      })
      yield* settle
      assert.strictEqual(stream.ended(), "end")
      const past = yield* sim.call("/2/connections?status=inactive", { headers: X })
      assert.strictEqual(past.body.data[0].disconnect_reason, "operator_disconnect")

      for (const path of ["/all", "/filtered_stream"]) {
        const next = yield* sim.listen(STREAM, X)
        assert.strictEqual(next.status, 200, "the slot is free at once")
        assert.strictEqual((yield* kill(path)).body.data.successful_kills, 1)
        yield* settle
        assert.strictEqual(next.ended(), "end")
      }
      const gone = yield* sim.listen(STREAM, X)
      yield* gone.hangUp
      const active = yield* sim.call("/2/connections", { headers: X })
      assert.lengthOf(active.body.data, 1, "X does not know that the client is gone")
      assert.notProperty(active.body.data[0], "disconnected_at")
      assert.strictEqual((yield* sim.listen(STREAM, X)).status, 429)
      assert.strictEqual((yield* kill("", { uuids: [active.body.data[0].id] })).body.data.successful_kills, 1)
      assert.strictEqual((yield* sim.listen(STREAM, X)).status, 200)
      assert.strictEqual((yield* kill("/sample_stream")).status, 400)
      assert.strictEqual((yield* kill("", { uuids: [] })).status, 400)
      assert.strictEqual((yield* sim.call("/2/connections?status=odd", { headers: X })).status, 400)
    })
  )
})

describe("GET usage", () => {
  it.scoped("counts each post once a day, even if it was sent twice", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      yield* sim.listen(STREAM, X)
      yield* sim.control.inject({ kind: "duplicate", platform: "x" })
      yield* sim.post("cat 1", "cat 2")
      yield* settle
      const { body } = yield* sim.call("/2/usage/tweets?days=2", { headers: X })
      assert.deepStrictEqual(
        [body.data.project_usage, body.data.daily_project_usage.usage],
        [
          "2",
          [
            { date: "2026-11-14T00:00:00.000Z", usage: 0 },
            { date: "2026-11-15T00:00:00.000Z", usage: 2 }
          ]
        ]
      )
      assert.strictEqual((yield* sim.call("/2/usage/tweets?days=91", { headers: X })).status, 400)
    })
  )
})
