/** What the texts of results say to a language model. */
import { assert, describe } from "@effect/vitest"
import { draft } from "../client.ts"
import { served } from "./served.ts"

describe("the text of an explanation", () => {
  served("starts with the verdict, has a line for each clause, and shows a text once", async ({ agent }) => {
    const filter = "comet lang:en (party OR fest) -is:retweet"
    const event = { data: { id: "1", text: "A comet, and no more", lang: "de" } }
    const checked = await agent.call("check_rule", { overrides: { x: filter }, events: { x: event } })
    const lines = [
      "- The filter does not match this event",
      '  - held: "comet": The word "comet" in the text of the post',
      '  - did not hold: "lang:en": The language of the post is "en"',
      '  - did not hold: "party": The word "party" in the text of the post',
      '  - did not hold: "fest": The word "fest" in the text of the post',
      '  - did not hold, as the filter demands: "is:retweet": The post is a retweet'
    ]
    assert.include(checked.text, `\n${lines.join("\n")}\n`)
    assert.lengthOf(occurrences(JSON.stringify(checked.structured), "and no more"), 1)

    const { structured } = await agent.call("create_rule", { ...draft(filter, ["x"]) })
    const explained = await agent.call("explain_match", { rule_id: structured["rule_id"], event })
    assert.match(explained.text, /^rule_\w+ does not match this event on x\./)
    assert.lengthOf(occurrences(explained.text, "and no more"), 1)
    assert.lengthOf(occurrences(JSON.stringify(explained.structured), "and no more"), 1)
    const excluded = { data: { id: "2", text: "comet fest", lang: "en", referenced_tweets: [RETWEETED] } }
    const { text } = await agent.call("check_rule", { overrides: { x: filter }, events: { x: excluded } })
    assert.include(text, '  - held, which excludes the event: "is:retweet"')
  })
})

// ---- helpers ----

const RETWEETED = { type: "retweeted", id: "1" }

const occurrences = (text: string, part: string): ReadonlyArray<string> => text.split(part).slice(1)
