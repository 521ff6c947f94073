/** Explanations name the fields of the platform that the event is from. */
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { bluesky } from "../../../core/languages/bluesky.ts"
import { explainFilterInTurns } from "../../../core/languages/explainFilter.ts"
import { feeds } from "../../../core/languages/feeds.ts"
import { firehose } from "../../../core/languages/firehose.ts"
import type { Language } from "../../../core/languages/Language.ts"
import { wikimedia } from "../../../core/languages/wikimedia.ts"
import { x } from "../../../core/languages/x.ts"
import { finish } from "../../../core/work/turns.ts"

const events = {
  x: { data: { id: "1", text: "A storm", lang: "en" } },
  firehose: { document: { url: "https://example.org/", title: "A storm" } },
  bluesky: { did: "did:plc:a", commit: { rkey: "1", record: { text: "A storm" } } },
  wikimedia: { meta: { id: "1", domain: "en.wikipedia.org" }, wiki: "enwiki", title: "A storm", user: "Ada" },
  feeds: { feed: { url: "https://example.org/feed.xml" }, item: { id: "1", title: "A storm" } }
}

const fieldsOf = (language: Language, event: unknown, text: string) => {
  const expression = language.check(text).rule?.expression
  if (expression === undefined) throw new Error(text)
  const read = Either.getOrThrow(language.events.read(event, 0))
  return finish(explainFilterInTurns({ language, text, expression }, read)).clauses.map(({ tested }) => tested?.field)
}

describe("explainFilterInTurns", () => {
  it("names fields by the platform of the language", () => {
    assert.deepStrictEqual(fieldsOf(x, events.x, "storm lang:en sample:50"), ["x.text", "x.lang", "sample"])
    assert.deepStrictEqual(fieldsOf(firehose, events.firehose, "title:storm"), ["firehose.title"])
    const onBluesky = fieldsOf(bluesky, events.bluesky, "storm lang:en label:news")
    assert.deepStrictEqual(onBluesky, ["bluesky.text", "bluesky.lang", "bluesky.label"])
    const onWikimedia = fieldsOf(wikimedia, events.wikimedia, "title:storm AND user:Ada")
    assert.deepStrictEqual(onWikimedia, ["wikimedia.title", "wikimedia.user"])
    assert.deepStrictEqual(fieldsOf(feeds, events.feeds, "storm"), ["feeds.added"])
  })
})
