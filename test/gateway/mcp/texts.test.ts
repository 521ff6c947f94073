/** What the texts of results say to a language model. */
import { assert, describe } from "@effect/vitest"
import { draft, type Json, call as post } from "../client.ts"
import { publish, served, suggestion } from "./served.ts"
import type { Called } from "./session.ts"

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

describe("the text of a check", () => {
  served("states the period of the backtest", async ({ agent, target }) => {
    const times = ["2026-11-15T08:00:00.000Z", "2026-11-15T09:30:00.000Z"]
    await post(
      target,
      "/local/events",
      times.map((created_at) => ({ data: { id: created_at, text: "A comet", created_at } }))
    )
    const { text } = await agent.call("check_rule", { overrides: { x: "comet" }, backtest: {} })
    assert.include(text, `- it matched 2 of the newest 2 events, from ${times.join(" to ")};`)
  })

  served("says what an exact translation leaves out", async ({ agent }) => {
    const { text, structured } = await agent.call("check_rule", { overrides: { x: "comet -is:retweet" } })
    const note = "`-is:retweet` is left out: A page is never a retweet, so there is nothing to exclude"
    assert.include(text, `- translation to firehose (exact): "comet"\n  - ${note}\n`)
    const notes = structured["platforms"]?.["x"]?.["translations"]?.["firehose"]?.["notes"]
    assert.deepStrictEqual(notes as unknown, [note])
  })

  served("suggests a wider filter if nothing matched, else to create or update a rule", async ({ agent, target }) => {
    await publish(target, ["A comet tonight"])
    const nextOf = async (x: string) => {
      const { text } = await agent.call("check_rule", { overrides: { x }, backtest: {} })
      return /^Next: .*$/m.exec(text)?.[0]
    }
    assert.match((await nextOf("asteroid")) ?? "", /matched none of the events: widen it.*rule_hits names the clause$/)
    assert.match((await nextOf("comet")) ?? "", /create_rule, or update_rule for a rule that exists$/)
    assert.match((await nextOf("comet lnag:en")) ?? "", /^Next: fix the filter/)
  })
})

describe("a changed rule", () => {
  served("comes with the cursor for its next matches", async ({ agent, target }) => {
    const { structured } = await agent.call("create_rule", draft("comet", ["x"]))
    const rule_id = String(structured["rule_id"])
    const nextOf = async (called: Called) => {
      const next = suggestion(called, "wait_for_matches") ?? assert.fail(called.text)
      assert.deepStrictEqual(next, { rule_id, cursor: called.structured["cursor"] as unknown })
      return textsIn((await agent.call("wait_for_matches", { ...next, timeout_seconds: 1 })).structured["matches"])
    }
    const first = await agent.call("update_rule", { rule_id, overrides: { x: "comet OR asteroid" } })
    await publish(target, ["A comet"])
    assert.deepStrictEqual(await nextOf(first), ["A comet"])
    const second = await agent.call("update_rule", { rule_id, overrides: { x: "asteroid" } })
    await publish(target, ["An asteroid"])
    assert.deepStrictEqual(await nextOf(second), ["An asteroid"], "without earlier matches")
    await agent.call("pause_rule", { rule_id })
    const resumed = await agent.call("resume_rule", { rule_id })
    await publish(target, ["Another asteroid"])
    assert.deepStrictEqual(await nextOf(resumed), ["Another asteroid"])
  })
})

describe("the summary of a long event", () => {
  const FILLER = "Several words about nothing at all. ".repeat(30)
  const POST = `${FILLER}Then a comet 🚀 party. ${FILLER}`
  const PAGE = {
    document: { url: "https://a.example/", title: "News", diff: { chunks: [{ typ: "ins", text: POST }] } }
  }
  const AROUND = /^… [\w .]*Then a comet 🚀 party\. Several [\w .]* \[[0-9a-f]{24}: \d{4} more characters\]$/

  served("shows the place that the filter matches", async ({ agent, target }) => {
    const wanted = "(comet OR asteroid) -storm"
    const { structured } = await agent.call("create_rule", {
      ...draft("", ["x", "firehose"]),
      overrides: { x: `${wanted} lang:en`, firehose: "(comet OR asteroid) NOT storm" }
    })
    const rule_id = String(structured["rule_id"])
    await agent.call("create_rule", draft("comet", ["x"]))
    await post(target, "/local/events", [
      { data: { id: "1", text: POST, lang: "en" } },
      { data: { id: "2", text: `comet ${POST}`, lang: "en" } }
    ])
    await post(target, "/local/events", PAGE)
    const listed = await agent.call("list_matches", { rule_id })
    const [page = "", second = "", first = ""] = textsIn(listed.structured["matches"])
    assert.match(first, AROUND)
    assert.match(page, AROUND)
    assert.match(second, /^comet Several words/, "the start shows it")
    assert.include(listed.text, JSON.stringify(first))
    assert.match(listed.text, /Where a text was cut, the same call with "full": true has more/)
    const full = await agent.call("list_matches", { rule_id, full: true })
    assert.notInclude(full.text, `"full": true has more`)
    assert.include(full.text, `a smaller "limit" leaves more space`)
    const all = await agent.call("list_matches", {})
    assert.lengthOf(
      textsIn(all.structured["matches"]).filter((text) => AROUND.test(text)),
      3
    )

    const checked = await agent.call("check_rule", { overrides: { x: wanted }, backtest: {} })
    const samples = textsIn(checked.structured["platforms"]?.["x"]?.["backtest"]?.["samples"])
    assert.match(samples[1] ?? "", AROUND)

    await agent.call("update_rule", { rule_id, overrides: { x: "other", firehose: "other" } })
    const [changed = ""] = textsIn((await agent.call("list_matches", { rule_id })).structured["matches"])
    assert.match(changed, /^News\n\+ Several words/, "the present filter does not match it")
  })
})

// ---- helpers ----

const textsIn = (items: Json | undefined): ReadonlyArray<string> =>
  [...(items ?? [])].map((item) => String(item["text"]))

const RETWEETED = { type: "retweeted", id: "1" }

const occurrences = (text: string, part: string): ReadonlyArray<string> => text.split(part).slice(1)
