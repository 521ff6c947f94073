import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { compare } from "../../../bench/engine/comparison.ts"
import { Engine } from "../../../core/engine/Engine.ts"
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import { checkRule, PLATFORM_IDS, type PlatformId, readEvent } from "../../platforms.ts"

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

/** The engine of one platform with rules by their text. */
const engineOf = (platform: PlatformId, texts: ReadonlyArray<string>) => {
  const engine = new Engine({ seed: 7 })
  const names = new Map(texts.map((text) => [engine.add(rule(platform, text)), text]))
  return { engine, met: (event: ReturnType<typeof post>) => engine.match(event).map((number) => names.get(number)) }
}

const span = { start: 0, end: 0 }
const starting = (start: string): Expression => ({
  _tag: "Wildcard",
  field: "firehose.page_category",
  parts: [start, { sign: "*" }],
  span
})
/** Whether the start of this length ends with a whole character. */
const isWholeStart = (word: string) => (_: number, index: number) => !/[\ud800-\udbff]$/.test(word.slice(0, index + 1))

describe("Engine", () => {
  for (const platform of PLATFORM_IDS) {
    it(`says what the plain evaluator says, for random rules and events of ${platform}`, () => {
      let matches = 0
      for (let seed = 1; seed <= 25; seed++) {
        const compared = compare({ platform, seed, steps: 40, rules: 60 })
        assert.isUndefined(compared.difference)
        matches += compared.matches
      }
      assert.isAbove(matches, 1_000)
    })

    it(`says what the plain evaluator says when many rules of ${platform} come and go`, () => {
      assert.isUndefined(compare({ platform, seed: 99, steps: 60, rules: 1_200 }).difference)
    })
  }

  it("counts a rule from the next event on, and no more after its removal", () => {
    const engine = new Engine({ seed: 1 })
    assert.deepStrictEqual([...engine.match(post("red moon"))], [])
    const moon = engine.add(rule("x", "moon"))
    assert.deepStrictEqual([...engine.match(post("red moon"))], [moon])
    engine.remove(moon)
    assert.deepStrictEqual([...engine.match(post("red moon"))], [])
  })

  it("takes the removal of a rule that is not there for nothing to do", () => {
    const engine = new Engine({ seed: 1 })
    const moon = engine.add(rule("x", "moon"))
    engine.remove(moon)
    engine.remove(moon)
    engine.remove(12_345)
    const sun = engine.add(rule("x", "sun"))
    assert.strictEqual(engine.stats.rules, 1)
    assert.deepStrictEqual([...engine.match(post("sun"))], [sun])
  })

  it("keeps a phrase within one value of a field", () => {
    // The stop word leaves a hole that any word may fill, but not the end of a value.
    const { met } = engineOf("firehose", ['"red moon"', '"moon rises"', '"red the moon"', '"big of the moon"'])
    const chunks = { diff: { chunks: ["big red", "moon rises late"].map((text) => ({ typ: "ins", text })) } }
    assert.deepStrictEqual(met(page("", chunks)), ['"moon rises"'])
  })

  it("finds a phrase in which a word comes twice", () => {
    const { met } = engineOf("x", ['"very very good"', '"very good very"'])
    assert.deepStrictEqual(met(post("a very very very good thing")), ['"very very good"'])
  })

  it("gives a rule once, by however many words it is found", () => {
    const { met } = engineOf("x", ["cat OR dog OR bird"])
    assert.deepStrictEqual(met(post("cat dog bird cat")), ["cat OR dog OR bird"])
  })

  it("reads an event of a megabyte to its last word, and the small one after it as if nothing had been", () => {
    const { engine, met } = engineOf("x", ["lastword", '"w9 lastword"', "w199999 -absent", "w3"])
    const words = Array.from({ length: 140_000 }, (_, number) => `w${number}`).join(" ")
    assert.sameMembers(
      [...met(post(`${words} w199999 w9 lastword`))],
      ["lastword", '"w9 lastword"', "w199999 -absent", "w3"]
    )
    assert.deepStrictEqual(met(post("w3 and w9")), ["w3"])
    assert.strictEqual(engine.stats.rules, 4)
  })

  it("finds all of the rules that one event meets, however many", () => {
    const words = Array.from({ length: 3_000 }, (_, number) => `w${number}`)
    const { met } = engineOf("x", [...words, ...words.slice(0, 500).map((word) => `common ${word}`)])
    assert.lengthOf(met(post(words.join(" "))), 3_000)
    assert.lengthOf(met(post(`common ${words.join(" ")}`)), 3_500)
  })

  it("finds a long phrase, and reads all of many short values beside it", () => {
    const long = Array.from({ length: 60 }, (_, number) => `l${number}`).join(" ")
    const { met } = engineOf("firehose", [`"${long}"`, "lastword"])
    const chunks = Array.from({ length: 20_000 }, (_, number) => ({ typ: "ins", text: `w${number}` }))
    const ends = [
      { typ: "ins", text: `so ${long}` },
      { typ: "ins", text: "lastword" }
    ]
    assert.sameMembers([...met(page("", { diff: { chunks: [...chunks, ...ends] } }))], [`"${long}"`, "lastword"])
    assert.deepStrictEqual(met(page(long.replace("l7 ", "l8 "))), [])
  })

  it("keeps two engines apart that work in turns", () => {
    const one = engineOf("x", ["cat", '"red cat"'])
    const other = engineOf("firehose", ["cat", "title:dog"])
    for (let turn = 0; turn < 3; turn++) {
      assert.sameMembers([...one.met(post("a red cat"))], ["cat", '"red cat"'])
      assert.sameMembers([...other.met(page("a cat", { title: "dog" }))], ["cat", "title:dog"])
    }
  })

  it("counts the rules that have to be run for every event", () => {
    const { engine } = engineOf("firehose", ["*:*", "dr:[1 TO 5]", "cat~1", "cat", "url:*moon*", "title:/moon.*/"])
    assert.strictEqual(engine.stats.rules, 6)
    assert.strictEqual(engine.stats.unindexed, 3)
  })

  it("looks rules up by the middle of a value that they ask for", () => {
    const { engine, met } = engineOf("firehose", ["url:*moon*", "title:*fish"])
    assert.strictEqual(engine.stats.unindexed, 0)
    assert.deepStrictEqual(met(page("", { url: "https://example.com/red-moon-7", title: "Catfish soup" })), [
      "url:*moon*",
      "title:*fish"
    ])
    assert.deepStrictEqual(met(page("moon fish", { title: "mo on, fi sh" })), [])
  })

  it("finds each rule once in an event of very many words that are said again and again", () => {
    const words = Array.from({ length: 3_000 }, (_, number) => `word${number}`)
    const { met } = engineOf("firehose", [...words, '"word2999 word0"', '"word0 word2999"'])
    const found = met(page([...words, ...words, "other", ...words].join(" ")))
    assert.deepStrictEqual(found.toSorted(), [...words, '"word2999 word0"'].toSorted())
  })

  it("finds words by what they begin with, however long or short that is", () => {
    const starts = ["mo", "moo", "moon", "moonl", "moonlighti", "moonlightin", "moonlighting"]
    const { met } = engineOf("firehose", [...starts.map((start) => `${start}*`), "red -moonl*", "domain:news.ex*"])
    assert.deepStrictEqual(met(page("the moon", { url: "https://other.org/" })).toSorted(), ["mo*", "moo*", "moon*"])
    assert.deepStrictEqual(met(page("red mo", { url: "https://other.org/" })).toSorted(), ["mo*", "red -moonl*"])
    assert.deepStrictEqual(
      met(page("red moonlighting")).toSorted(),
      [...starts.map((start) => `${start}*`), "domain:news.ex*"].toSorted()
    )
  })

  it("finds every start of a word in every script, and no other", () => {
    for (const word of ["moonlighting", "łódźłódź", "東京タワー東京", "x😀y😀z", "a\u0000b\u0000cdef"]) {
      const engine = new Engine({ seed: 11 })
      const add = (start: string) => engine.add(starting(start))
      const right = Array.from({ length: word.length }, (_, at) => add(word.slice(0, at + 1)))
      for (let at = 1; at < word.length; at++) add(`${word.slice(0, at)}!`)
      add(`${word}!`)
      const event = page("", { page_category: [word] })
      assert.sameMembers([...engine.match(event)], right.filter(isWholeStart(word)), word)
    }
  })

  it("finds starts of a thousand characters and more", () => {
    const word = "moonlight".repeat(200)
    const engine = new Engine({ seed: 12 })
    const lengths = [1, 3, 4, 1_020, 1_022, 1_023, 1_024, 1_025, 1_799, 1_800]
    const right = lengths.map((length) => engine.add(starting(word.slice(0, length))))
    for (const length of lengths) engine.add(starting(`${word.slice(0, length)}!`))
    assert.sameMembers([...engine.match(page("", { page_category: [word] }))], right)
    for (const number of right) engine.remove(number)
    const short = engine.add(starting("mo"))
    assert.deepStrictEqual([...engine.match(page("", { page_category: [word] }))], [short])
  })

  it("still knows a start after more rules than can be counted have asked for it and gone", () => {
    const engine = new Engine({ seed: 5 })
    const kept = engine.add(rule("firehose", "moonl* a0"))
    const others = Array.from({ length: 300 }, (_, number) => engine.add(rule("firehose", `moonl* b${number}`)))
    for (const other of others) engine.remove(other)
    assert.deepStrictEqual(engine.match(page("moonlight a0")), [kept])
  })

  it("moves rules away from a word that turns out common", () => {
    const engine = new Engine({ seed: 3 })
    // Nothing is known yet, so the longer word is held to be the rarer one.
    for (let number = 0; number < 200; number++) engine.add(rule("x", `everywhere w${number}`))
    const events = Array.from({ length: 3_000 }, (_, number) => post(`everywhere w${number % 400} and more`))
    for (const event of events) engine.match(event)
    assert.isBelow(engine.looked, 10)
    assert.strictEqual(engine.match(post("everywhere w7")).length, 1)
    assert.strictEqual(engine.match(post("w7")).length, 0)
  })

  it("takes no more memory after rules have come and gone many times", () => {
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
