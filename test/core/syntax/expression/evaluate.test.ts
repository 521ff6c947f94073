import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { evaluate, sampleOf } from "../../../../core/syntax/expression/evaluate.ts"
import type { EventFields } from "../../../../core/syntax/expression/eventFields.ts"
import type { Expression, Predicate } from "../../../../core/syntax/expression/expression.ts"
import { areaInBox, areaInCircle } from "../../../../core/syntax/expression/geometry.ts"

const span = { start: 0, end: 0 }

const bare: EventFields = {
  id: "1",
  text: () => [],
  *readText() {},
  keywords: () => [],
  number: () => undefined,
  places: () => [],
  ageHours: undefined
}

const tagged = (tags: ReadonlyArray<string>): EventFields => ({ ...bare, keywords: () => tags })
const tag = (value: string): Expression => ({ _tag: "Equals", field: "x.hashtag", value, span })
const not = (clause: Expression): Expression => ({ _tag: "Not", clause, span })
const and = (clauses: ReadonlyArray<Expression>): Expression => ({ _tag: "And", clauses, span })
const or = (clauses: ReadonlyArray<Expression>): Expression => ({ _tag: "Or", clauses, span })

const letter = fc.constantFrom("a", "b", "c", "d")
const expression = fc.letrec<{ node: Expression }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    letter.map(tag),
    fc.constantFrom<Expression>({ _tag: "Everything", span }, { _tag: "Nothing", span }),
    tie("node").map(not),
    fc.array(tie("node"), { maxLength: 3 }).map(and),
    fc.array(tie("node"), { maxLength: 3 }).map(or)
  )
})).node
const event = fc.subarray(["a", "b", "c", "d"]).map(tagged)

describe("evaluate", () => {
  it("satisfies De Morgan's laws, double negation and the constants", () => {
    fc.assert(
      fc.property(fc.array(expression, { maxLength: 4 }), expression, event, (clauses, one, seen) => {
        assert.strictEqual(evaluate(not(and(clauses)), seen), evaluate(or(clauses.map(not)), seen))
        assert.strictEqual(evaluate(not(or(clauses)), seen), evaluate(and(clauses.map(not)), seen))
        assert.strictEqual(evaluate(not(not(one)), seen), evaluate(one, seen))
        assert.isTrue(evaluate(or([one, not(one)]), seen))
        assert.isFalse(evaluate(and([one, not(one)]), seen))
        assert.strictEqual(evaluate(and([one, { _tag: "Everything", span }]), seen), evaluate(one, seen))
        assert.strictEqual(evaluate(or([one, { _tag: "Nothing", span }]), seen), evaluate(one, seen))
      })
    )
  })

  it("is true for an empty conjunction and false for an empty disjunction", () => {
    assert.isTrue(evaluate(and([]), bare))
    assert.isFalse(evaluate(or([]), bare))
  })

  it("is false for every predicate on a missing field", () => {
    const tests: ReadonlyArray<Predicate> = [
      { _tag: "Phrase", field: "x.text", words: ["a"], slop: 0, span },
      { _tag: "Wildcard", field: "firehose.title", over: "words", parts: [{ sign: "*" }], span },
      { _tag: "Fuzzy", field: "firehose.url", over: "values", word: "", distance: 2, span },
      { _tag: "Regex", field: "firehose.url", over: "values", pattern: "@", span },
      { _tag: "Equals", field: "x.hashtag", value: "", span },
      { _tag: "Contains", field: "x.url", text: "", span },
      { _tag: "NumberRange", field: "firehose.dr", from: undefined, to: undefined, span },
      { _tag: "KeywordRange", field: "firehose.language", from: undefined, to: undefined, span },
      { _tag: "Radius", longitude: 0, latitude: 0, kilometres: 30_000, span },
      { _tag: "Box", west: -180, south: -90, east: 180, north: 90, span },
      { _tag: "Recent", hours: 1e9, span }
    ]
    for (const test of tests) assert.isFalse(evaluate(test, bare), test._tag)
  })

  it("is true if any of several values matches", () => {
    const seen = tagged(["apple", "banana"])
    assert.isTrue(evaluate({ _tag: "Contains", field: "x.url", text: "nan", span }, seen))
    assert.isTrue(evaluate({ _tag: "Regex", field: "firehose.url", over: "values", pattern: "b.*", span }, seen))
    assert.isTrue(
      evaluate({ _tag: "Fuzzy", field: "firehose.url", over: "values", word: "aple", distance: 1, span }, seen)
    )
    assert.isTrue(
      evaluate({ _tag: "Wildcard", field: "x.url", over: "values", parts: ["b", { sign: "*" }], span }, seen)
    )
    const from = { value: "b", inclusive: true }
    assert.isTrue(evaluate({ _tag: "KeywordRange", field: "firehose.url", from, to: undefined, span }, seen))
  })

  it("respects inclusive and exclusive bounds of a range", () => {
    const seen: EventFields = { ...bare, number: () => 50 }
    const inRange = (from: number, to: number, inclusive: boolean) =>
      evaluate(
        {
          _tag: "NumberRange",
          field: "firehose.dr",
          from: { value: from, inclusive },
          to: { value: to, inclusive },
          span
        },
        seen
      )
    assert.isTrue(inRange(50, 50, true))
    assert.isFalse(inRange(50, 60, false))
    assert.isFalse(inRange(40, 50, false))
    assert.isTrue(inRange(49, 51, false))
  })

  it("orders keywords by UTF-16 code units", () => {
    const between = (value: string, from: string, to: string) =>
      evaluate(
        {
          _tag: "KeywordRange",
          field: "firehose.url",
          from: { value: from, inclusive: true },
          to: { value: to, inclusive: false },
          span
        },
        tagged([value])
      )
    assert.isTrue(between("Z", "A", "a"))
    assert.isTrue(between("2025-12-31T23:59:59", "2025", "2026"))
    assert.isTrue(between("🍕", "\ud800", "\uffff"))
    assert.isFalse(between("b", "c", "d"))
  })

  it("is false for a pattern that cannot be parsed or run", () => {
    for (const pattern of ["(", "", "[a-z]{1,1000}{1,1000}", "h~((a|b)*a(a|b){30})"]) {
      const test: Expression = { _tag: "Regex", field: "firehose.url", over: "values", pattern, span }
      assert.isFalse(evaluate(test, tagged(["a", "("])), pattern)
      assert.isFalse(evaluate(test, tagged(["a", "("])), pattern)
    }
  })
})

