/** Filters on wiki changes, and the events of the samples. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import { changes } from "../../../adapters/demo/changes.ts"
import { explainFilterInTurns } from "../../../core/languages/explainFilter.ts"
import { firehose } from "../../../core/languages/firehose.ts"
import { wikimedia } from "../../../core/languages/wikimedia.ts"
import { x } from "../../../core/languages/x.ts"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import { isTarget, translateInTurns } from "../../../core/syntax/translation/translate.ts"
import { plainComment } from "../../../core/syntax/wikimedia/summary.ts"
import { finish } from "../../../core/work/turns.ts"
import { ROOT } from "../../program.ts"
import { cpuMillisOf } from "../../cpuMillis.ts"

const NOW = Date.UTC(2026, 10, 15)

const samples = ["recentchange-2022.sse", "recentchange-2023-2025.sse"].flatMap((name) =>
  Array.from(
    readFileSync(join(ROOT, "fixtures/wikimedia", name), "utf8").matchAll(/^data: (.*)$/gm),
    ([, data = ""]): Readonly<Record<string, unknown>> => JSON.parse(data)
  )
)

const matches = (filter: string, record: unknown) => {
  const { rule, issues } = wikimedia.check(filter)
  if (rule === undefined) return assert.fail(`${filter}: ${issues[0]?.message}`)
  return evaluate(rule.expression, Either.getOrThrow(wikimedia.events.read(record, NOW)))
}

const [, , , log, categorize, edit, fresh] = samples

describe("a wiki change", () => {
  it("is read from every sample", () => {
    assert.lengthOf(samples, 7)
    for (const sample of samples) {
      assert.isTrue(wikimedia.events.recognizes(sample))
      assert.match(Either.getOrThrow(wikimedia.events.idOf(sample, String)), /^[0-9a-f-]{36}$/)
      assert.isNumber(wikimedia.events.timeOf(sample))
      assert.isString(wikimedia.events.titleOf(sample))
      assert.match(wikimedia.events.summaryOf(sample).link ?? "", /^https:/)
      assert.isTrue(matches("wiki:* AND domain:*.org AND page_type:* AND publish_time:[2022 TO 2027]", sample))
    }
  })

  it("has the fields of its filters", () => {
    const cases: ReadonlyArray<readonly [string, unknown, boolean]> = [
      ['"new user account" AND log:"newusers/create" AND log:newusers AND user:Kalshey AND bot:false', log, true],
      ["minor:*", log, false],
      ["title:user AND ns:2 AND language:en AND domain:wikipedia.org", log, true],
      ["erradiquémosles AND ns:14 AND bot:true AND language:mg AND page_type:categorize", categorize, true],
      ["delta:[8000 TO *] AND minor:false AND wiki:commonswiki AND NOT language:*", edit, true],
      ["wbeditentity-update-languages-and-other-short AND title:giant", edit, true],
      ["delta:[181 TO 181] AND page_type:new", fresh, true],
      ["recent:1h AND title:arponeaban", fresh, false],
      ["url:https\\:\\/\\/mg.wiktionary.org\\/wiki\\/*", fresh, true]
    ]
    for (const [filter, record, expected] of cases) assert.strictEqual(matches(filter, record), expected, filter)
    assert.isTrue(matches("title:nasa OR delta:* OR bot:*", changes(1)(NOW)))
  })

  it("is read with any field missing or of another type", () => {
    const values = fc.oneof(
      fc.constant(null),
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant({}),
      fc.constant([])
    )
    const keys = [...new Set(samples.flatMap((sample) => Object.keys(sample)))].filter((key) => key !== "meta")
    const filter = "cat OR title:cat OR wiki:cat OR user:cat OR bot:true OR ns:1 OR delta:1 OR log:cat OR page_type:new"
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.dictionary(fc.constantFrom(...keys), values), (sample, changed) => {
        const record = { ...sample, ...changed, meta: Object.keys(changed).length % 2 === 0 ? sample["meta"] : {} }
        assert.isTrue(Either.isRight(wikimedia.events.idOf(record, String)))
        assert.isBoolean(matches(filter, record))
        assert.isObject(wikimedia.events.summaryOf(record))
        wikimedia.events.timeOf(record)
      }),
      { numRuns: 300 }
    )
    assert.isTrue(Either.isLeft(wikimedia.events.read({ wiki: "enwiki" }, NOW)))
  })

  it("has its comment without markup, in linear time", () => {
    assert.strictEqual(
      plainComment("/* See also */ [[Main Page|start]] and [[:en:Foo]] ''new'' [http://a.b c]"),
      "See also start and en: Foo new c"
    )
    const millis = cpuMillisOf(() => {
      for (const piece of ["[[", "/*", "[http://a", "''", "[[a|"]) plainComment(piece.repeat(100_000))
    })
    assert.isBelow(millis, 2_000)
  })
})

