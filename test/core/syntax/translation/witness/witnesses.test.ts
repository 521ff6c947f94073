import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import { evaluate } from "../../../../../core/syntax/expression/evaluate.ts"
import type { Expression } from "../../../../../core/syntax/expression/expression.ts"
import { fields } from "../../../../../core/syntax/firehose/fields.ts"
import type { Span } from "../../../../../core/syntax/issues/issue.ts"
import type { Witness } from "../../../../../core/syntax/translation/witness/search.ts"
import type { WitnessedClause, WitnessedTranslation } from "../../../../../core/syntax/translation/witness/witnesses.ts"
import { operators } from "../../../../../core/syntax/x/operators.ts"
import { objectOf, objectsOf } from "../../../../../core/text/json.ts"
import { languageOf, type PlatformId } from "../../../../../fixtures/languages.ts"
import { directions } from "../corpus.ts"
import { firehoseRules, xRules } from "../eventPairs.ts"
import { translateWithWitnesses } from "../translate.ts"

describe("witnesses", () => {
  const unwitnessed = new Set([
    // The documentation of X leaves the distance open; both of our evaluators read it as Lucene does.
    '"happy birthday"~3 wider',
    '"very happy birthday"~3 wider',
    '"very happy birthday"~3 narrower',
    '"tesla recall"~5 narrower',
    '"big tesla recall"~5 wider',
    '"big tesla recall"~5 narrower',
    // A page has one language.
    "(language:en OR tesla) AND language:de narrower"
  ])

  for (const [from, to, cases] of directions) {
    it(`show every loss in the corpus from ${from} to ${to} on both evaluators`, () => {
      for (const [source] of cases) {
        const translation = translationOf(from, source)
        for (const clause of translation.clauses) {
          for (const effect of clause.effects) {
            const witness = clause.witnesses.find((one) => one.effect === effect)
            const details = `${source} ${effect}`
            assert.strictEqual(witness === undefined, unwitnessed.has(details), `${details}: ${clause.reason}`)
            if (witness !== undefined) assertDiffers({ from, source, translation, clause, witness })
          }
        }
      }
    })
  }

  it("are looked for within a budget, and the translation says if it is used up", () => {
    const few = translationOf("x", "electric lang:en from:nasa")
    assert.isUndefined(few.incomplete)
    const many = Array.from({ length: 150 }, (_, n) => `#a${n}`).join(" ")
    const { clauses, incomplete } = translationOf("x", many)
    assert.match(incomplete ?? "", /^The search for witnesses stopped/)
    const found = clauses.filter(({ witnesses }) => witnesses.length > 0).length
    assert.isTrue(found > 0 && found < clauses.length, `${found} of ${clauses.length}`)
  })

  it("are absent for exact clauses and if there is no translation", () => {
    for (const [from, , cases] of directions) {
      for (const [source] of cases) {
        const { text, clauses } = translationOf(from, source)
        for (const { fidelity, effects, witnesses } of clauses) {
          if (fidelity === "exact" || text === undefined) {
            assert.deepStrictEqual([effects, witnesses], [[], []], source)
          }
        }
      }
    }
  })

  it("show the loss of every operator and every field", () => {
    const x = operators.flatMap(({ examples }) => examples).filter((example) => !example.includes(" OR "))
    const firehose = fields.map(({ example }) => example).filter((example) => !example.includes("recent:"))
    const rules = [
      ...x.flatMap((rule) => [`zebra (${rule})`, `zebra -(${rule})`, `zebra OR (koala ${rule})`]).map(of("x")),
      ...[...firehose, ...patterns]
        .flatMap((rule) => [`zebra AND (${rule})`, `zebra AND NOT (${rule})`, `zebra OR (koala AND (${rule}))`])
        .map(of("firehose"))
    ]
    let losses = 0
    for (const { from, source } of rules) {
      const translation = translationOf(from, source)
      for (const clause of translation.clauses) {
        losses += clause.effects.length
        assert.sameMembers(
          clause.witnesses.map(({ effect }) => effect),
          [...clause.effects],
          `${source}: ${clause.reason}`
        )
        for (const witness of clause.witnesses) assertDiffers({ from, source, translation, clause, witness })
      }
    }
    assert.isAbove(losses, 200)
  })

  for (const [from, rules] of [
    ["x", xRules(true)],
    ["firehose", firehoseRules(true)]
  ] as const) {
    it(`of generated rules from ${from} differ as claimed`, () => {
      let losses = 0
      let witnessed = 0
      fc.assert(
        fc.property(rules, (source) => {
          const translation = translationOf(from, source)
          for (const clause of translation.clauses) {
            losses += clause.effects.length
            witnessed += clause.witnesses.length
            for (const witness of clause.witnesses) {
              assertDiffers({ from, source, translation, clause, witness })
            }
          }
        }),
        { numRuns: 300 }
      )
      assert.isAbove(losses, 150)
      // The others lose nothing: (tesla OR (tesla @nasa)) is tesla.
      assert.isAbove(witnessed / losses, 0.85)
    })
  }

  it("are found for some of the losses of the largest rules, within a limit", () => {
    const words = Array.from({ length: 400 }, (_, index) => `removed:w${index}`)
    for (const connective of [" OR ", " AND "]) {
      const { clauses } = translationOf("firehose", `tesla${connective}${words.join(connective)}`)
      const found = clauses.filter(({ witnesses }) => witnesses.length > 0).length
      assert.isTrue(found > 0 && found < 400, `${found} witnesses of rules joined by${connective}`)
    }
  })
})