describe("sampleOf", () => {
  it("spreads consecutive ids over all hundredths", () => {
    const seen = new Set(Array.from({ length: 2000 }, (_, index) => sampleOf(String(index))))
    assert.strictEqual(seen.size, 100)
    assert.isTrue([...seen].every((value) => Number.isInteger(value) && value >= 0 && value < 100))
  })

  it("never changes, so that a sample stays the same", () => {
    assert.deepStrictEqual(["1", "1334987486343299072", ""].map(sampleOf), [71, 27, 23])
    assert.isFalse(evaluate({ _tag: "Sample", percent: 71, span }, bare))
    assert.isTrue(evaluate({ _tag: "Sample", percent: 72, span }, bare))
  })
})

describe("areaInCircle and areaInBox", () => {
  const point = (longitude: number, latitude: number) => ({
    west: longitude,
    south: latitude,
    east: longitude,
    north: latitude
  })

  it("measures great-circle distances", () => {
    const paris = { longitude: 2.3522, latitude: 48.8566 }
    const london = point(-0.1276, 51.5072)
    assert.isTrue(areaInCircle(london, { ...paris, kilometres: 345 }))
    assert.isFalse(areaInCircle(london, { ...paris, kilometres: 342 }))
  })

  it("works across the 180th meridian", () => {
    const fiji = { longitude: 179.95, latitude: -17, kilometres: 20 }
    assert.isTrue(areaInCircle(point(-179.95, -17), fiji))
    const box = { west: 179, south: -18, east: -179, north: -16 }
    assert.isTrue(areaInBox(point(-179.5, -17), box))
    assert.isTrue(areaInBox({ west: 179.5, south: -17, east: -179.5, north: -17 }, box))
    assert.isFalse(areaInBox(point(178, -17), box))
    assert.isFalse(areaInBox({ west: 179.5, south: -17, east: -178.5, north: -17 }, box))
  })

  it("requires all corners of an area to be inside", () => {
    const circle = { longitude: 0, latitude: 0, kilometres: 15 }
    assert.isTrue(areaInCircle({ west: -0.09, south: -0.09, east: 0.09, north: 0.09 }, circle))
    assert.isFalse(areaInCircle({ west: -0.09, south: -0.09, east: 0.09, north: 0.101 }, circle))
    assert.isFalse(areaInBox({ west: 0, south: 0, east: 1, north: 2 }, { west: 0, south: 0, east: 1, north: 1 }))
    assert.isFalse(areaInBox({ west: 0, south: 0, east: 2, north: 1 }, { west: 0, south: 0, east: 1, north: 1 }))
    assert.isTrue(areaInBox({ west: 0, south: 0, east: 1, north: 1 }, { west: 0, south: 0, east: 1, north: 1 }))
  })
})
