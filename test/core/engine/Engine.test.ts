import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { Engine } from "../../../core/engine/Engine.ts"
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import { checkRule, PLATFORM_IDS, type PlatformId, readEvent } from "../../../fixtures/languages.ts"
import { compare } from "./comparison.ts"
import { sized } from "../../long.ts"

const NOW = Date.parse("2026-11-15T12:00:00Z")

const rule = (platform: PlatformId, text: string) => {
  const { rule: understood, issues } = checkRule(platform, text)
  if (understood === undefined) throw new Error(`${text}: ${issues[0]?.message}`)
  return understood.expression
}

const read = (platform: PlatformId, record: unknown) => Either.getOrThrow(readEvent(platform, record, NOW))
const post = (text: string, more: object = {}) => read("x", { data: { id: "1", text, ...more } })
const page = (added: string, more: object = {}) =>
  read("firehose", {
    document: { url: "https://news.example.com/a", diff: { chunks: [{ typ: "ins", text: added }] }, ...more }
  })

/** An engine with rules by their text. */
const engineOf = (platform: PlatformId, texts: ReadonlyArray<string>) => {
  const engine = new Engine({ seed: 7 })
  const names = new Map(texts.map((text) => [engine.add(rule(platform, text)), text]))
  return { engine, matched: (event: ReturnType<typeof post>) => engine.match(event).map((number) => names.get(number)) }
}

const span = { start: 0, end: 0 }
const prefixed = (start: string): Expression => ({
  _tag: "Wildcard",
  field: "firehose.page_category",
  over: "values",
  parts: [start, { sign: "*" }],
  span
})
/** Whether the prefix of this length ends with a whole character. */
const isWholePrefix = (word: string) => (_: number, index: number) => !/[\ud800-\udbff]$/.test(word.slice(0, index + 1))

const SEEDS = sized(8, 25)

