import { assert, describe, it } from "@effect/vitest"
import * as Firehose from "../../../../core/syntax/firehose/language.ts"
import * as X from "../../../../core/syntax/x/language.ts"
import { languageOf, type PlatformId } from "../../../../fixtures/languages.ts"
import { directions } from "./corpus.ts"
import { translate } from "./translate.ts"
import { cpuMillisOf } from "../../../cpuMillis.ts"

for (const [from, to, cases] of directions) {
  describe(`translate from ${from} to ${to}`, () => {
    for (const [source, text, whole, ...clauses] of cases) {
      it(`${source} becomes ${text ?? "no rule"} (${whole})`, () => {
        const translation = translate({ language: languageOf(from), text: source }, languageOf(to))
        assert.strictEqual(translation.text, text)
        assert.strictEqual(translation.fidelity, whole)
        assert.deepStrictEqual(
          translation.clauses.map((clause) => clause.fidelity),
          clauses
        )
        assert.strictEqual(translation.reason === undefined, text !== undefined)
      })
    }

    it("returns texts that the target's checker accepts", () => {
      for (const [, text] of cases) {
        if (text !== undefined) {
          assert.isDefined(to === "x" ? X.check(text).rule : Firehose.check(text).rule, text)
        }
      }
    })

    it("has a reason for each clause, without a final period, and a span in the source", () => {
      for (const [source] of cases) {
        const { clauses } = translate({ language: languageOf(from), text: source }, languageOf(to))
        for (const { reason, span } of clauses) {
          assert.match(reason, /^["\p{Lu}][^\n]+[^.]$/u, source)
          assert.isTrue(span.start < span.end && span.end <= source.length)
        }
      }
    })
  })
}

describe("translate", () => {
  it("reports why a clause is left out, and the effect on the rule", () => {
    const source = "moon from:nasa"
    const [, clause] = translate({ language: languageOf("x"), text: source }, languageOf("firehose")).clauses
    assert.strictEqual(source.slice(clause?.span.start, clause?.span.end), "from:nasa")
    assert.strictEqual(clause?.reason, "Firehose has no accounts; left out, which makes the rule wider")
  })

  it("tells a language that X does not support from a code that Firehose does not have", () => {
    const reasonOf = (language: string) =>
      translate({ language: languageOf("firehose"), text: `storm AND language:${language}` }, languageOf("x"))
        .clauses[1]?.reason
    const leftOut = "; left out, which makes the rule wider"
    assert.strictEqual(reasonOf("sw"), `X does not support the language "sw"${leftOut}`)
    assert.strictEqual(reasonOf("zh"), `Firehose has no language code "zh"${leftOut}`)
  })

  it("notes what an exact translation leaves out, and why", () => {
    const notesOf = (source: string, from: PlatformId, to: PlatformId) =>
      translate({ language: languageOf(from), text: source }, languageOf(to)).notes
    assert.deepStrictEqual(notesOf("comet -is:retweet lang:en", "x", "firehose"), [
      "`-is:retweet` is left out: A page is never a retweet, so there is nothing to exclude"
    ])
    assert.deepStrictEqual(notesOf("comet AND url:*", "firehose", "x"), [
      "`url:*` is left out: Every page has an address"
    ])
    assert.isUndefined(notesOf("comet from:nasa", "x", "firehose"), "that is a loss")
    assert.isUndefined(notesOf("from:nasa -is:retweet", "x", "firehose"), "there is no translation")
  })

  it("reports why a rule has no translation", () => {
    const reasonOf = (platform: PlatformId, text: string) =>
      translate({ language: languageOf(platform), text }, languageOf(platform === "x" ? "firehose" : "x")).reason
    assert.strictEqual(
      reasonOf("x", "from:nasa -moon"),
      "The translated part only excludes events, and Firehose needs a clause to search for"
    )
    assert.strictEqual(reasonOf("x", "from:nasa"), "Firehose supports no clause of this rule")
    assert.strictEqual(reasonOf("x", "#cat -cat"), "On Firehose the rule requires and excludes the same clause")
    assert.strictEqual(
      reasonOf("firehose", "language:en"),
      "The translated part cannot stand alone on X: it has no word to search for"
    )
    assert.strictEqual(reasonOf("firehose", '"unclosed'), "The rule is not valid: This quote is never closed")
    assert.match(
      reasonOf("x", "地震".repeat(300)) ?? "",
      /^Firehose rejects the translation: The rule takes too much work per event \(at least 4800 units, at most 1500 /
    )
  })

  it("has no translation for a rule that is too long for the target", () => {
    const source = Array.from({ length: 300 }, (_, index) => `word${index}`).join(" OR ")
    const { text, fidelity, reason, clauses } = translate(
      { language: languageOf("firehose"), text: source },
      languageOf("x")
    )
    assert.isUndefined(text)
    assert.strictEqual(fidelity, "impossible")
    assert.match(reason ?? "", /^X rejects the translation: A rule has at most 1024 characters/)
    assert.strictEqual(clauses.length, 300)
  })

  it("parses a term of many words once", () => {
    const source = "\u4e00\u4e01".repeat(1000)
    const x = languageOf("x")
    let parses = 0
    const rawText = (clause: string) => {
      parses++
      return x.target.rawText(clause)
    }
    const to = { ...x, target: { ...x.target, rawText } }
    assert.isDefined(translate({ language: languageOf("firehose"), text: source }, to).text)
    assert.strictEqual(parses, 1)
  })

  it("translates nested groups of one kind like a single group", () => {
    const translated = (text: string) => translate({ language: languageOf("firehose"), text }, languageOf("x"))
    const [nested, flat] = [
      "cat (dog (bird AND NOT (fish OR (cow OR cat))) dog)",
      "cat dog (bird AND NOT (fish OR cow OR cat)) dog"
    ]
    assert.strictEqual(translated(nested).text, translated(flat).text)
  })

  it("translates deep nesting within a second", () => {
    const source = `cat ${"-(dog (bird OR ".repeat(16)}fish${"))".repeat(16)}`
    const millis = cpuMillisOf(() => {
      assert.isDefined(translate({ language: languageOf("x"), text: source }, languageOf("firehose")).text)
    })
    assert.isBelow(millis, 1000)
  })
})
