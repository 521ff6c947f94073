import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import type { PlatformEvent } from "../../../../core/syntax/expression/eventFields.ts"
import { explainInTurns } from "../../../../core/syntax/expression/explain.ts"
import type { Expression } from "../../../../core/syntax/expression/expression.ts"
import { firehoseEvent } from "../../../../core/syntax/firehose/event.ts"
import { fieldNames as firehoseNames } from "../../../../core/syntax/firehose/fieldNames.ts"
import { check as checkFirehose } from "../../../../core/syntax/firehose/language.ts"
import { xEvent } from "../../../../core/syntax/x/event.ts"
import { fieldNames as xNames } from "../../../../core/syntax/x/fieldNames.ts"
import { check as checkX, lower } from "../../../../core/syntax/x/language.ts"
import { finish } from "../../../../core/work/turns.ts"
import { sized } from "../../../long.ts"

/** With the names of both platforms. */
const explain = (expression: Expression, event: PlatformEvent) =>
  finish(
    explainInTurns(expression, event, {
      text: { ...xNames.text, ...firehoseNames.text },
      keyword: { ...xNames.keyword, ...firehoseNames.keyword },
      number: { ...xNames.number, ...firehoseNames.number }
    })
  )

const x = (text: string): Expression => {
  const { rule } = checkX(text)
  if (rule === undefined) throw new Error(text)
  return lower(rule.ast)
}

const firehose = (text: string): Expression => {
  const { rule } = checkFirehose(text)
  if (rule === undefined) throw new Error(text)
  return rule.expression
}

/** The explanation in terms of the rule's text: `+` marks a clause that held, `-` one that did not. */
const explained = (rule: string, expression: Expression, event: PlatformEvent) => {
  const { matched, clauses, decisive } = explain(expression, event)
  return {
    matched,
    clauses: clauses.map(({ span, held }) => `${held ? "+" : "-"}${rule.slice(span.start, span.end)}`),
    decisive: decisive.map(({ start, end }) => rule.slice(start, end))
  }
}

describe("explain", () => {
  const post = Either.getOrThrow(xEvent({ data: { id: "1", text: "snow on the alps", lang: "en" } }))
  const cases: ReadonlyArray<readonly [rule: string, clauses: ReadonlyArray<string>, decisive: ReadonlyArray<string>]> =
    [
      ["snow", ["+snow"], ["snow"]],
      ["rain", ["-rain"], ["rain"]],
      ["snow alps", ["+snow", "+alps"], ["snow", "alps"]],
      ["snow rain wind", ["+snow", "-rain", "-wind"], ["rain", "wind"]],
      ["snow OR rain OR alps", ["+snow", "-rain", "+alps"], ["snow"]],
      ["rain OR wind", ["-rain", "-wind"], ["rain"]],
      ["(rain wind) OR (snow hail)", ["-rain", "-wind", "+snow", "-hail"], ["hail"]],
      ["snow -alps", ["+snow", "+alps"], ["alps"]],
      ["snow -rain lang:en", ["+snow", "-rain", "+lang:en"], ["snow", "rain", "lang:en"]],
      ["(snow alps) OR lang:en OR (the on)", ["+snow", "+alps", "+lang:en", "+the", "+on"], ["lang:en"]],
      ["snow -(alps OR lang:en)", ["+snow", "+alps", "+lang:en"], ["alps", "lang:en"]],
      ["snow place:alps", ["+snow", "-place:alps", "-place:alps"], ["place:alps"]]
    ]
  for (const [rule, clauses, decisive] of cases) {
    it(`names the decisive clauses of ${rule}`, () => {
      const found = explained(rule, rule.includes("lang:en OR") ? orOf(rule) : x(rule), post)
      assert.deepStrictEqual(found.clauses, clauses)
      assert.deepStrictEqual(found.decisive, decisive)
    })
  }

  it("describes each predicate and its field", () => {
    const page = Either.getOrThrow(firehoseEvent({ document: { url: "https://a.b" } }, { now: 0 }))
    const lines = (expression: Expression) => explain(expression, page).clauses.map(({ description }) => description)
    const rule = [
      'tesla AND title:"electric vehicle" AND removed:"a1 b2"~3 AND url:*\\/tag\\/* AND domain:/a.*/ AND title:fod~1',
      "AND dr:[50 TO *] AND publish_time:{2025 TO 2026] AND language:en AND dr:7 AND dr:* AND recent:24h"
    ].join(" ")
    assert.deepStrictEqual(lines(firehose(rule)), [
      'The word "tesla" in text that the page gained',
      'The phrase "electric vehicle" in the title of the page',
      'The phrase "a1 b2" in text that the page lost, with a slop of 3 positions',
      'The address of the page fits the pattern "*/tag/*"',
      'The domain of the page fits the regular expression "a.*"',
      'A word in the title of the page is spelled like "fod", with at most 1 edit',
      "The Domain Rating of the site is at least 50",
      'The publication time of the page is over "2025" and at most "2026"',
      'The language of the page is "en"',
      "The Domain Rating of the site is 7",
      "The Domain Rating of the site is known",
      "The page was published at most 24 hours before it was matched"
    ])
    const xRule =
      "(#cat @nasa url_contains:photo context:47.* point_radius:[2 48 16km] bounding_box:[1 2 1.1 2.1] is:retweet has:links -is:nullcast followers_count:5..9) sample:10"
    assert.deepStrictEqual(lines(x(xRule)), [
      'A hashtag of the post is "cat"',
      'An account mentioned in the post is "nasa"',
      'A link of the post contains "photo"',
      'A context annotation of the post fits the pattern "47.*"',
      "The post is from within 16 km of longitude 2, latitude 48",
      "The post is from between longitudes 1 and 1.1, latitudes 2 and 2.1",
      "The post is a retweet",
      "The post has links",
      "The post is a nullcast",
      "The number of the author's followers is at least 5 and at most 9",
      "The post is in the fixed sample of 10 percent"
    ])
  })

  it("keeps each description short and on one line", () => {
    for (const word of ["a".repeat(500), "🍕".repeat(500), "a\n\u2028\u202e\ud800b"]) {
      const [clause] = explain(
        { _tag: "Equals", field: "x.hashtag", value: word, span: { start: 0, end: 0 } },
        post
      ).clauses
      const description = clause?.description ?? ""
      assert.isTrue([...description].length < 140, description)
      assert.notMatch(description, /[\n\u2028\u202e\ud800](?![\udc00-\udfff])/)
    }
  })

  it("names a clause that can never match", () => {
    const span = { start: 3, end: 7 }
    const nothing: Expression = { _tag: "Nothing", span }
    const found = explain(
      { _tag: "And", clauses: [{ _tag: "Everything", span: { start: 0, end: 2 } }, nothing], span },
      post
    )
    assert.isFalse(found.matched)
    assert.deepStrictEqual(found.decisive, [span])
  })
})

