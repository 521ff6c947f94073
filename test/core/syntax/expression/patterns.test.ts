import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { WildcardSign } from "../../../../core/syntax/expression/expression.ts"
import { type Pattern, patternOf } from "../../../../core/syntax/expression/patterns.ts"
import { parseRegex } from "../../../../core/syntax/regex/parser.ts"
import { matchesNaively } from "../regex/naiveMatcher.ts"
import { sized } from "../../../long.ts"

const span = { start: 0, end: 0 }
const star: WildcardSign = { sign: "*" }
const mark: WildcardSign = { sign: "?" }

const wildcard = (...parts: ReadonlyArray<string | WildcardSign>) =>
  patternOf({ _tag: "Wildcard", field: "firehose.url", over: "values", parts, span })
const fuzzy = (word: string, distance: 0 | 1 | 2) =>
  patternOf({ _tag: "Fuzzy", field: "firehose.url", over: "values", word, distance, span })
const regex = (pattern: string) => patternOf({ _tag: "Regex", field: "firehose.url", over: "values", pattern, span })

/** Every value that fits must contain the pattern's literals. */
const assertLiterals = ({ fits, prefix, substrings }: Pattern, value: string) => {
  if (fits(value)) {
    assert.isTrue(value.startsWith(prefix), `${JSON.stringify(value)} begins with ${JSON.stringify(prefix)}`)
    for (const text of substrings) assert.include(value, text)
  }
}

const texts = (letters: ReadonlyArray<string>, longest: number): ReadonlyArray<string> =>
  longest === 0 ? [""] : ["", ...letters.flatMap((letter) => texts(letters, longest - 1).map((rest) => letter + rest))]

describe("patternOf a wildcard", () => {
  const fitsRecursively = (parts: ReadonlyArray<string | WildcardSign>, value: ReadonlyArray<string>): boolean => {
    const [first, ...rest] = parts
    if (first === undefined) {
      return value.length === 0
    }
    if (typeof first === "string") {
      const letters = [...first]
      return letters.every((letter, at) => letter === value[at]) && fitsRecursively(rest, value.slice(letters.length))
    }
    return first.sign === "?"
      ? value.length > 0 && fitsRecursively(rest, value.slice(1))
      : Array.from({ length: value.length + 1 }, (_, at) => at).some((at) => fitsRecursively(rest, value.slice(at)))
  }

  it("agrees with exhaustive search", () => {
    const unit = fc.constantFrom("a", "b", "🍕", "*", "\ud83c", "\udf55")
    const text = fc.string({ unit, minLength: 1, maxLength: 3 })
    const part = fc.oneof(fc.constantFrom(star, star, mark), text)
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.array(fc.string({ unit, maxLength: 8 })), (parts, values) => {
        const pattern = wildcard(...parts)
        for (const value of [...values, ...values.map((one) => parts.filter((p) => typeof p === "string").join(one))]) {
          assert.strictEqual(pattern.fits(value), fitsRecursively(parts, [...value]), JSON.stringify(value))
          assertLiterals(pattern, value)
        }
      }),
      { numRuns: sized(750, 3_000) }
    )
  })

  it("agrees with exhaustive search on short values of two letters", () => {
    const part = fc.constantFrom(star, star, mark, "a", "b", "ab", "ba")
    const values = texts(["a", "b"], 6)
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const pattern = wildcard(...parts)
        for (const value of values) {
          assert.strictEqual(pattern.fits(value), fitsRecursively(parts, [...value]), JSON.stringify(value))
          assertLiterals(pattern, value)
        }
      }),
      { numRuns: sized(125, 500) }
    )
  })

  it("extracts the prefix and the required substrings", () => {
    const literals = (...parts: ReadonlyArray<string | WildcardSign>) => {
      const { prefix, substrings } = wildcard(...parts)
      return [prefix, ...substrings]
    }
    assert.deepStrictEqual(literals("foo", star), ["foo"])
    assert.deepStrictEqual(literals(star, "foo"), ["", "foo"])
    assert.deepStrictEqual(literals("foo", star, "bar", mark, "oo", star), ["foo", "bar"])
    assert.deepStrictEqual(literals(star), [""])
  })

  it("stays fast where backtracking is exponential", () => {
    const parts = Array.from({ length: 60 }, () => [star, "a"]).flat()
    for (const extra of [[], [mark]]) {
      assert.isFalse(wildcard(...parts, ...extra, "b").fits("a".repeat(5000)))
      assert.isTrue(wildcard(...parts, ...extra).fits("a".repeat(5000)))
    }
  })
})