describe("a filter on wiki changes", () => {
  it("has valid examples and fixes for its mistakes", () => {
    const { help } = wikimedia
    for (const { rule } of help.examples) assert.deepStrictEqual(wikimedia.check(rule).issues, [], rule)
    for (const { example, name } of help.operators) assert.exists(wikimedia.check(example).rule, `${name}: ${example}`)
    for (const { wrong, right } of help.mistakes) {
      assert.isNotEmpty(wikimedia.check(wrong).issues, wrong)
      assert.deepStrictEqual(wikimedia.check(right).issues, [], right)
    }
    const page = help.page(help.limits)
    assert.notMatch(page, /\bpages? (?:that|gained|lost)\b.*crawl|Domain Rating|\bdr:/)
  })

  it("names what it cannot do, and the field that is meant", () => {
    const messages: ReadonlyArray<readonly [string, string]> = [
      ["removed:a", "The stream does not say what a change removes"],
      ["author:a", 'it is called "user"'],
      ["dr:[1 TO 2]", "Wikis have no Domain Rating"],
      ["page_type:edits", '"edits" is not a value of page_type: it never matches'],
      ["title:a AND NOT bot:yes", '"yes" is not a value of bot'],
      ["NOT cat", "add a clause that changes must match"],
      ["delta:abc", '"abc" is not a number'],
      ["language:german", "not a known language code"]
    ]
    for (const [filter, message] of messages) {
      assert.include(
        wikimedia
          .check(filter)
          .issues.map((issue) => issue.message)
          .join("\n"),
        message,
        filter
      )
    }
    assert.deepStrictEqual(wikimedia.check("language:mg OR language:be-tarask").issues, [])
  })

  it("is explained, with changes for a miss", () => {
    const text = "title:gigant AND bot:false"
    const { rule } = wikimedia.check(text)
    if (rule === undefined) return assert.fail("not valid")
    const event = Either.getOrThrow(wikimedia.events.read(edit, NOW))
    const explained = finish(explainFilterInTurns({ language: wikimedia, text, expression: rule.expression }, event))
    assert.isFalse(explained.matched)
    assert.deepStrictEqual(
      explained.clauses.map(({ description }) => description),
      ['The word "gigant" in the title of the page', "The user is not a bot"]
    )
  })

  it("is translated to and from the other languages", () => {
    const translated = (from: typeof x, text: string, to: typeof x) => {
      if (!isTarget(to)) return assert.fail("not a target")
      const { text: result, fidelity } = finish(translateInTurns({ language: from, text }, to))
      return [result, fidelity]
    }
    assert.deepStrictEqual(translated(x, '"solar eclipse" lang:de', wikimedia), [
      '"solar eclipse" AND language:de',
      "exact"
    ])
    assert.deepStrictEqual(translated(firehose, 'title:"state of the art"~2 AND page_type:*', wikimedia), [
      'title:"state of the art"~2 AND page_type:*',
      "exact"
    ])
    assert.deepStrictEqual(translated(wikimedia, "eclipse AND wiki:enwiki", firehose), ["eclipse", "wider"])
    assert.deepStrictEqual(translated(wikimedia, "eclipse AND language:de", x), ["eclipse lang:de", "exact"])
  })
})
