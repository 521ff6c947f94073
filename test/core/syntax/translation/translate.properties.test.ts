import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { evaluate } from "../../../../core/syntax/expression/evaluate.ts"
import type { Expression, Predicate } from "../../../../core/syntax/expression/expression.ts"
import * as Firehose from "../../../../core/syntax/firehose/language.ts"
import type { Fidelity } from "../../../../core/syntax/translation/translate.ts"
import * as X from "../../../../core/syntax/x/language.ts"
import { languageOf, type PlatformId } from "../../../../fixtures/languages.ts"
import { firehoseRules, type Pair, pairs, xRules } from "./eventPairs.ts"
import { translate, translateWithWitnesses } from "./translate.ts"

const expressionOf = (platform: PlatformId, text: string): Expression | undefined => {
  if (platform === "x") {
    const { rule } = X.check(text)
    return rule && X.lower(rule.ast)
  }
  return Firehose.check(text).rule?.expression
}

const leavesOf = (expression: Expression): ReadonlyArray<Predicate> => {
  switch (expression._tag) {
    case "And":
    case "Or":
      return expression.clauses.flatMap(leavesOf)
    case "Not":
      return leavesOf(expression.clause)
    case "Everything":
    case "Nothing":
      return []
    default:
      return [expression]
  }
}

const allowed: Readonly<Record<Fidelity, (source: boolean, target: boolean) => boolean>> = {
  exact: (source, target) => source === target,
  wider: (source, target) => !source || target,
  narrower: (source, target) => source || !target,
  different: () => true,
  impossible: () => false
}

/** Counters that show the test is not vacuous. */
interface Stats {
  readonly fidelities: Map<Fidelity, number>
  /** Events on which translation and source differ. */
  differing: number
  matched: number
}

const assertFidelity = (from: PlatformId, source: string, events: ReadonlyArray<Pair>, stats: Stats): void => {
  const to = from === "x" ? "firehose" : "x"
  const expression = expressionOf(from, source)
  fc.pre(expression !== undefined)
  const { text, fidelity, clauses, reason } = translate({ language: languageOf(from), text: source }, languageOf(to))
  stats.fidelities.set(fidelity, (stats.fidelities.get(fidelity) ?? 0) + 1)

  const spans = new Set(clauses.map(({ span }) => `${span.start} ${span.end}`))
  for (const { span } of leavesOf(expression)) {
    assert.isTrue(spans.has(`${span.start} ${span.end}`), `${source.slice(span.start, span.end)} is not reported`)
  }
  if (text === undefined) {
    assert.strictEqual(fidelity, "impossible")
    assert.isDefined(reason)
    return
  }
  const translated = expressionOf(to, text)
  if (translated === undefined) {
    assert.fail(`${to} rejects ${text}`)
  }
  for (const { content, ...event } of events) {
    const before = evaluate(expression, event[from])
    const after = evaluate(translated, event[to])
    stats.differing += before === after ? 0 : 1
    stats.matched += before ? 1 : 0
    const details = `${source} (${before}) and ${text} (${after}) on ${JSON.stringify(content)}`
    assert.isTrue(allowed[fidelity](before, after), `${fidelity}: ${details}`)
  }
}

const directions = [
  ["x", xRules],
  ["firehose", firehoseRules]
] as const

for (const [from, rules] of directions) {
  for (const everyWord of [false, true]) {
    const words = everyWord ? "words that the platforms split differently" : "plain words and distances"
    it(`translations from ${from} have the reported fidelity, with ${words}`, () => {
      const stats: Stats = { fidelities: new Map(), differing: 0, matched: 0 }
      const events = fc.array(pairs(everyWord), { minLength: 10, maxLength: 10 })
      fc.assert(
        fc.property(rules(everyWord), events, (source, pairs) => assertFidelity(from, source, pairs, stats)),
        { numRuns: 500 }
      )
      for (const fidelity of ["exact", "wider", "narrower", "different", "impossible"] as const) {
        assert.isAbove(stats.fidelities.get(fidelity) ?? 0, 5, fidelity)
      }
      assert.isAbove(stats.differing, 30)
      assert.isAbove(stats.matched, 300)
    })
  }
}

describe("translate", () => {
  it("never throws, and never returns a text that the target rejects", () => {
    const pieces = fc.constantFrom(
      ...'cat|dog|the|AND|OR|NOT|-|(|)|"|~2|#tag|@name|from:nasa|lang:en|language:en|url:x|url_contains:"a\\\\b"|title:x|*:*|x*|/x/|dr:[1 TO 2]|recent:1d|\u0000|\ud800|é|東|🍕|\\u0000|\\|url:*\\"*| '.split(
        "|"
      )
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.constantFrom<PlatformId>("x", "firehose"), (parts, from) => {
        const to = from === "x" ? "firehose" : "x"
        for (const separator of [" ", ""]) {
          const { text, fidelity } = translateWithWitnesses(
            { language: languageOf(from), text: parts.join(separator) },
            languageOf(to)
          )
          assert.strictEqual(text === undefined, fidelity === "impossible")
          if (text !== undefined) {
            assert.isDefined(expressionOf(to, text), text)
          }
        }
      }),
      { numRuns: 500 }
    )
  })
})
