/** The feeds of the simulator, as the adapter's parser reads them: documents, conditional requests and faults. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { decodeText } from "../../adapters/feeds/decode.ts"
import { parseFeed } from "../../adapters/feeds/parse.ts"
import { endpoints } from "../../simulator/endpoints.ts"
import type { FaultRequest } from "../../simulator/faults.ts"
import { type Stage, stage } from "./stage.ts"

const item = (number: number, feed?: string) => ({
  feed: { url: feed === undefined ? "https://example.org/" : `http://simulator/feeds/${feed}` },
  item: {
    id: `item-${number}`,
    url: `https://example.org/${number}`,
    title: `Störm & "more" ${number}`,
    summary: "The harbour is closed",
    categories: ["weather"],
    authors: ["Ada"],
    published: "2026-11-15T11:00:00.000Z"
  }
})

const get = (sim: Stage, path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const response = await sim.handler(new Request(`http://simulator${path}`, { headers }))
    const bytes = new Uint8Array(await response.arrayBuffer())
    const text = decodeText(bytes, response.headers.get("content-type") ?? "")
    return { status: response.status, headers: response.headers, bytes, text }
  })

const read = (text: string) => parseFeed(text, { baseUrl: "http://simulator/", digest: String })

const idsIn = (text: string) => Either.getOrThrow(read(text)).items.map(({ id }) => id)

describe("/feeds", () => {
  it.scoped("shows the newest items of each feed in its format, with all their fields", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ feeds: { window: 2 } })
      const published = [1, 2, 3].flatMap((number) => endpoints.feeds.map((feed) => item(number, feed)))
      assert.deepStrictEqual((yield* Effect.orDie(sim.control.publish(published))).accepted.feeds, 12)
      const formats: Array<string> = []
      for (const name of endpoints.feeds) {
        const feed = Either.getOrThrow(read((yield* get(sim, `/feeds/${name}`)).text))
        formats.push(feed.format)
        const expected = { ...item(3).item, link_texts: [], enclosures: [] }
        assert.deepStrictEqual(feed.items[0], expected)
        assert.deepStrictEqual(
          feed.items.map(({ id }) => id),
          ["item-3", "item-2"]
        )
      }
      assert.deepStrictEqual(formats, ["rss", "atom", "rdf", "json"])
      const { body } = yield* sim.call("/control/feeds/truth")
      assert.deepInclude(body.items[0], { feed: "1.xml", id: "item-1", isInFirstDocument: false })
      assert.notProperty(body.items[0], "firstShownAt")
      assert.deepInclude(body.items[2], { id: "item-3", isInFirstDocument: true })
      assert.isNumber(body.items[2].firstShownAt)
    })
  )

  it.scoped("deals items without the address of a feed to all feeds, and answers 404 for another path", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* Effect.orDie(sim.control.publish([1, 2, 3, 4].map((number) => item(number))))
      for (const [index, name] of endpoints.feeds.entries()) {
        assert.deepStrictEqual(idsIn((yield* get(sim, `/feeds/${name}`)).text), [`item-${index + 1}`])
      }
      assert.strictEqual((yield* get(sim, "/feeds/5.xml")).status, 404)
    })
  )

  for (const [validators, header, condition] of [
    ["etag", "etag", "if-none-match"],
    ["last-modified", "last-modified", "if-modified-since"]
  ] as const) {
    it.scoped(`answers 304 by its ${validators}, until it changes`, () =>
      Effect.gen(function* () {
        const sim = yield* stage({ feeds: { validators } })
        yield* Effect.orDie(sim.control.publish([item(1, "1.xml")]))
        const known = (yield* get(sim, "/feeds/1.xml")).headers.get(header) ?? ""
        const again = yield* get(sim, "/feeds/1.xml", { [condition]: known })
        assert.deepStrictEqual([again.status, again.bytes.length], [304, 0])
        yield* sim.control.advance(60)
        yield* Effect.orDie(sim.control.publish([item(2, "1.xml")]))
        assert.strictEqual((yield* get(sim, "/feeds/1.xml", { [condition]: known })).status, 200)
      })
    )
  }

  const answers: ReadonlyArray<
    readonly [fault: FaultRequest, observe: (answer: Effect.Effect.Success<ReturnType<typeof get>>) => unknown, unknown]
  > = [
    [
      { kind: "redirect", platform: "feeds", status: 302 },
      ({ headers }) => headers.get("location"),
      "/feeds/moved/1.xml"
    ],
    [{ kind: "gone", platform: "feeds" }, ({ status }) => status, 410],
    [{ kind: "server-error", platform: "feeds", status: 500 }, ({ status }) => status, 500],
    [
      { kind: "rate-limit", platform: "feeds", headers: true, reset_seconds: 90 },
      ({ status, headers }) => [status, headers.get("retry-after")],
      [429, "90"]
    ],
    [
      { kind: "rate-limit", platform: "feeds", headers: true, date: true, reset_seconds: 90 },
      ({ headers }) => headers.get("retry-after"),
      "Sun, 15 Nov 2026 12:01:30 GMT"
    ],
    [{ kind: "web-page", platform: "feeds" }, ({ text }) => Either.isLeft(read(text)), true],
    [{ kind: "torn-line", platform: "feeds" }, ({ text }) => Either.isLeft(read(text)), true],
    [{ kind: "entity-bomb", platform: "feeds" }, ({ text }) => text.length < 2_000 && /&i;{1}/.test(text), true],
    [{ kind: "window-jump", platform: "feeds" }, ({ text }) => idsIn(text).includes("item-1"), false],
    [{ kind: "new-ids", platform: "feeds" }, ({ text }) => idsIn(text), ["item-1#1"]],
    [{ kind: "wrong-charset", platform: "feeds" }, ({ text }) => /St\ufffdrm/.test(text), true],
    [{ kind: "oversized", platform: "feeds", bytes: 1_000_000 }, ({ bytes }) => bytes.length > 1_000_000, true],
    [{ kind: "slow", platform: "feeds", bytes: 500, millis: 0 }, ({ text }) => idsIn(text), ["item-1"]]
  ]
  for (const [fault, observe, expected] of answers) {
    it.scoped(`plays ${JSON.stringify(fault)} once`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        yield* Effect.orDie(sim.control.publish([item(1, "1.xml")]))
        yield* sim.control.inject(fault)
        assert.deepStrictEqual(observe(yield* get(sim, "/feeds/1.xml")), expected)
        assert.strictEqual((yield* get(sim, "/feeds/1.xml")).status, 200)
        assert.strictEqual((yield* sim.control.state).faults_fired[`feeds.${fault.kind}`], 1)
      })
    )
  }

  for (const kind of ["refuse", "cut"] as const) {
    it.scoped(`drops the connection by ${kind}, and counts nothing as shown`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        yield* Effect.orDie(sim.control.publish([item(1, "1.xml")]))
        yield* sim.control.inject({ kind, platform: "feeds", endpoint: "1.xml" })
        const outcome = yield* Effect.exit(Effect.sandbox(get(sim, "/feeds/1.xml")))
        assert.strictEqual(outcome._tag, "Failure")
        assert.deepStrictEqual((yield* sim.control.delivered(0, 10)).delivered, [])
        yield* get(sim, "/feeds/1.xml")
        assert.lengthOf((yield* sim.control.delivered(0, 10)).delivered, 1)
      })
    )
  }
})