describe("patternOf a fuzzy word", () => {
  const distances = [0, 1, 2] as const
  const cases: ReadonlyArray<readonly [string, string, number]> = [
    ["tesla", "tesla", 0],
    ["tesla", "telsa", 1],
    ["tesla", "tesl", 1],
    ["tesla", "teslas", 1],
    ["tesla", "tisla", 1],
    ["tesla", "etsal", 2],
    ["tesla", "tes", 2],
    ["ab", "ba", 1],
    ["ca", "abc", 3],
    ["a", "", 1],
    ["🍕a", "🍔a", 1],
    ["🍕🍕", "", 2],
    ["kitten", "sitting", 3]
  ]
  for (const [word, value, distance] of cases) {
    it(`has distance ${distance} from "${word}" to "${value}"`, () => {
      for (const most of distances) {
        assert.strictEqual(fuzzy(word, most).fits(value), most >= distance, `at most ${most}`)
        assert.strictEqual(fuzzy(value, most).fits(word), most >= distance, `at most ${most}`)
      }
    })
  }

  /** The full distance table, as in a textbook. */
  const edits = (word: string, value: string): number => {
    const [a, b] = [[...word], [...value]]
    const table = [...a, ""].map(() => [...b, ""].map(() => 0))
    const cell = (i: number, j: number) => table[i]?.[j] ?? 0
    for (let i = 0; i <= a.length; i++) {
      for (let j = 0; j <= b.length; j++) {
        const ways = i === 0 || j === 0 ? [i + j] : [cell(i - 1, j) + 1, cell(i, j - 1) + 1]
        if (i > 0 && j > 0) {
          ways.push(cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1))
        }
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
          ways.push(cell(i - 2, j - 2) + 1)
        }
        const row = table[i]
        if (row !== undefined) row[j] = Math.min(...ways)
      }
    }
    return cell(a.length, b.length)
  }

  it("agrees with the full distance table", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c", "🍕"), maxLength: 9 })
    fc.assert(
      fc.property(word, fc.array(word, { minLength: 1, maxLength: 5 }), (one, values) => {
        for (const most of distances) {
          const { fits } = fuzzy(one, most)
          const near = [`${one}a`, one.slice(1), `${one.slice(0, 2)}b${one.slice(2)}`, [...one].reverse().join("")]
          for (const value of [...values, ...near]) {
            assert.strictEqual(fits(value), edits(one, value) <= most, `${JSON.stringify(value)} at most ${most}`)
          }
        }
      }),
      { numRuns: sized(500, 2_000) }
    )
  })

  it("grows its scratch space for longer words", () => {
    const long = "abcdefghij".repeat(50)
    assert.isTrue(fuzzy(long, 2).fits(`x${long}y`))
    assert.isFalse(fuzzy(long, 2).fits(`x${long}yz`))
    assert.isTrue(fuzzy("ab", 1).fits("ba"))
  })
})

describe("patternOf a regular expression", () => {
  const dialect = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(
        "a",
        "b",
        "1",
        "ab",
        "ba",
        '"ab"',
        ".",
        "[ab]",
        "[a]",
        "[^a]",
        "@",
        "#",
        "()",
        "<1-11>",
        "<01-12>"
      ),
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `${one}${other}`),
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}|${other})`),
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}&${other})`),
      tie("pattern").map((part) => `~(${part})`),
      fc
        .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,}", "{1,2}", "{0,2}", "{2,}"))
        .map(([part, sign]) => `(${part})${sign}`)
    )
  })).pattern
  const all = texts(["a", "b", "1"], 4)

  it("agrees with the definition, and every match contains the literals", () => {
    fc.assert(
      fc.property(dialect, (written) => {
        const { tree } = parseRegex(written)
        const pattern = regex(written)
        for (const value of all) {
          assert.strictEqual(pattern.fits(value), tree !== undefined && matchesNaively(tree, value), value)
          assertLiterals(pattern, value)
        }
      }),
      { numRuns: sized(100, 400) }
    )
  })

  const literals: ReadonlyArray<readonly [pattern: string, prefix: string, substrings: ReadonlyArray<string>]> = [
    [".*\\/page\\/[0-9]+.*", "", ["/page/"]],
    ["https?:\\/\\/.*\\.gov\\/.*", "http", [".gov/", "://"]],
    [".*\\.(pdf|pbf)", "", [".p", "f"]],
    ["(foo|foobar)x", "foo", ["x"]],
    ["(ab){2}c", "ababc", []],
    ["(ab){2,3}c", "abab", ["ababc"]],
    ["a+b*c?", "a", []],
    ["(.*cat.*)&(.*dog.*)&b.*", "b", ["cat", "dog"]],
    ["(cat|dog)", "", []],
    ["(🍕|🍔)", "", []],
    ["~(foo)", "", []],
    ["[x]y[0-9]", "xy", []],
    ["a{900}", "a".repeat(16), []]
  ]
  for (const [pattern, prefix, substrings] of literals) {
    it(`extracts the literals of ${pattern}`, () => {
      const found = regex(pattern)
      assert.deepStrictEqual([found.prefix, found.substrings], [prefix, substrings])
    })
  }
})

describe("patternOf a substring", () => {
  it("matches values that contain it", () => {
    const pattern = patternOf({ _tag: "Contains", field: "x.url", text: "cat", span })
    assert.isTrue(pattern.fits("concatenate"))
    assert.isFalse(pattern.fits("cut"))
    assert.deepStrictEqual([pattern.prefix, pattern.substrings], ["", ["cat"]])
    assert.deepStrictEqual(patternOf({ _tag: "Contains", field: "x.url", text: "", span }).substrings, [])
  })
})
