/** Properties of the language: never throws, spans lie inside the text, printing round-trips. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { Expression } from "../../../../core/syntax/expression/expression.ts"
import type { Clause, FieldRef, Group, Occur, Query, RangeEnd } from "../../../../core/syntax/firehose/ast.ts"
import { check, parse, print } from "../../../../core/syntax/firehose/language.ts"
import { hasWords } from "../../../../core/syntax/firehose/tokens.ts"
import type { Span } from "../../../../core/syntax/issues/issue.ts"
import { parseRegex } from "../../../../core/syntax/regex/parser.ts"
import { sized } from "../../../long.ts"
import { cpuMillisOf } from "../../../cpuMillis.ts"

/** Timeout of one property, in milliseconds. */
const TIMEOUT = 120_000

const rules = readFileSync(new URL("../../../../fixtures/rules-firehose.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => line.slice(line.indexOf("\t") + 1))

const checkInvariants = (text: string): void => {
  const { issues, rule } = check(text, { maxLength: 200_000 })
  assert.strictEqual(
    rule === undefined,
    issues.some((issue) => issue.severity === "error")
  )
  assert.isAtMost(issues.length, 20)
  for (const { span, code } of issues) {
    assert.isTrue(
      0 <= span.start && span.start <= span.end && span.end <= text.length,
      `${code} ${span.start}-${span.end}`
    )
  }
  if (rule !== undefined) {
    spansInside(rule.ast, text.length)
    const again = parse(rule.canonical, { maxLength: 1_000_000 })
    assert.deepStrictEqual(again.ast && bare(again.ast), bare(rule.ast), rule.canonical)
    assert.strictEqual(again.ast && print(again.ast), rule.canonical)
    const checked = check(rule.canonical, { maxLength: 1_000_000 }).rule
    assert.strictEqual(checked && meaning(checked.expression), meaning(rule.expression), rule.canonical)
  }
}

const meaning = (expression: Expression): string =>
  JSON.stringify(expression, (key, value: unknown) => (key === "span" ? undefined : value))

const spansInside = (query: Query, length: number): void => {
  const inside = ({ start, end }: Span) => assert.isTrue(0 <= start && start <= end && end <= length)
  inside(query.span)
  if (query.field !== undefined) inside(query.field.span)
  if (query._tag === "Group") {
    for (const clause of [...query.clauses, ...query.dropped]) {
      inside(clause.span)
      inside(clause.spelling.conjunctionSpan)
      spansInside(clause.query, length)
    }
  } else {
    inside(query.value)
  }
}

/** The AST without spans and spelling. */
const bare = (query: Query): unknown => {
  const field = query.field?.name
  switch (query._tag) {
    case "Group":
      return { field, clauses: query.clauses.map(({ occur, query: inner }) => ({ occur, query: bare(inner) })) }
    case "Range": {
      const { from, to, includesFrom, includesTo } = query
      return { tag: "Range", field, from: from?.text, to: to?.text, includesFrom, includesTo }
    }
    default: {
      const { span: _span, value: _value, field: _field, ...rest } = query
      return { field: query._tag === "Recent" ? "recent" : field, ...rest }
    }
  }
}

const pieces = fc.constantFrom(
  ...'AND OR NOT && || ! + - ( ) [ ] { } TO " \' / \\ : * ? ~ ^ ~2 ^2 tesla the title: url: dr: recent:24h page_type: *:* \\/ /a.*/ [1 TO 2] "a b" “ ” $x 50 http:// \u00a0 \ud800 \u0000 \u202e 東京 é \\u \\u0041 \\ud800 \\t'.split(
    " "
  )
)

describe("check", () => {
  it(
    "handles any text",
    () => {
      fc.assert(
        fc.property(fc.oneof(fc.fullUnicodeString(), fc.string16bits(), fc.string({ maxLength: 80 })), checkInvariants),
        {
          numRuns: sized(750, 3_000)
        }
      )
    },
    TIMEOUT
  )

  it(
    "handles any sequence of tokens",
    () => {
      const row = fc
        .array(fc.tuple(pieces, fc.constantFrom("", " ")), { maxLength: 25 })
        .map((parts) => parts.map(([piece, space]) => piece + space).join(""))
      fc.assert(fc.property(row, checkInvariants), { numRuns: sized(1_250, 5_000) })
    },
    TIMEOUT
  )

  it(
    "handles rules with a random edit",
    () => {
      const mutated = fc
        .tuple(
          fc.constantFrom(...rules),
          fc.nat(),
          fc.nat({ max: 8 }),
          pieces,
          fc.constantFrom("cut", "double", "insert")
        )
        .map(([rule, at, length, piece, how]) => {
          const start = at % (rule.length + 1)
          const middle = rule.slice(start, start + length)
          const insert = how === "cut" ? "" : how === "double" ? middle + middle : piece + middle
          return rule.slice(0, start) + insert + rule.slice(start + length)
        })
      fc.assert(fc.property(mutated, checkInvariants), { numRuns: sized(1_250, 5_000) })
    },
    TIMEOUT
  )

  it(
    "rejects huge and hostile texts quickly",
    () => {
      const length = 100_000
      const texts = [
        "(",
        "!",
        "a:",
        "\\",
        "/",
        '"',
        "[",
        "-",
        "NOT ",
        "AND ",
        ")",
        "*",
        "~",
        "^",
        "\\/",
        "a/",
        "title:(",
        "'",
        "{a TO ",
        "a\\\\/",
        "$"
      ]
      for (const text of texts) {
        for (const maxLength of [undefined, 1_000_000]) {
          const millis = cpuMillisOf(() => {
            const rule = text.repeat(length / text.length)
            const { issues, rule: accepted } = check(rule, maxLength === undefined ? {} : { maxLength })
            assert.isTrue(issues.length > 0, text)
            if (maxLength === undefined) {
              assert.strictEqual(issues[0]?.code, "too-long")
              assert.isUndefined(accepted)
            }
          })
          assert.isBelow(millis, maxLength === undefined ? 1000 : 5000, text)
        }
      }
      const millis = cpuMillisOf(() => {
        assert.strictEqual(check("x".repeat(10_000_000)).issues[0]?.code, "too-long")
      })
      assert.isBelow(millis, 100)
    },
    TIMEOUT
  )
})

const noSpan: Span = { start: 0, end: 0 }

const word = fc
  .oneof(
    fc.stringOf(fc.constantFrom(...'abcXYZ019-+!(){}[]^"~*?:\\/&|. \tuAND\u3000é東'), { minLength: 1, maxLength: 8 }),
    fc.constantFrom("AND", "OR", "NOT", "&&", "||", "TO", "u0041")
  )
  .filter((text) => hasWords(text, false))

const field = fc.option(
  fc.constantFrom("title", "url", "domain", "added", "dr", "no such").map((name): FieldRef => ({ name, span: noSpan })),
  { nil: undefined }
)

const rangeEnd = fc.option(
  fc
    .oneof(
      fc.stringOf(fc.constantFrom(...'ab09:-T.]} "\\*'), { minLength: 1, maxLength: 6 }),
      fc.constantFrom("*", "TO")
    )
    .map((text): RangeEnd => ({ text, span: noSpan })),
  { nil: undefined }
)

const pattern = fc
  .stringOf(fc.constantFrom("a", "b", ".", "*", "+", "\\/", "[0-9]", "(a|b)", "é"), { minLength: 1, maxLength: 6 })
  .filter((text) => parseRegex(text).tree !== undefined)

const spans = { value: noSpan, span: noSpan }
const sign = fc.constantFrom({ sign: "*" } as const, { sign: "?" } as const)
const literal = fc.stringOf(fc.constantFrom(...'abX9-+:/*?\\" é'), { minLength: 1, maxLength: 5 })

const leaf: fc.Arbitrary<Query> = fc.oneof(
  fc.record({ field, text: word }).map((it): Query => ({ _tag: "Term", ...it, ...spans })),
  fc.record({ field, text: word, slop: fc.nat({ max: 9 }) }).map((it): Query => ({ _tag: "Phrase", ...it, ...spans })),
  fc
    .record({ field, text: word, distance: fc.constantFrom<0 | 1 | 2>(0, 1, 2) })
    .map((it): Query => ({ _tag: "Fuzzy", ...it, ...spans })),
  fc
    .record({
      field,
      head: fc.option(literal),
      signs: fc.array(sign, { minLength: 1, maxLength: 2 }),
      tail: fc.option(literal)
    })
    .map(({ field: ref, head, signs, tail }): Query => {
      const parts = [...(head === null ? [] : [head]), ...signs, ...(tail === null ? [] : [tail])]
      return { _tag: "Wildcard", field: ref, parts, ...spans }
    }),
  fc.record({ field, pattern }).map((it): Query => ({ _tag: "Regex", ...it, ...spans })),
  fc
    .record({ field, from: rangeEnd, to: rangeEnd, includesFrom: fc.boolean(), includesTo: fc.boolean() })
    .map((it): Query => ({ _tag: "Range", ...it, ...spans })),
  fc.constant<Query>({ _tag: "Everything", field: undefined, ...spans }),
  fc
    .record({ amount: fc.integer({ min: 1, max: 999 }), unit: fc.constantFrom<"h" | "d" | "mo">("h", "d", "mo") })
    .map((it): Query => ({ _tag: "Recent", field: { name: "recent", span: noSpan }, ...it, ...spans }))
)

const clauseOf = (query: fc.Arbitrary<Query>): fc.Arbitrary<Clause> =>
  fc.record({
    occur: fc.constantFrom<Occur>("must", "should", "must_not"),
    query,
    spelling: fc.constant({ conjunction: undefined, modifier: undefined, conjunctionSpan: noSpan }),
    span: fc.constant(noSpan)
  })

const groupOf = (query: fc.Arbitrary<Query>): fc.Arbitrary<Group> =>
  fc
    .record({ field, clauses: fc.array(clauseOf(query), { minLength: 1, maxLength: 4 }) })
    .map((it): Group => ({ _tag: "Group", ...it, dropped: [], span: noSpan }))

const tree: fc.Arbitrary<Group> = groupOf(
  fc.oneof({ weight: 4, arbitrary: leaf }, { weight: 1, arbitrary: groupOf(leaf) })
).map((group): Group => ({ ...group, field: undefined }))

describe("print", () => {
  it(
    "prints a text that parses to the same AST and prints the same again",
    () => {
      fc.assert(
        fc.property(tree, (ast) => {
          const text = print(ast)
          const parsed = parse(text, { maxLength: 100_000 })
          assert.isDefined(parsed.ast, `${text} ${JSON.stringify(parsed.issues)}`)
          if (parsed.ast !== undefined) {
            assert.deepStrictEqual(bare(parsed.ast), bare(ast), text)
            assert.strictEqual(print(parsed.ast), text)
          }
        }),
        { numRuns: sized(1_000, 4_000) }
      )
    },
    TIMEOUT
  )
})
