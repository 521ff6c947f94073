/** The logic of the rule editor that needs no browser. */
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import type { Rule } from "../../console/client.ts"
import { completionsOf, insertionOf, optionsFor } from "../../console/editor/completion.ts"
import {
  draftOf,
  emptyDraft,
  isSame,
  readWork,
  toCreate,
  toUpdate,
  withFilter,
  withoutFilter,
  withPlatform,
  withTranslation
} from "../../console/editor/draft.ts"
import { eventIn } from "../../console/editor/eventIn.ts"
import { languageOf } from "../../console/editor/languages.ts"
import { firehoseTokens, type Token, xTokens } from "../../console/editor/tokens.ts"
import { bluesky } from "../../core/languages/bluesky.ts"
import { feeds } from "../../core/languages/feeds.ts"
import { firehose } from "../../core/languages/firehose.ts"
import { wikimedia } from "../../core/languages/wikimedia.ts"
import { x } from "../../core/languages/x.ts"
import { evaluate } from "../../core/syntax/expression/evaluate.ts"
import { changeTypes } from "../../core/syntax/wikimedia/fields.ts"

describe("xTokens", () => {
  it("finds fields, values, phrases, tags, keywords and signs", () => {
    assert.deepStrictEqual(shown('(cat OR "big dog"~3) -from:nasa #moon coca-cola', xTokens), [
      "sign (",
      "keyword OR",
      'phrase "big dog"~3',
      "sign )",
      "sign -",
      "field from:",
      "value nasa",
      "tag #moon"
    ])
  })

  it("reads quoted and bracketed values whole, and an unclosed quote to the end", () => {
    assert.deepStrictEqual(shown('url:"a b" point_radius:[2.3 48.8 16km] "open (end', xTokens), [
      "field url:",
      'value "a b"',
      "field point_radius:",
      "value [2.3 48.8 16km]",
      'phrase "open (end'
    ])
  })

  it("leaves words that look like keywords plain", () => {
    assert.deepStrictEqual(shown("or ORDER xOR well-known:x", xTokens), [])
  })
})

describe("firehoseTokens", () => {
  it("finds fields, values, phrases, keywords and signs", () => {
    assert.deepStrictEqual(
      shown('(title:"big news" OR removed:plan) AND NOT dr:[50 TO 90] AND url:/.*a b.*/ moon~1', firehoseTokens),
      [
        "sign (",
        "field title:",
        'phrase "big news"',
        "keyword OR",
        "field removed:",
        "value plan",
        "sign )",
        "keyword AND",
        "keyword NOT",
        "field dr:",
        "value [50 TO 90]",
        "keyword AND",
        "field url:",
        "value /.*a b.*/",
        "sign ~1"
      ]
    )
  })
})

describe("tokens", () => {
  it("are in order and inside of the text, for every example and for broken text", () => {
    for (const { language, tokens } of [
      { language: x, tokens: xTokens },
      { language: firehose, tokens: firehoseTokens }
    ]) {
      const texts = language.help.examples.map(({ rule }) => rule)
      for (const text of [...texts, ...texts.map((rule) => rule.slice(3, -4)), '"', "[", "/", "a:[b", ":", "-", "\\"]) {
        let at = 0
        for (const { start, end } of tokens(text)) {
          assert.isTrue(at <= start && start < end && end <= text.length, text)
          at = end
        }
      }
    }
  })
})

describe("completion", () => {
  const operators = [...x.help.operators]
  const options = completionsOf(operators)

  it("inserts a whole choice, a field without its placeholder, and no forms of writing", () => {
    const insertions = LANGUAGES.flatMap(({ help }) => help.operators.map((one) => insertionOf(one, help.operators)))
    for (const text of [
      "is:retweet",
      "from:",
      "lang:",
      "OR",
      "AND",
      "AND NOT",
      "page_category:",
      "recent:",
      "has:alt",
      "quotes:"
    ]) {
      assert.include(insertions, text)
    }
    for (const text of ["field:", "from:username", "from:nasa.gov", "lang:en"]) assert.notInclude(insertions, text)
  })

  it("offers operators by the beginning of the name or of a part of it, those of the name first", () => {
    const labels = (typed: string) => optionsFor(typed, languageOf("x"), options).map(({ label }) => label)
    assert.deepStrictEqual(labels("from"), ["from:", "from_affiliate_of:"])
    assert.strictEqual(labels("retw")[0], "retweets_of:")
    assert.include(labels("retw"), "is:retweet")
    assert.deepStrictEqual(labels("AND"), [])
    assert.deepStrictEqual(labels("from:"), [])
  })

  it("offers the values of a field, also by their meaning", () => {
    const labels = (typed: string) => optionsFor(typed, languageOf("x"), options).map(({ label }) => label)
    assert.include(labels("lang:"), "lang:en")
    assert.include(labels("lang:ger"), "lang:de")
    assert.include(
      optionsFor("page_category:", languageOf("firehose"), []).map(({ label }) => label),
      'page_category:"/News"'
    )
    assert.include(
      optionsFor("lang:portu", languageOf("bluesky"), []).map(({ label }) => label),
      "lang:pt"
    )
    assert.deepStrictEqual(
      optionsFor("page_type:", languageOf("wikimedia"), []).map(({ label }) => label),
      changeTypes.map((type) => `page_type:${type}`)
    )
  })

  it("offers starters and values that are valid", () => {
    for (const language of LANGUAGES) {
      const { starter, values } = languageOf(language.id)
      assert.deepStrictEqual(language.check(starter.rule).issues, [])
      for (const [field, known] of Object.entries(values)) {
        const rule = `quake ${language.writtenAs === "X" || language.id === "x" ? "" : "AND "}${field}:${known[0]?.text}`
        assert.deepStrictEqual(language.check(rule).issues, [], rule)
      }
    }
  })
})

