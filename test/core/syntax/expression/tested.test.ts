/** The values that clauses are tested on, and the places where they hold. */
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { evaluate } from "../../../../core/syntax/expression/evaluate.ts"
import type { EventFields, PlatformEvent } from "../../../../core/syntax/expression/eventFields.ts"
import { explainInTurns, leavesOf } from "../../../../core/syntax/expression/explain.ts"
import { finish } from "../../../../core/work/turns.ts"
import { randomEvent, randomText } from "../../../../fixtures/generators.ts"
import { languageOf, PLATFORM_IDS, type PlatformId } from "../../../../fixtures/languages.ts"
import { randomFrom } from "../../../../fixtures/random.ts"

const read = (platform: PlatformId, record: unknown): PlatformEvent =>
  Either.getOrThrow(languageOf(platform).events.read(record, 0))

const testedBy = (platform: PlatformId, filter: string, event: PlatformEvent) => {
  const language = languageOf(platform)
  const expression = language.check(filter).rule?.expression
  if (expression === undefined) throw new Error(filter)
  return finish(explainInTurns(expression, event, language.fieldNames)).clauses.map(({ tested }) => tested)
}

describe("testedInTurns", () => {
  const post = read("x", {
    data: {
      id: "1",
      text: "Ａn O'Neil café… the ❤️ MOON-launch, and the moon 東京タワー",
      lang: "en",
      author_id: "7",
      entities: { hashtags: [{ tag: "Moon" }, { tag: "ai" }] }
    },
    includes: { users: [{ id: "7", username: "NASA", public_metrics: { followers_count: 12 } }] }
  })
  const placesOn = (filter: string) => testedBy("x", filter, post).map((tested) => tested?.place?.text)

  it("finds words and phrases in the text as it was written", () => {
    assert.deepStrictEqual(placesOn('moon café "moon launch" "the moon" "❤️" "moon and"~3'), [
      "MOON",
      "café",
      "MOON-launch",
      "the moon",
      "❤",
      "MOON-launch, and"
    ])
  })

  it("has the values of a clause that did not hold, without a place", () => {
    assert.deepStrictEqual(testedBy("x", "from:esa lang:de followers_count:50 sample:1 #cats", post), [
      { field: "x.from", values: ["7", "nasa"], count: 2 },
      { field: "x.lang", values: ["en"], count: 1 },
      { field: "x.followers_count", values: ["12"], count: 1 },
      { field: "sample", values: ["71"], count: 1 },
      { field: "x.hashtag", values: ["moon", "ai"], count: 2 }
    ])
    assert.deepStrictEqual(testedBy("x", "moon to:nasa", post)[1], { field: "x.to", values: [], count: 0 })
  })

  it("has no values of a flag, which is there or not", () => {
    const verified = read("x", {
      data: { id: "1", text: "moon #ai", author_id: "7", entities: { hashtags: [{ tag: "ai" }] } },
      includes: { users: [{ id: "7", username: "nasa", verified: true }] }
    })
    assert.deepStrictEqual(testedBy("x", "moon -is:retweet is:verified -has:images", verified).slice(1), [
      undefined,
      undefined,
      undefined
    ])
  })

  it("names the value that held", () => {
    const [tested] = testedBy("x", "#ai", post)
    assert.deepStrictEqual(tested?.place, { value: 1, start: 0, end: 2, text: "ai" })
    const page = read("firehose", { document: { url: "https://a.example.com/pricing", title: "T" } })
    assert.deepStrictEqual(testedBy("firehose", "url:*pricing* AND domain:example.com", page), [
      {
        field: "firehose.url",
        values: ["https://a.example.com/pricing"],
        count: 1,
        place: { value: 0, start: 0, end: 29, text: "https://a.example.com/pricing" }
      },
      {
        field: "firehose.domain",
        values: ["a.example.com", "example.com"],
        count: 2,
        place: { value: 1, start: 0, end: 11, text: "example.com" }
      }
    ])
  })

  it("is cut, but the place is in the whole text", () => {
    const filler = `${"🍕 filler ".repeat(20_000)}\n`
    const long = read("x", { data: { id: "1", text: `${filler}needle ${"x".repeat(500)}` } })
    const [needle, other] = testedBy("x", `needle "${"x".repeat(500)}"`, long)
    assert.deepInclude(needle?.place, { start: filler.length, end: filler.length + 6, text: "needle" })
    assert.strictEqual(other?.place?.end, filler.length + 507)
    for (const text of [...(needle?.values ?? []), other?.place?.text ?? ""]) {
      assert.isAtMost(text.length, 201)
      assert.notMatch(text, /[\ud800-\udbff](?![\udc00-\udfff])/)
    }
  })

  for (const platform of PLATFORM_IDS) {
    it(`the text at a place holds by itself, on ${platform}`, () => {
      const language = languageOf(platform)
      const random = randomFrom(2)
      let places = 0
      while (places < 300) {
        const { rule } = language.check(randomText(platform, random))
        if (rule === undefined) continue
        const event = read(platform, randomEvent(platform, random))
        const leaves = leavesOf(rule.expression)
        const { clauses } = finish(explainInTurns(rule.expression, event, language.fieldNames))
        for (const [index, { held, tested, description }] of clauses.entries()) {
          const leaf = leaves[index]?.leaf
          if (leaf === undefined || tested?.place === undefined) continue
          places++
          assert.isTrue(held)
          const { value, start, end } = tested.place
          const isText = leaf._tag === "Phrase" || ("over" in leaf && leaf.over === "words")
          const whole = isText ? event.texts(tested.field)[value] : event.keywords(tested.field)[value]
          const piece = whole?.slice(start, end) ?? ""
          const only: EventFields = {
            id: "1",
            text: (field) => [event.analyse(piece, field)],
            *readText() {},
            keywords: () => [piece],
            number: () => undefined,
            places: () => [],
            ageHours: undefined
          }
          assert.isTrue(evaluate(leaf, only), `${description} on "${piece}" of "${whole}"`)
        }
      }
    })
  }

  it("finds a place for every clause on a text that holds", () => {
    const random = randomFrom(3)
    for (let count = 0; count < 200; ) {
      const { rule } = languageOf("firehose").check(randomText("firehose", random))
      if (rule === undefined) continue
      const event = read("firehose", randomEvent("firehose", random))
      count++
      for (const { held, tested } of finish(explainInTurns(rule.expression, event, languageOf("firehose").fieldNames))
        .clauses) {
        if (held && tested !== undefined && tested.field !== "firehose.dr" && tested.field !== "age_hours") {
          assert.isDefined(tested.place)
        }
      }
    }
  })
})