// ---- helpers ----

const of = (from: PlatformId) => (source: string) => ({ from, source })

/** Firehose's other forms of values. */
const patterns = [
  "removed:tes*",
  "removed:/tes(la|ts)+/",
  "added_anchor:buy~1",
  "url:/.*\\/[0-9]{4}\\/.*/",
  "domain:*.gov",
  "publish_time:[2025-01-01T00\\:00\\:00 TO *]",
  "publish_time:{2025-01-01T00\\:00\\:00 TO 2025-02-01T00\\:00\\:00}",
  "publish_time:2025*",
  "dr:{10 TO 20}",
  "dr:50",
  "page_type:/.*Art.*/",
  "language:[de TO en]",
  "language:z*",
  "title:te?t",
  'title:"a b c"~3',
  "tset~2",
  "/[a-c]{3}/",
  "/<1-20>/"
]

const other = (platform: PlatformId): PlatformId => (platform === "x" ? "firehose" : "x")

const translationOf = (from: PlatformId, source: string): WitnessedTranslation =>
  translateWithWitnesses({ language: languageOf(from), text: source }, languageOf(other(from)))

interface Claim {
  readonly from: PlatformId
  readonly source: string
  readonly translation: WitnessedTranslation
  readonly clause: WitnessedClause
  readonly witness: Witness
}

/** Runs both filters on the witness's events, and the source also with the opposite result of the lost clause. */
const assertDiffers = ({ from, source, translation, clause, witness }: Claim): void => {
  const to = other(from)
  const details = `${source} and ${translation.text} on ${JSON.stringify(witness)}`
  const expression = expressionOf(from, source)
  const translated = expressionOf(to, translation.text ?? "")
  const event = eventOf(from, witness)
  const matchesSource = evaluate(expression, event)
  assert.strictEqual(matchesSource, witness.effect === "narrower", details)
  assert.strictEqual(evaluate(translated, eventOf(to, witness)), witness.effect === "wider", details)
  assert.strictEqual(witness.matchedBy, witness.effect === "wider" ? to : from)
  const key = keyAt(expression, clause.span)
  const results = [true, false].map((value) => evaluate(withResult(expression, key, value), event))
  assert.include(
    results,
    !matchesSource,
    `${source.slice(clause.span.start, clause.span.end)} does not decide: ${details}`
  )
  assertSameContent(witness, details)
}

const expressionOf = (platform: PlatformId, text: string): Expression => {
  const { rule } = languageOf(platform).check(text)
  if (rule === undefined) throw new Error(`${platform} rejects ${text}`)
  return rule.expression
}

const eventOf = (platform: PlatformId, { events }: Witness) =>
  Either.getOrThrowWith(languageOf(platform).events.read(events[platform], 0), (reason) => new Error(reason))

/** Equal for equal clauses. Undefined if there is no clause with this span. */
const keyAt = (expression: Expression, span: Span): string | undefined => {
  if (expression.span.start === span.start && expression.span.end === span.end && expression._tag !== "Not") {
    return keyOf(expression)
  }
  return childrenOf(expression)
    .map((child) => keyAt(child, span))
    .find((key) => key !== undefined)
}

const keyOf = (expression: Expression): string =>
  JSON.stringify(expression, (name, value) => (name === "span" ? undefined : value))

const childrenOf = (expression: Expression): ReadonlyArray<Expression> =>
  expression._tag === "Not" ? [expression.clause] : "clauses" in expression ? expression.clauses : []

const withResult = (expression: Expression, key: string | undefined, value: boolean): Expression => {
  if (keyOf(expression) === key) return { _tag: value ? "Everything" : "Nothing", span: expression.span }
  if (expression._tag === "Not") return { ...expression, clause: withResult(expression.clause, key, value) }
  return "clauses" in expression
    ? { ...expression, clauses: expression.clauses.map((clause) => withResult(clause, key, value)) }
    : expression
}

const assertSameContent = ({ events }: Witness, details: string): void => {
  const data = objectOf(events["x"]?.["data"])
  const document = objectOf(events["firehose"]?.["document"])
  const [link] = objectsOf(objectOf(data?.["entities"])?.["urls"])
  const [chunk] = objectsOf(objectOf(document?.["diff"])?.["chunks"])
  assert.strictEqual(data?.["text"], chunk?.["text"], details)
  if (link !== undefined) assert.strictEqual(link["url"], document?.["url"], details)
  assert.strictEqual(link?.["title"], document?.["title"], details)
}
