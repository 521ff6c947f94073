/** Firehose's stream: frames, resuming, limits, and both versions of the wire format. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventsOf, pageOf, pass, type Stage, settle, stage, TAP } from "./stage.ts"

const updates = (text: string) => eventsOf(text).filter(({ event }) => event === "update")
const titles = (text: string) => updates(text).map(({ data }) => JSON.parse(data).document.title)

/** Opens a stream, reads the matches that are ready and disconnects. */
const replay = (sim: Stage, query: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const stream = yield* sim.listen(`/v1/stream${query}`, { ...TAP, ...headers })
    yield* stream.hangUp
    return { ...stream, titles: titles(stream.text()) }
  })

describe("GET stream", () => {
  it.scoped("sends connected, then updates with ids, and ends after its timeout", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const [tesla, news] = yield* sim.addFirehose("tesla", "news OR tesla")
      const stream = yield* sim.listen("/v1/stream?timeout=60", TAP)
      assert.deepStrictEqual(
        [stream.status, stream.headers.get("content-type"), stream.text()],
        [200, "text/event-stream; charset=utf-8", "event: connected\ndata: {}\n\n"]
      )
      yield* sim.page("ford", "tesla", "news")
      yield* settle
      const [first, second] = updates(stream.text())
      assert.deepStrictEqual([first?.id, second?.id], ["0-43001", "0-43002"], "pages without a match leave gaps")
      const { tap_id, ...match } = JSON.parse(first?.data ?? "")
      assert.isString(tap_id)
      assert.deepStrictEqual(match, {
        query_ids: [tesla, news],
        matched_at: "2026-11-15T12:00:00.000Z",
        document: pageOf("tesla", 2).document
      })
      assert.match(stream.text(), /\n\nid: 0-43001\nevent: update\ndata: \{[^\n]*\}\n\n/)
      yield* pass(59)
      assert.strictEqual(stream.ended(), "open")
      yield* pass(1)
      assert.match(stream.text(), /\n\nevent: end\ndata: \{\}\n\n$/)
      assert.strictEqual(stream.ended(), "end")
    })
  )

  it.scoped("lasts 300 seconds by default, and sends keep-alives only if set", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addFirehose("tesla")
      const stream = yield* sim.listen("/v1/stream", TAP)
      yield* pass(299)
      assert.deepStrictEqual([stream.text(), stream.ended()], ["event: connected\ndata: {}\n\n", "open"])
      yield* pass(1)
      assert.strictEqual(stream.ended(), "end")
      yield* sim.control.patch({ firehose: { keep_alive_seconds: 15 } })
      const kept = yield* sim.listen("/v1/stream", TAP)
      yield* pass(30)
      assert.strictEqual(kept.text(), "event: connected\ndata: {}\n\n: keepalive\n\n: keepalive\n\n")
    })
  )

  it.scoped("resumes after Last-Event-ID with exactly the missed matches", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addFirehose("tesla")
      const stream = yield* sim.listen("/v1/stream", TAP)
      yield* sim.page("tesla 1", "tesla 2", "ford", "tesla 3")
      yield* settle
      const ids = updates(stream.text()).map(({ id }) => id ?? "")
      yield* stream.hangUp
      yield* sim.page("tesla 4", "tesla 5")
      const resumed = (id = "") => replay(sim, "", { "last-event-id": id })
      assert.deepStrictEqual((yield* resumed(ids[2])).titles, ["tesla 4", "tesla 5"])
      assert.deepStrictEqual((yield* resumed(ids[0])).titles, ["tesla 2", "tesla 3", "tesla 4", "tesla 5"])
      assert.deepStrictEqual((yield* replay(sim, "")).titles, [], "without it, starts now")
    })
  )

  it.scoped("starts at Last-Event-ID, offset or since, in that order of precedence", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addFirehose("tesla")
      yield* sim.page("tesla 1")
      yield* pass(600)
      yield* sim.page("tesla 2")
      yield* pass(60)
      yield* sim.page("tesla 3")
      assert.deepStrictEqual((yield* replay(sim, "?since=5m")).titles, ["tesla 2", "tesla 3"])
      assert.deepStrictEqual((yield* replay(sim, "?since=24h")).titles, ["tesla 1", "tesla 2", "tesla 3"])
      assert.deepStrictEqual((yield* replay(sim, "?offset=43001")).titles, ["tesla 2", "tesla 3"])
      assert.deepStrictEqual((yield* replay(sim, "?offset=43002&since=24h")).titles, ["tesla 3"])
      const headers = { "last-event-id": "0-43001" }
      assert.deepStrictEqual((yield* replay(sim, "?offset=43000&since=24h", headers)).titles, ["tesla 3"])
    })
  )

  it.scoped("drops matches after 24 hours, and starts at the oldest kept match", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ firehose: { keep_alive_seconds: 0 } })
      const put = { quality: false }
      const [id] = yield* sim.addFirehose("tesla")
      yield* sim.call(`/v1/rules/${id}`, { method: "PUT", headers: TAP, body: put })
      yield* sim.page("tesla 1")
      yield* sim.control.advance(23 * 3_600)
      yield* sim.page("tesla 2")
      yield* sim.control.advance(2 * 3_600)
      assert.deepStrictEqual((yield* replay(sim, "", { "last-event-id": "0-42999" })).titles, ["tesla 2"])
      yield* sim.control.patch({ firehose: { too_old: "error" } })
      assert.strictEqual((yield* replay(sim, "", { "last-event-id": "0-42999" })).status, 422)
    })
  )

  it.scoped("ends after the limit, which includes replayed matches", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addFirehose("tesla")
      yield* sim.page("tesla 1", "tesla 2")
      const stream = yield* sim.listen("/v1/stream?since=1h&limit=3", TAP)
      assert.strictEqual(stream.ended(), "open")
      yield* sim.page("tesla 3", "tesla 4")
      yield* settle
      assert.deepStrictEqual([titles(stream.text()), stream.ended()], [["tesla 1", "tesla 2", "tesla 3"], "end"])
      assert.strictEqual(eventsOf(stream.text()).at(-1)?.event, "end")
    })
  )

  for (const query of [
    "timeout=0",
    "timeout=301",
    "limit=0",
    "limit=10001",
    "since=25h",
    "since=5",
    "offset=x",
    "rule_id=1",
    "format=x"
  ]) {
    it.scoped(`answers ${query} with 422, or 400 if set`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        yield* sim.addFirehose("tesla")
        assert.strictEqual((yield* sim.call(`/v1/stream?${query}`, { headers: TAP })).status, 422)
        yield* sim.control.patch({ firehose: { bad_parameter_status: 400 } })
        assert.strictEqual((yield* sim.call(`/v1/stream?${query}`, { headers: TAP })).status, 400)
      })
    )
  }

  it.scoped("answers a malformed Last-Event-ID with 422", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addFirehose("tesla")
      for (const id of ["abc", "43000", "1-5"])
        assert.strictEqual((yield* replay(sim, "", { "last-event-id": id })).status, 422, id)
    })
  )

  it.scoped("sends an error event to a tap without rules, and to an open stream only if set", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const empty = yield* sim.listen("/v1/stream", TAP)
      assert.deepStrictEqual(eventsOf(empty.text()), [
        { event: "connected", data: "{}" },
        { event: "error", data: '{"message":"No rules configured. Create rules first via POST /v1/rules."}' }
      ])
      assert.deepStrictEqual([empty.status, empty.ended()], [200, "end"])
      const [id] = yield* sim.addFirehose("tesla")
      const stream = yield* sim.listen("/v1/stream", TAP)
      yield* sim.call(`/v1/rules/${id}`, { method: "DELETE", headers: TAP })
      yield* settle
      assert.strictEqual(stream.ended(), "open")
      yield* sim.control.patch({ firehose: { rules_gone: "error" } })
      yield* settle
      assert.deepStrictEqual([eventsOf(stream.text()).at(-1)?.event, stream.ended()], ["error", "end"])
    })
  )

  it.scoped("supports the older format: one update per rule, empty lists as data, and markdown", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ firehose: { rule_ids: "query_id", empty_data: "[]", markdown: "always" } })
      const ids = yield* sim.addFirehose("tesla", "model")
      const stream = yield* sim.listen("/v1/stream?timeout=1", TAP)
      yield* sim.page("tesla model")
      yield* pass(1)
      const [connected, first, second, end] = eventsOf(stream.text())
      assert.deepStrictEqual([connected?.data, end?.data], ["[]", "[]"])
      assert.deepStrictEqual(
        [first, second].map((event) => JSON.parse(event?.data ?? "").query_id),
        [...ids]
      )
      assert.deepStrictEqual([first?.id, second?.id], ["0-43000", "0-43001"])
      assert.isString(JSON.parse(first?.data ?? "").document.markdown)
    })
  )

  it.scoped("limits connections per minute, and open streams only if set", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ firehose: { stream_limit: 3 } })
      yield* sim.addFirehose("tesla")
      const [one, two] = [yield* sim.listen("/v1/stream", TAP), yield* sim.listen("/v1/stream", TAP)]
      yield* sim.page("tesla")
      yield* settle
      assert.deepStrictEqual([titles(one.text()), titles(two.text())], [["tesla"], ["tesla"]])
      yield* sim.control.patch({ firehose: { streams_per_tap: 2 } })
      assert.strictEqual((yield* sim.listen("/v1/stream", TAP)).status, 429)
      const over = yield* sim.listen("/v1/stream", TAP)
      assert.deepStrictEqual([over.status, over.headers.get("retry-after")], [429, "60"])
      const state = yield* sim.control.state
      assert.deepStrictEqual(
        state.violations.map(({ kind }) => kind),
        ["connections", "calls"]
      )
      assert.strictEqual(state.most_connections["firehose"], 2)
    })
  )

  it.scoped("answers 402 without credits, and ends an open stream only if set", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ firehose: { credits: 1 } })
      yield* sim.addFirehose("tesla")
      const stream = yield* sim.listen("/v1/stream", TAP)
      yield* sim.page("tesla 1", "tesla 2")
      yield* settle
      assert.lengthOf(titles(stream.text()), 2)
      assert.strictEqual((yield* sim.call("/v1/stream", { headers: TAP })).status, 402)
      yield* sim.control.patch({ firehose: { no_credits: "close" } })
      yield* settle
      assert.strictEqual(stream.ended(), "end")
    })
  )

  it.scoped("filters pages by the nsfw and quality flags of each rule", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const add = (body: unknown) => sim.call("/v1/rules", { method: "POST", headers: TAP, body })
      yield* add({ value: "tesla" })
      const { body } = yield* add({ value: "tesla", quality: false, nsfw: true })
      const stream = yield* sim.listen("/v1/stream", TAP)
      const changedPage = (change: Readonly<Record<string, unknown>>) => ({
        document: { ...pageOf("tesla", 1).document, ...change }
      })
      const pages = [
        changedPage({ url: "https://a.example/x?page=2" }),
        changedPage({ url: "https://a.example/tag/x" }),
        changedPage({ publish_time: "2026-11-01T00:00:00" }),
        changedPage({ page_category: ["/Adult"] })
      ]
      yield* sim.control.publish(pages)
      yield* settle
      assert.deepStrictEqual(
        updates(stream.text()).map(({ data }) => JSON.parse(data).query_ids),
        pages.map(() => [body.data.id])
      )
    })
  )
})
