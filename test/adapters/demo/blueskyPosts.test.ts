import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { install } from "../../../adapters/bluesky/Bluesky.ts"
import { blueskyPosts } from "../../../adapters/demo/blueskyPosts.ts"
import { bluesky } from "../../../core/languages/bluesky.ts"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import { numberOf, objectOf, objectsOf, textOf } from "../../../core/text/json.ts"

const START = Date.UTC(2026, 10, 15, 12)

const made = (seed: number) => {
  const make = blueskyPosts(seed)
  return Array.from({ length: 500 }, (_, index) => make(START + index * 500))
}

describe("blueskyPosts", () => {
  const posts = made(1)

  it("makes readable posts with ids of their own, the same for a seed", () => {
    for (const post of posts) assert.isTrue(Schema.is(bluesky.events.schema)(post), JSON.stringify(post))
    const ids = posts.map((post) => Either.getOrThrow(bluesky.events.idOf(post, String)))
    assert.strictEqual(new Set(ids).size, posts.length)
    assert.deepStrictEqual(made(1), posts)
  })

  it("has facets whose offsets count bytes, also behind an emoji", () => {
    let found = 0
    for (const post of posts) {
      const record = objectOf(objectOf(post["commit"])?.["record"])
      const bytes = new TextEncoder().encode(textOf(record?.["text"]) ?? "")
      for (const { index, features } of objectsOf(record?.["facets"])) {
        const [start, end] = [numberOf(objectOf(index)?.["byteStart"]), numberOf(objectOf(index)?.["byteEnd"])]
        const shown = new TextDecoder().decode(bytes.slice(start, end))
        const [feature] = objectsOf(features)
        if (feature?.["tag"] !== undefined) assert.strictEqual(shown, `#${feature["tag"]}`)
        if (feature?.["did"] !== undefined) assert.match(shown, /^@/)
        found++
      }
    }
    assert.isAbove(found, 100)
  })

  it("has posts that the filter of the demo meets within a minute, and replies, quotes and images", () => {
    const { demo } = install({ blueskyBaseUrl: "https://jetstream.example.com" })
    const isMet = (filter: string) => {
      const expression = bluesky.check(filter).rule?.expression ?? assert.fail(filter)
      return (post: unknown) => evaluate(expression, Either.getOrThrow(bluesky.events.read(post, START)))
    }
    assert.isTrue(posts.slice(0, 120).some(isMet(demo.filter)))
    const filters = [
      "a is:reply",
      "the is:quote",
      "the has:images",
      "the has:links",
      "the has:hashtags",
      "the has:mentions"
    ]
    for (const filter of filters)
      assert.isTrue(posts.some(isMet(`"${filter.split(" ")[0]}" ${filter.split(" ")[1]}`)), filter)
  })
})