/** A disjunction of clauses that X rejects when they stand alone. */
const orOf = (rule: string): Expression => {
  const clauses = rule.split(" OR ").map((part): Expression => {
    const start = rule.indexOf(part)
    const inner = part.replaceAll(/[()]/g, "").split(" ")
    const leaves = inner.map((word): Expression => {
      const at = rule.indexOf(word, start)
      const span = { start: at, end: at + word.length }
      return word === "lang:en"
        ? { _tag: "Equals", field: "x.lang", value: "en", span }
        : { _tag: "Phrase", field: "x.text", words: [word], slop: 0, span }
    })
    const [only] = leaves
    return leaves.length === 1 && only !== undefined
      ? only
      : { _tag: "And", clauses: leaves, span: { start, end: start + part.length } }
  })
  return { _tag: "Or", clauses, span: { start: 0, end: rule.length } }
}

describe("explain, compared with every set of clauses", () => {
  type Shape = boolean | { readonly _tag: "And" | "Or" | "Not"; readonly parts: ReadonlyArray<Shape> }
  const shape = fc.letrec<{ node: Shape }>((tie) => ({
    node: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.boolean(),
      tie("node").map((part): Shape => ({ _tag: "Not", parts: [part] })),
      fc
        .tuple(fc.constantFrom("And" as const, "Or" as const), fc.array(tie("node"), { minLength: 1, maxLength: 3 }))
        .map(([_tag, parts]): Shape => ({ _tag, parts }))
    )
  })).node

  /** Gives each leaf its own span, and the result that the shape asks for. */
  const toExpression = (
    root: Shape
  ): { readonly expression: Expression; readonly outcomes: ReadonlyArray<boolean> } => {
    const outcomes: Array<boolean> = []
    const convert = (node: Shape): Expression => {
      if (typeof node === "boolean") {
        const span = { start: outcomes.length, end: outcomes.length + 1 }
        outcomes.push(node)
        return { _tag: "Equals", field: "x.hashtag", value: node ? "there" : "absent", span }
      }
      const clauses = node.parts.map(convert)
      const span = { start: 0, end: 0 }
      const [clause] = clauses
      if (node._tag !== "Not") return { _tag: node._tag, clauses, span }
      return clause === undefined ? { _tag: "Nothing", span } : { _tag: "Not", clause, span }
    }
    return { expression: convert(root), outcomes }
  }

  const outcome = (expression: Expression, leaves: ReadonlyArray<boolean>): boolean => {
    switch (expression._tag) {
      case "And":
        return expression.clauses.every((clause) => outcome(clause, leaves))
      case "Or":
        return expression.clauses.some((clause) => outcome(clause, leaves))
      case "Not":
        return !outcome(expression.clause, leaves)
      default:
        return leaves[expression.span.start] === true
    }
  }

  const sets = (count: number) => Array.from({ length: 2 ** count }, (_, bits) => bits)
  const has = (set: number, index: number) => ((set >> index) & 1) === 1
  const size = (set: number) => set.toString(2).replaceAll("0", "").length

  it("names a smallest decisive set", () => {
    const event: PlatformEvent = {
      id: "1",
      text: () => [],
      *readText() {},
      keywords: () => ["there"],
      number: () => undefined,
      places: () => [],
      ageHours: undefined,
      values: () => ["there"],
      texts: () => [],
      analyse: () => ({ words: [], positions: [] }),
      writeWords: () => 0
    }
    fc.assert(
      fc.property(
        shape.map(toExpression).filter(({ outcomes }) => outcomes.length <= 7),
        ({ expression, outcomes }) => {
          const found = explain(expression, event)
          assert.deepStrictEqual(
            found.clauses.map(({ held }) => held),
            outcomes
          )
          assert.strictEqual(found.matched, outcome(expression, outcomes))
          const all = sets(outcomes.length)
          const flipped = (set: number) => outcomes.map((held, index) => held !== has(set, index))
          const decides = found.matched
            ? (set: number) => all.every((other) => (other & set) !== 0 || outcome(expression, flipped(other)))
            : (set: number) => outcome(expression, flipped(set))
          const named = found.decisive.reduce((set, { start }) => set | (1 << start), 0)
          assert.isTrue(decides(named))
          for (const set of all) {
            assert.isFalse(size(set) < found.decisive.length && decides(set), `a smaller set: ${set.toString(2)}`)
          }
        }
      ),
      { numRuns: sized(375, 1_500) }
    )
  })
})
