/** Requests that cost a server as much as possible. Those that it accepts are the most expensive of their kind. */
import { isSmoke } from "../figures.ts"
import type { Client } from "./client.ts"

type Attack = (attacker: Client) => Promise<unknown>

const page = (title: string, id = "a") => ({
  query_id: id,
  matched_rule: id,
  matched_at: "2026-11-15T08:31:07.402Z",
  document: {
    url: `https://example.com/${id}`,
    title,
    language: "en",
    publish_time: "2026-11-15T08:31:07",
    diff: { chunks: [{ typ: "ins", text: "cat" }] }
  }
})

const check = (filter: string, title: string): Attack => {
  const body = { overrides: { firehose: filter }, events: { firehose: page(title) } }
  return (attacker) => attacker.post("/rules/check", body)
}

const createRule = (filter: string, platform = "firehose") => ({
  name: "Expensive",
  intent: "Cost much",
  platforms: [platform],
  overrides: { [platform]: filter }
})

const MATCHING_RULES = 30
const LONG_WORD = "a".repeat(900_000)
const LONG_TITLE = "ab ".repeat(300_000)
const HUGE_PATTERN = "title:/.*a.{9900}/"
const LARGE_PATTERN = "title:/.*a.{400}/"
const FUZZY = `title:(${Array.from({ length: 40 }, (_, i) => `abcdefgh${String.fromCharCode(97 + (i % 26))}~2`).join(" OR ")})`

export const attacks: {
  /** Stores rules and large matches for the other attacks. */
  readonly prepare: (attacker: Client) => Promise<void>
  readonly all: Readonly<Record<string, Attack>>
} = {
  prepare: async (attacker) => {
    for (const filter of [LARGE_PATTERN, FUZZY, "title:/(a|b)*c[ab]{50}/", 'title:"a b c d e f"~50']) {
      await attacker.post("/api.CreateRule", createRule(filter))
    }
    for (let i = 0; i < MATCHING_RULES; i++)
      await attacker.post("/api.CreateRule", createRule(`title:many AND NOT no${i}`))
    await attacker.post("/api.CreateRule", createRule("quake", "x"))
    for (let i = 0; i < (isSmoke ? 2 : 31); i++) {
      await attacker.post("/local/events", { data: { id: String(i + 1), text: "quake", padding: "p".repeat(990_000) } })
    }
  },
  all: {
    "a check of a huge pattern on a title of 900 kB": check(HUGE_PATTERN, LONG_WORD),
    "a check of a large pattern on a word of 900 kB": check(LARGE_PATTERN, LONG_WORD),
    "a check of a large pattern on 300,000 words": check(LARGE_PATTERN, LONG_TITLE),
    "a check of fuzzy words on 300,000 words": check(FUZZY, LONG_TITLE),
    "200 rules with a huge pattern": async (attacker) => {
      for (let i = 0; i < (isSmoke ? 2 : 200); i++) await attacker.post("/api.CreateRule", createRule(HUGE_PATTERN))
    },
    "an event of 900 kB against expensive rules": (attacker) => attacker.post("/local/events", page(LONG_TITLE, "b")),
    "an event of one word of 900 kB against expensive rules": (attacker) =>
      attacker.post("/local/events", page(LONG_WORD, "c")),
    [`an event of 900 kB that matches ${MATCHING_RULES} rules`]: (attacker) => {
      const event = page("many", "d")
      return attacker.post("/local/events", {
        ...event,
        document: { ...event.document, padding: LONG_WORD }
      })
    },
    "a backtest over large events": (attacker) =>
      attacker.post("/rules/check", { overrides: { firehose: LARGE_PATTERN }, backtest: {} }),
    "events with 149,000 times 1e300": (attacker) =>
      attacker.post(
        "/local/events",
        `{"data":{"id":"1","text":"quake","n":[${Array.from({ length: 149_000 }, () => "1e300").join()}]}}`
      ),
    "a request with 100,000 unknown fields": (attacker) =>
      attacker.post("/matches", Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`f${i}`, 1]))),
    "ten pages at once of matches of 1 MB": (attacker) =>
      Promise.all(Array.from({ length: 10 }, () => attacker.post("/matches", { limit: 500 })))
  }
}
