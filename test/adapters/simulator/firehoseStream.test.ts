/** Firehose's stream: frames, resuming, limits, both forms of the wire format. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventsOf, pageOf, pass, type Stage, settle, stage, TAP } from "./stage.ts"

const updates = (text: string) => eventsOf(text).filter(({ event }) => event === "update")
const titles = (text: string) => updates(text).map(({ data }) => JSON.parse(data).document.title)

/** Everything in the log that a query gives, as far as there is. */
const replay = (on: Stage, query: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const stream = yield* on.listen(`/v1/stream${query}`, { ...TAP, ...headers })
    yield* stream.hangUp
    return { ...stream, titles: titles(stream.text()) }
  })

describe("GET stream", () => {
  it.scoped("begins with connected, sends updates with ids, and ends after its time", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const [tesla, news] = yield* on.addFirehose("tesla", "news OR tesla")
      const stream = yield* on.listen("/v1/stream?timeout=60", TAP)
      assert.deepStrictEqual(
        [stream.status, stream.headers.get("content-type"), stream.text()],
        [200, "text/event-stream; charset=utf-8", "event: connected\ndata: {}\n\n"]
      )
      yield* on.page("ford", "tesla", "news")
      yield* settle
      const [first, second] = updates(stream.text())
      assert.deepStrictEqual([first?.id, second?.id], ["0-43001", "0-43002"], "pages that met nothing leave gaps")
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

  it.scoped("lasts 300 seconds and is silent unless told otherwise", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      yield* on.addFirehose("tesla")
      const stream = yield* on.listen("/v1/stream", TAP)
      yield* pass(299)
      assert.deepStrictEqual([stream.text(), stream.ended()], ["event: connected\ndata: {}\n\n", "open"])
      yield* pass(1)
      assert.strictEqual(stream.ended(), "end")
      yield* on.control.patch({ firehose: { keep_alive_seconds: 15 } })
      const kept = yield* on.listen("/v1/stream", TAP)
      yield* pass(30)
      assert.strictEqual(kept.text(), "event: connected\ndata: {}\n\n: keepalive\n\n: keepalive\n\n")
    })
  )

  it.scoped("resumes after Last-Event-ID with exactly what is missing", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      yield* on.addFirehose("tesla")
      const stream = yield* on.listen("/v1/stream", TAP)
      yield* on.page("tesla 1", "tesla 2", "ford", "tesla 3")
      yield* settle
      const ids = updates(stream.text()).map(({ id }) => id ?? "")
      yield* stream.hangUp
      yield* on.page("tesla 4", "tesla 5")
      const resumed = (id = "") => replay(on, "", { "last-event-id": id })
      assert.deepStrictEqual((yield* resumed(ids[2])).titles, ["tesla 4", "tesla 5"])
      assert.deepStrictEqual((yield* resumed(ids[0])).titles, ["tesla 2", "tesla 3", "tesla 4", "tesla 5"])
      assert.deepStrictEqual((yield* replay(on, "")).titles, [], "without it, from now on")
    })
  )

  it.scoped("begins at an offset or some time ago; Last-Event-ID goes before offset, and that before since", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      yield* on.addFirehose("tesla")
      yield* on.page("tesla 1")
      yield* pass(600)
      yield* on.page("tesla 2")
      yield* pass(60)
      yield* on.page("tesla 3")
      assert.deepStrictEqual((yield* replay(on, "?since=5m")).titles, ["tesla 2", "tesla 3"])
      assert.deepStrictEqual((yield* replay(on, "?since=24h")).titles, ["tesla 1", "tesla 2", "tesla 3"])
      assert.deepStrictEqual((yield* replay(on, "?offset=43001")).titles, ["tesla 2", "tesla 3"])
      assert.deepStrictEqual((yield* replay(on, "?offset=43002&since=24h")).titles, ["tesla 3"])
      const headers = { "last-event-id": "0-43001" }
      assert.deepStrictEqual((yield* replay(on, "?offset=43000&since=24h", headers)).titles, ["tesla 3"])
    })
  )

  it.scoped("forgets after 24 hours, and begins with the oldest that is left", () =>
    Effect.gen(function* () {
      const on = yield* stage({ firehose: { keep_alive_seconds: 0 } })
      const put = { quality: false }
      const [id] = yield* on.addFirehose("tesla")
      yield* on.call(`/v1/rules/${id}`, { method: "PUT", headers: TAP, body: put })
      yield* on.page("tesla 1")
      yield* on.control.advance(23 * 3_600)
      yield* on.page("tesla 2")
      yield* on.control.advance(2 * 3_600)
      assert.deepStrictEqual((yield* replay(on, "", { "last-event-id": "0-42999" })).titles, ["tesla 2"])
      yield* on.control.patch({ firehose: { too_old: "error" } })
      assert.strictEqual((yield* replay(on, "", { "last-event-id": "0-42999" })).status, 422)
    })
  )

  it.scoped("ends after the limit, replayed ones included", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      yield* on.addFirehose("tesla")
      yield* on.page("tesla 1", "tesla 2")
      const stream = yield* on.listen("/v1/stream?since=1h&limit=3", TAP)
      assert.strictEqual(stream.ended(), "open")
      yield* on.page("tesla 3", "tesla 4")
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
    it.scoped(`answers ${query} with 422, or 400 if that is set`, () =>
      Effect.gen(function* () {
        const on = yield* stage()
        yield* on.addFirehose("tesla")
        assert.strictEqual((yield* on.call(`/v1/stream?${query}`, { headers: TAP })).status, 422)
        yield* on.control.patch({ firehose: { bad_parameter_status: 400 } })
        assert.strictEqual((yield* on.call(`/v1/stream?${query}`, { headers: TAP })).status, 400)
      })
    )
  }

  it.scoped("answers a malformed Last-Event-ID with 422", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      yield* on.addFirehose("tesla")
      for (const id of ["abc", "43000", "1-5"])
        assert.strictEqual((yield* replay(on, "", { "last-event-id": id })).status, 422, id)
    })
  )

  it.scoped(
    "tells a tap without rules so, with status 200; an open stream just falls silent, or not if that is set",
    () =>
      Effect.gen(function* () {
        const on = yield* stage()
        const empty = yield* on.listen("/v1/stream", TAP)
        assert.deepStrictEqual(eventsOf(empty.text()), [
          { event: "connected", data: "{}" },
          { event: "error", data: '{"message":"No rules configured. Create rules first via POST /v1/rules."}' }
        ])
        assert.deepStrictEqual([empty.status, empty.ended()], [200, "end"])
        const [id] = yield* on.addFirehose("tesla")
        const stream = yield* on.listen("/v1/stream", TAP)
        yield* on.call(`/v1/rules/${id}`, { method: "DELETE", headers: TAP })
        yield* settle
        assert.strictEqual(stream.ended(), "open")
        yield* on.control.patch({ firehose: { rules_gone: "error" } })
        yield* settle
        assert.deepStrictEqual([eventsOf(stream.text()).at(-1)?.event, stream.ended()], ["error", "end"])
      })
  )

  it.scoped("speaks the older form: one update for each rule, lists for nothing, the whole page", () =>
    Effect.gen(function* () {
      const on = yield* stage({ firehose: { rule_ids: "query_id", empty_data: "[]", markdown: "always" } })
      const ids = yield* on.addFirehose("tesla", "model")
      const stream = yield* on.listen("/v1/stream?timeout=1", TAP)
      yield* on.page("tesla model")
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

  it.scoped("allows thirty connections a minute, and any number at once unless a number is set", () =>
    Effect.gen(function* () {
      const on = yield* stage({ firehose: { stream_limit: 3 } })
      yield* on.addFirehose("tesla")
      const [one, two] = [yield* on.listen("/v1/stream", TAP), yield* on.listen("/v1/stream", TAP)]
      yield* on.page("tesla")
      yield* settle
      assert.deepStrictEqual([titles(one.text()), titles(two.text())], [["tesla"], ["tesla"]])
      yield* on.control.patch({ firehose: { streams_per_tap: 2 } })
      assert.strictEqual((yield* on.listen("/v1/stream", TAP)).status, 429)
      const over = yield* on.listen("/v1/stream", TAP)
      assert.deepStrictEqual([over.status, over.headers.get("retry-after")], [429, "60"])
      const state = yield* on.control.state
      assert.deepStrictEqual(
        state.violations.map(({ kind }) => kind),
        ["connections", "calls"]
      )
      assert.strictEqual(state.most_connections["firehose"], 2)
    })
  )

  it.scoped("answers 402 once the credit is used up; an open stream runs on, or ends if that is set", () =>
    Effect.gen(function* () {
      const on = yield* stage({ firehose: { credits: 1 } })
      yield* on.addFirehose("tesla")
      const stream = yield* on.listen("/v1/stream", TAP)
      yield* on.page("tesla 1", "tesla 2")
      yield* settle
      assert.lengthOf(titles(stream.text()), 2)
      assert.strictEqual((yield* on.call("/v1/stream", { headers: TAP })).status, 402)
      yield* on.control.patch({ firehose: { no_credits: "close" } })
      yield* settle
      assert.strictEqual(stream.ended(), "end")
    })
  )

  it.scoped("holds back pages by the switches of each rule", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const add = (body: unknown) => on.call("/v1/rules", { method: "POST", headers: TAP, body })
      yield* add({ value: "tesla" })
      const { body } = yield* add({ value: "tesla", quality: false, nsfw: true })
      const stream = yield* on.listen("/v1/stream", TAP)
      const odd = (change: Readonly<Record<string, unknown>>) => ({
        document: { ...pageOf("tesla", 1).document, ...change }
      })
      const pages = [
        odd({ url: "https://a.example/x?page=2" }),
        odd({ url: "https://a.example/tag/x" }),
        odd({ publish_time: "2026-11-01T00:00:00" }),
        odd({ page_category: ["/Adult"] })
      ]
      yield* on.control.publish(pages)
      yield* settle
      assert.deepStrictEqual(
        updates(stream.text()).map(({ data }) => JSON.parse(data).query_ids),
        pages.map(() => [body.data.id])
      )
    })
  )
})