describe("a draft", () => {
  const draft = { ...withFilter(emptyDraft("x"), "x", " cat "), name: " Cats ", intent: "Find cats" }

  it("is sent trimmed, with the filters of the chosen platforms only", () => {
    const sent = toCreate(withFilter(draft, "firehose", "dog"))
    assert.deepStrictEqual(sent.overrides, { x: "cat" })
    assert.strictEqual(sent.name, "Cats")
  })

  it("needs a filter for every chosen platform", () => {
    assert.deepStrictEqual(withoutFilter(withPlatform(draft, "firehose", true)), ["firehose"])
  })

  it("chooses the platform of a translation once", () => {
    const once = withTranslation(draft, "firehose", "cat")
    assert.deepStrictEqual(withTranslation(once, "firehose", "cats").platforms, ["x", "firehose"])
  })

  it("changes only what differs from the rule", () => {
    const same = draftOf(rule)
    assert.deepStrictEqual(toUpdate(rule, same), { rule_id: rule.id })
    assert.isTrue(isSame(same, { ...same, name: `${same.name} ` }))
    assert.deepStrictEqual(toUpdate(rule, withTranslation(same, "firehose", "cat")), {
      rule_id: rule.id,
      platforms: ["x", "firehose"],
      overrides: { firehose: "cat" }
    })
    assert.deepStrictEqual(toUpdate(rule, { ...same, name: "Dogs" }), { rule_id: rule.id, name: "Dogs" })
  })

  it("is read back as it was stored; anything else is not", () => {
    const work = { draft, version: 3 }
    assert.deepStrictEqual(readWork(JSON.stringify(work)), work)
    for (const text of [null, "", "{", "7", "{}", '{"draft":{"name":1}}', '{"draft":null}']) {
      assert.isUndefined(readWork(text))
    }
  })
})

describe("eventIn", () => {
  it("takes JSON as the event and other text as its text, and says what is wrong with broken JSON", () => {
    const eventOf = (text: string) => ({ text })
    assert.deepStrictEqual(eventIn(' {"a": 1}', eventOf), { event: { a: 1 } })
    assert.deepStrictEqual(eventIn(" hello ", eventOf), { event: { text: "hello" } })
    const broken = eventIn('{"a": ', eventOf)
    assert.match("problem" in broken ? broken.problem : "", /^The event is not valid JSON: /)
  })

  it("makes an event of a text in which words of the text match, on each platform", () => {
    for (const { id, events, check } of LANGUAGES) {
      const event = languageOf(id).eventOf("Felt an earthquake") as Readonly<Record<string, unknown>>
      assert.isTrue(events.recognizes(event), id)
      const { rule } = check("earthquake")
      const read = Either.getOrThrow(events.read(event, 0))
      assert.isTrue(rule !== undefined && evaluate(rule.expression, read), id)
      assert.include(languageOf(id).summaryOf(event).text, "Felt an earthquake", id)
    }
  })
})

// ---- helpers ----

const LANGUAGES = [x, firehose, bluesky, wikimedia, feeds]

const shown = (text: string, tokens: (text: string) => ReadonlyArray<Token>) =>
  tokens(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`)

const rule: Rule = {
  id: "rule_01kzyn3v8jf9g8w3q5r7t2x4c6",
  name: "Cats",
  intent: "Find cats",
  platforms: { x: { platform_rule_id: "1", translated_value: "cat", state: "active" } },
  created_at: "2026-11-15T08:30:00.000Z",
  version: 2
}
