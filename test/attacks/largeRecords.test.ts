/** The largest records that the platforms without an account accept: to read one takes this thread no long time at once. */
import { deserialize, serialize } from "node:v8"
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { frameOf } from "../../adapters/bluesky/frames.ts"
import { parseDocument } from "../../adapters/feeds/parser.ts"
import { cpuMillisOf } from "../cpuMillis.ts"

describe("the largest records", () => {
  it("of Bluesky take no longer than 50 ms, in any form", () => {
    for (const [name, unit] of Object.entries(UNITS)) {
      const text = message(listed(unit, LARGEST - 500))
      assert.isTrue(Either.isRight(frameOf(text)), name)
      const millis = leastOf(() =>
        Either.map(frameOf(text), (frame) => (frame?._tag === "Post" ? JSON.stringify(frame.payload) : ""))
      )
      assert.isBelow(millis, MAX_MILLIS, name)
    }
    const larger = message(listed(UNITS.keys, 4 * 1_024 * 1_024))
    assert.deepStrictEqual(frameOf(larger), Either.left(`Longer than ${LARGEST} characters`))
    assert.isBelow(
      leastOf(() => frameOf(larger)),
      5
    )
  })

  it("of feeds are taken over from their thread in less than 50 ms", () => {
    const item = (id: number) =>
      `<item><guid>${id}</guid><description><![CDATA[${"<a>x</a>".repeat(300)}]]></description></item>`
    const parsed = parseDocument(
      {
        body: new TextEncoder().encode(`<rss version="2.0"><channel>${all(2_000, item)}</channel></rss>`),
        contentType: "application/xml",
        baseUrl: "https://example.org/",
        maxItems: 2_000
      },
      String
    )
    if (!("feed" in parsed)) return assert.fail(parsed.reason)
    const { items } = parsed.feed
    assert.lengthOf(items, 2_000)
    assert.isAtMost(
      items.reduce((sum, { link_texts }) => sum + link_texts.length, 0),
      100_000
    )
    const sent = serialize(parsed)
    assert.isBelow(
      leastOf(() => deserialize(sent)),
      MAX_MILLIS
    )
  })
})

// ---- helpers ----

const MAX_MILLIS = 50

const LARGEST = 128 * 1_024

const UNITS = {
  keys: (n: number) => `{"k${n}":1}`,
  arrays: () => "[]",
  objects: () => "{}",
  numbers: (n: number) => `1.5e${n % 9}`,
  texts: (n: number) => `"t${n}"`,
  escapes: () => '"\\\\\\""'
}

const all = (count: number, unit: (n: number) => string) => Array.from({ length: count }, (_, n) => unit(n)).join("")

const listed = (unit: (n: number) => string, size: number): string => {
  const parts: Array<string> = []
  for (let length = 0; length < size; length += (parts.at(-1)?.length ?? 0) + 1) parts.push(unit(parts.length))
  return parts.slice(0, -1).join(",")
}

const message = (list: string): string =>
  `{"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEvents#commit","seq":1,"did":"did:plc:a","time":"2026-09-09T19:46:02.329Z","operation":"create","collection":"app.bsky.feed.post","rkey":"1","record":{"text":"a","x":[${list}]}}}`

const leastOf = (work: () => unknown): number =>
  Math.min(...Array.from({ length: 3 }, () => cpuMillisOf(() => void work())))
