import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { hostileRules, hostileTexts } from "../../../bench/engine/hostile.ts"
import { Random } from "../../../bench/engine/workload/random.ts"
import { NamedRules } from "../../../core/engine/NamedRules.ts"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import { checkRule, readEvent } from "../../platforms.ts"

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
      for (let n = 0; n < 3; n++) add(`${kind} ${n}`, write(random))
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
})