describe("Engine", () => {
  for (const platform of PLATFORM_IDS) {
    it(`match agrees with the evaluator on random rules and events of ${platform}`, () => {
      let matches = 0
      for (let seed = 1; seed <= SEEDS; seed++) {
        const compared = compare({ platform, seed, steps: 40, rules: 60 })
        assert.isUndefined(compared.difference)
        matches += compared.matches
      }
      assert.isAbove(matches, 40 * SEEDS)
    })

    it(`match agrees with the evaluator while many rules of ${platform} change`, () => {
      assert.isUndefined(compare({ platform, seed: 99, steps: sized(20, 60), rules: 1_200 }).difference)
    })
  }

  it("add and remove apply to the next event", () => {
    const engine = new Engine({ seed: 1 })
    assert.deepStrictEqual([...engine.match(post("red moon"))], [])
    const moon = engine.add(rule("x", "moon"))
    assert.deepStrictEqual([...engine.match(post("red moon"))], [moon])
    engine.remove(moon)
    assert.deepStrictEqual([...engine.match(post("red moon"))], [])
  })

  it("remove ignores an unknown rule", () => {
    const engine = new Engine({ seed: 1 })
    const moon = engine.add(rule("x", "moon"))
    engine.remove(moon)
    engine.remove(moon)
    engine.remove(12_345)
    const sun = engine.add(rule("x", "sun"))
    assert.strictEqual(engine.stats.rules, 1)
    assert.deepStrictEqual([...engine.match(post("sun"))], [sun])
  })

  it("match does not find a phrase across two values of a field", () => {
    // A stop word leaves a gap that matches any word, but not the end of a value.
    const { matched } = engineOf("firehose", ['"red moon"', '"moon rises"', '"red the moon"', '"big of the moon"'])
    const chunks = { diff: { chunks: ["big red", "moon rises late"].map((text) => ({ typ: "ins", text })) } }
    assert.deepStrictEqual(matched(page("", chunks)), ['"moon rises"'])
  })

  it("match finds a phrase with a repeated word", () => {
    const { matched } = engineOf("x", ['"very very good"', '"very good very"'])
    assert.deepStrictEqual(matched(post("a very very very good thing")), ['"very very good"'])
  })

  it("match returns a rule once, even if several of its words occur", () => {
    const { matched } = engineOf("x", ["cat OR dog OR bird"])
    assert.deepStrictEqual(matched(post("cat dog bird cat")), ["cat OR dog OR bird"])
  })

  it("match reads a megabyte event to its last word, and the next event is unaffected", () => {
    const { engine, matched } = engineOf("x", ["lastword", '"w9 lastword"', "w199999 -absent", "w3"])
    const words = Array.from({ length: 140_000 }, (_, number) => `w${number}`).join(" ")
    assert.sameMembers(
      [...matched(post(`${words} w199999 w9 lastword`))],
      ["lastword", '"w9 lastword"', "w199999 -absent", "w3"]
    )
    assert.deepStrictEqual(matched(post("w3 and w9")), ["w3"])
    assert.strictEqual(engine.stats.rules, 4)
  })

  it("match returns thousands of rules for one event", () => {
    const words = Array.from({ length: 3_000 }, (_, number) => `w${number}`)
    const { matched } = engineOf("x", [...words, ...words.slice(0, 500).map((word) => `common ${word}`)])
    assert.lengthOf(matched(post(words.join(" "))), 3_000)
    assert.lengthOf(matched(post(`common ${words.join(" ")}`)), 3_500)
  })

  it("match finds a long phrase among thousands of short values", () => {
    const long = Array.from({ length: 60 }, (_, number) => `l${number}`).join(" ")
    const { matched } = engineOf("firehose", [`"${long}"`, "lastword"])
    const chunks = Array.from({ length: 20_000 }, (_, number) => ({ typ: "ins", text: `w${number}` }))
    const ends = [
      { typ: "ins", text: `so ${long}` },
      { typ: "ins", text: "lastword" }
    ]
    assert.sameMembers([...matched(page("", { diff: { chunks: [...chunks, ...ends] } }))], [`"${long}"`, "lastword"])
    assert.deepStrictEqual(matched(page(long.replace("l7 ", "l8 "))), [])
  })

  it("two engines used in turns do not affect each other", () => {
    const one = engineOf("x", ["cat", '"red cat"'])
    const other = engineOf("firehose", ["cat", "title:dog"])
    for (let turn = 0; turn < 3; turn++) {
      assert.sameMembers([...one.matched(post("a red cat"))], ["cat", '"red cat"'])
      assert.sameMembers([...other.matched(page("a cat", { title: "dog" }))], ["cat", "title:dog"])
    }
  })

  it("stats counts the rules without an anchor", () => {
    const { engine } = engineOf("firehose", ["*:*", "dr:[1 TO 5]", "cat~1", "cat", "url:*moon*", "title:/moon.*/"])
    assert.strictEqual(engine.stats.rules, 6)
    assert.strictEqual(engine.stats.unindexed, 3)
  })

  it("infix wildcards are indexed by their grams", () => {
    const { engine, matched } = engineOf("firehose", ["url:*moon*", "title:*fish"])
    assert.strictEqual(engine.stats.unindexed, 0)
    assert.deepStrictEqual(matched(page("", { url: "https://example.com/red-moon-7", title: "Catfish soup" })), [
      "url:*moon*",
      "title:*fish"
    ])
    assert.deepStrictEqual(matched(page("moon fish", { title: "mo on, fi sh" })), [])
  })

  it("match returns each rule once for a long event with repeated words", () => {
    const words = Array.from({ length: 3_000 }, (_, number) => `word${number}`)
    const { matched } = engineOf("firehose", [...words, '"word2999 word0"', '"word0 word2999"'])
    const found = matched(page([...words, ...words, "other", ...words].join(" ")))
    assert.deepStrictEqual(found.toSorted(), [...words, '"word2999 word0"'].toSorted())
  })

  it("match finds prefixes of every length", () => {
    const starts = ["mo", "moo", "moon", "moonl", "moonlighti", "moonlightin", "moonlighting"]
    const { matched } = engineOf("firehose", [...starts.map((start) => `${start}*`), "red -moonl*", "domain:news.ex*"])
    assert.deepStrictEqual(matched(page("the moon", { url: "https://other.org/" })).toSorted(), [
      "mo*",
      "moo*",
      "moon*"
    ])
    assert.deepStrictEqual(matched(page("red mo", { url: "https://other.org/" })).toSorted(), ["mo*", "red -moonl*"])
    assert.deepStrictEqual(
      matched(page("red moonlighting")).toSorted(),
      [...starts.map((start) => `${start}*`), "domain:news.ex*"].toSorted()
    )
  })

  it("match finds every prefix of a word in every script, and no other", () => {
    for (const word of ["moonlighting", "łódźłódź", "東京タワー東京", "x😀y😀z", "a\u0000b\u0000cdef"]) {
      const engine = new Engine({ seed: 11 })
      const add = (start: string) => engine.add(prefixed(start))
      const right = Array.from({ length: word.length }, (_, at) => add(word.slice(0, at + 1)))
      for (let at = 1; at < word.length; at++) add(`${word.slice(0, at)}!`)
      add(`${word}!`)
      const event = page("", { page_category: [word] })
      assert.sameMembers([...engine.match(event)], right.filter(isWholePrefix(word)), word)
    }
  })

  it("match finds prefixes of more than a thousand characters", () => {
    const word = "moonlight".repeat(200)
    const engine = new Engine({ seed: 12 })
    const lengths = [1, 3, 4, 1_020, 1_022, 1_023, 1_024, 1_025, 1_799, 1_800]
    const right = lengths.map((length) => engine.add(prefixed(word.slice(0, length))))
    for (const length of lengths) engine.add(prefixed(`${word.slice(0, length)}!`))
    assert.sameMembers([...engine.match(page("", { page_category: [word] }))], right)
    for (const number of right) engine.remove(number)
    const short = engine.add(prefixed("mo"))
    assert.deepStrictEqual([...engine.match(page("", { page_category: [word] }))], [short])
  })

  it("a prefix still matches after its counter has saturated", () => {
    const engine = new Engine({ seed: 5 })
    const kept = engine.add(rule("firehose", "moonl* a0"))
    const others = Array.from({ length: 300 }, (_, number) => engine.add(rule("firehose", `moonl* b${number}`)))
    for (const other of others) engine.remove(other)
    assert.deepStrictEqual(engine.match(page("moonlight a0")), [kept])
  })

  it("match moves rules away from an anchor that turns out to be common", () => {
    const engine = new Engine({ seed: 3 })
    // No frequencies are known yet, so the longer word is considered rarer.
    for (let number = 0; number < 200; number++) engine.add(rule("x", `everywhere w${number}`))
    const events = Array.from({ length: 3_000 }, (_, number) => post(`everywhere w${number % 400} and more`))
    for (const event of events) engine.match(event)
    assert.isBelow(engine.postingsScanned, 10)
    assert.strictEqual(engine.match(post("everywhere w7")).length, 1)
    assert.strictEqual(engine.match(post("w7")).length, 0)
  })

  it("memory does not grow when rules are added and removed repeatedly", () => {
    const engine = new Engine({ seed: 1 })
    const expressions = Array.from({ length: 500 }, (_, number) => rule("x", `w${number} OR "v${number} u" OR t -s`))
    const round = () => {
      for (const number of expressions.map((expression) => engine.add(expression))) engine.remove(number)
      return engine.stats.bytes
    }
    const first = round()
    for (let rounds = 0; rounds < 50; rounds++) assert.strictEqual(round(), first)
  })
})
