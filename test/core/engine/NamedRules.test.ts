import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { NamedRules } from "../../../core/engine/NamedRules.ts"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import { Random } from "../../../fixtures/distributions.ts"
import { hostileRules, hostileTexts } from "../../../fixtures/hostile.ts"
import { checkRule, readEvent } from "../../../fixtures/languages.ts"
import { sized } from "../../long.ts"

const parse = (text: string): Expression => {
  const { rule, issues } = checkRule("firehose", text)
  if (rule === undefined) throw new Error(`${issues[0]?.message}: ${text}`)
  return rule.expression
}

const page = (title: string) =>
  Either.getOrThrow(readEvent("firehose", { document: { url: "https://example.com", title } }, 0))

describe("NamedRules.matchInTurns", () => {
  it("agrees with the evaluator, while other events are matched and rules change between its turns", () => {
    const random = new Random(1)
    const named = new NamedRules({ seed: 1 })
    const rules = new Map<string, Expression>()
    const add = (name: string, text: string) => {
      rules.set(name, parse(text))
      named.set(name, parse(text))
    }
    for (const [kind, write] of Object.entries(hostileRules)) {
      for (let n = 0; n < sized(1, 3); n++) add(`${kind} ${n}`, write(random))
    }
    // Undecided ones that match.
    add("a long word", "title:/.*a.{200}/")
    add("a phrase", 'title:("a b" AND NOT "a b c")')
    let turns = 0
    for (const write of Object.values(hostileTexts)) {
      const event = page(write(random, 6_000))
      const matching = named.matchInTurns(event, (name) => rules.get(name))
      let turn = matching.next()
      for (; turn.done !== true; turn = matching.next()) {
        turns++
        named.set("other", parse(`removed:word${turns}`))
        named.match(page("a b c"))
      }
      const expected = [...rules].filter(([, expression]) => evaluate(expression, event)).map(([name]) => name)
      assert.sameMembers([...turn.value], expected)
    }
    assert.isAbove(turns, 20)
  })

  it("agrees with match on a large event, across the parts that it is read in", () => {
    const texts = [
      ...['"w511 w512"', '"w511 w513"', '"w1023 the w1024"', "w19999", "absent", "add*", "title:*d1234*"],
      ...['"the last"', '"last first"', "first", 'added:"w5 w6"', "w2?"]
    ]
    const named = new NamedRules({ seed: 1 })
    for (const text of texts) named.set(text, parse(text))
    const words = Array.from({ length: 20_000 }, (_, number) => `w${number}${number === 1_023 ? " the" : ""}`)
    const chunks = [`${words.join(" ")} the last`, "first added", "née ".repeat(5_000)]
    const document = { url: "https://example.com", title: `${"the ".repeat(600)} add1234` }
    const event = () =>
      Either.getOrThrow(
        readEvent(
          "firehose",
          { document: { ...document, diff: { chunks: chunks.map((text) => ({ typ: "ins", text })) } } },
          0
        )
      )
    const matching = named.matchInTurns(event(), parse)
    let turns = 0
    let turn = matching.next()
    for (; turn.done !== true; turn = matching.next()) turns++
    assert.sameMembers([...turn.value], [...named.match(event())])
    const expected = texts.filter((text) => evaluate(parse(text), event()))
    assert.sameMembers([...turn.value], expected)
    assert.isAbove(expected.length, 5)
    assert.isBelow(expected.length, texts.length - 2)
    assert.isAbove(turns, 10)
  })
})
