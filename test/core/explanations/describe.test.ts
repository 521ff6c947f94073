/** `describeHits`: what hits per clause say about a filter. */
import { assert, describe, it } from "@effect/vitest"
import { describeHits } from "../../../core/explanations/describe.ts"
import type { FilterHits } from "../../../core/explanations/Hits.ts"
import { HitTally } from "../../../core/explanations/Hits.ts"
import { bluesky } from "../../../core/languages/bluesky.ts"
import { firehose } from "../../../core/languages/firehose.ts"
import type { Language } from "../../../core/languages/Language.ts"
import { x } from "../../../core/languages/x.ts"
import { finish } from "../../../core/work/turns.ts"

describe("describeHits", () => {
  it("counts a group of alternatives once", () => {
    assert.deepStrictEqual(
      hitsOf(x, "comet (party OR fest OR parade) -is:retweet", posts("comet", "comet fest", "fest")),
      [
        "On x, 1 of the newest 3 events matches comet (party OR fest OR parade) -is:retweet",
        "- comet: 2 of 3; without it, 1 more event would match",
        "- (party OR fest OR parade): 2 of 3 (party 0, fest 2, parade 0); without it, 1 more event would match",
        "- -is:retweet: 3 of 3"
      ]
    )
    const groups = hitsOf(firehose, "a1 OR b1 NOT c1", [page("a1"), page("a1 c1")])
    assert.deepStrictEqual(groups.slice(1), [
      "- a1 OR b1: 2 of 2 (a1 2, b1 0)",
      "- NOT c1: 1 of 2; without it, 1 more event would match"
    ])
  })

  it("says that parts hold but never together, and without which there are matches", () => {
    assert.deepStrictEqual(
      hitsOf(x, "comet party tonight", posts("comet party", "party tonight", "comet party")).slice(1),
      [
        "- comet: 2 of 3",
        "- party: 3 of 3",
        "- tonight: 1 of 3",
        "No event has all of these; without comet: 1 match, without tonight: 2 matches"
      ]
    )
    const far = hitsOf(x, "comet party tonight", posts("comet", "party", "tonight"))
    assert.strictEqual(far.at(-1), "No event has all of these; leaving out one of them is not enough")
    assert.notMatch(hitsOf(x, "comet party", posts("comet")).join("\n"), /has all of these/, "one never holds")
  })

  it("says nothing more of a filter with one part than its alternatives", () => {
    const events = posts("comet", "party")
    assert.deepStrictEqual(hitsOf(x, "comet", events), ["On x, 1 of the newest 2 events matches comet"])
    assert.deepStrictEqual(hitsOf(x, "comet OR party OR fest", events), [
      "On x, 2 of the newest 2 events match comet OR party OR fest",
      "- comet OR party OR fest: 2 of 2 (comet 1, party 1, fest 0)"
    ])
  })

  it("says why only events that match some rule were tested", () => {
    assert.strictEqual(
      hitsOf(x, "comet", posts("comet"), "matched_events").at(-1),
      "x sends only events that match some rule of this server, so others could not be tested"
    )
    const post = { did: "did:plc:a", commit: { rkey: "1", record: { text: "comet" } } }
    assert.strictEqual(
      hitsOf(bluesky, "comet", [post], "matched_events").at(-1),
      "of bluesky, Earshot keeps only events that match some rule of this server, so others could not be tested"
    )
  })

  it("names the field of a clause if another has the same text", () => {
    const lines = hitsOf(firehose, "title:(party OR fest) AND party", [page("party", "none")])
    assert.deepStrictEqual(lines.slice(1), [
      '- title:(party OR fest): 0 of 1 (party (The word "party" in the title of the page) 0, fest 0); without it, 1 more event would match',
      '- party (The word "party" in text that the page gained): 1 of 1'
    ])
  })
})

// ---- helpers ----

const hitsOf = (
  language: Language,
  text: string,
  events: ReadonlyArray<unknown>,
  basis: FilterHits["basis"] = "all_events"
): ReadonlyArray<string> => {
  const expression = language.check(text).rule?.expression ?? assert.fail(`Not a filter: ${text}`)
  const tally = new HitTally({ language, text, expression })
  finish(tally.visit(events.map((event) => ({ receivedAt: 0, json: JSON.stringify(event) }))))
  const hits = { filter: text, state: "active", basis, ...tally.result() } as const
  return describeHits(language, hits, (shown) => shown)
}

const posts = (...texts: ReadonlyArray<string>) => texts.map((text, n) => ({ data: { id: String(n), text } }))

const page = (added: string, title = "") => ({
  document: { url: `https://a.example/${added}`, title, diff: { chunks: [{ typ: "ins", text: added }] } }
})
