/** The examples of what a translation loses, as readers see them. */
import { assert, describe, it } from "@effect/vitest"
import { bluesky } from "../../../core/languages/bluesky.ts"
import { x } from "../../../core/languages/x.ts"
import { lossesIn } from "../../../core/rules/describeLoss.ts"
import { checkedInTurns } from "../../../core/rules/RuleCheck.ts"
import { finish } from "../../../core/work/turns.ts"

describe("lossesIn", () => {
  it("shows neither ids of records nor those of accounts", () => {
    const text = "nasa from:a.example.com quotes:b.example.com has:alt"
    const { checked } = finish(checkedInTurns({ language: bluesky, text }, [bluesky, x]))
    const losses = lossesIn(checked.translations["x"]?.clauses ?? [], "bluesky")
    const examples = losses.flatMap(({ examples }) => examples)
    assert.include(examples[0], 'text "nasa"')
    assert.include(examples.join(), 'alt "a photo"')
    assert.notMatch(examples.join(), /did:|at:\/\/|rkey|collection/)
  })

  it("shows each event once", () => {
    const clause = { span: { start: 0, end: 1 }, fidelity: "narrower", reason: "Differs" } as const
    const witness = { effect: "narrower", matched_by: "x", events: { x: { data: { text: "storm" } } } } as const
    const losses = lossesIn(
      [
        { ...clause, witnesses: [witness] },
        { ...clause, fidelity: "exact" },
        { ...clause, witnesses: [witness] }
      ],
      "x"
    )
    assert.deepStrictEqual(
      losses.map(({ examples }) => examples),
      [['the translation misses: text "storm"'], ["the translation misses: the same event"]]
    )
  })
})
