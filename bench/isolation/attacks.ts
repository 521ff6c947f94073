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

/** Pages that match a filter for cats. */
export const pages = (count: number) =>
  Array.from({ length: count }, (_, i) => page(`a cat and ${WORDS.join(" ")}`, `page-${i}-${Math.random()}`))

/** Rules whose filters are tested on every event. */
export const costlyRules = async (attacker: Client): Promise<void> => {
  const letters = Array.from({ length: 300 }, (_, i) => i.toString(36).padStart(2, "0"))
  for (let i = 0; i < (isSmoke ? 1 : 30); i++) {
    await attacker.post("/api.CreateRule", createRule(`title:(${letters.map((l) => `*${l}${i}*`).join(" OR ")})`))
    const fuzzy = letters.slice(0, 80).map((l) => `fuzzy${l}${i}~2`)
    await attacker.post("/api.CreateRule", createRule(`title:(${fuzzy.join(" OR ")})`))
  }
}

/** Many events in one request. Each is a match. */
export const eventFlood = {
  count: isSmoke ? 500 : 60_000,
  send: (attacker: Client) => {
    const events = Array.from(
      { length: eventFlood.count },
      (_, i) => `{"data":{"id":"${1_000_000 + i}","text":"quake number ${i}"}}`
    )
    return attacker.post("/local/events", events.join("\n"), { "content-type": "application/x-ndjson" })
  }
}

const WORDS = Array.from({ length: 100 }, (_, i) => `word${i * 7919}`)
const MATCHING_RULES = 30
const LISTED_RULES = isSmoke ? 20 : 3_000
const CHINESE = "地震新聞報告速報".repeat(1_000)
const DISTINCT = Array.from({ length: 8_000 }, (_, i) => String.fromCharCode(0x4e00 + i)).join("")
const EMOJI = "🌋🌊🔥".repeat(400)

const MCP = { accept: "application/json, text/event-stream" }
const batch = (calls: number) =>
  Array.from({ length: calls }, (_, id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "check_rule", arguments: { overrides: { firehose: CHINESE } } }
  }))

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
    // The first call loads the code for tools, once for the life of the server.
    await attacker.post("/mcp", batch(1), MCP)
    for (const filter of [LARGE_PATTERN, FUZZY, "title:/(a|b)*c[ab]{50}/", 'title:"a b c d e f"~50']) {
      await attacker.post("/api.CreateRule", createRule(filter))
    }
    for (let i = 0; i < MATCHING_RULES; i++)
      await attacker.post("/api.CreateRule", createRule(`title:many AND NOT no${i}`))
    for (let i = 0; i < LISTED_RULES; i++) await attacker.post("/api.CreateRule", createRule(`title:listed${i}`))
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
    "a check of 8,000 Chinese characters": (attacker) =>
      attacker.post("/rules/check", { overrides: { firehose: CHINESE } }),
    "a check of the same character 8,000 times": (attacker) =>
      attacker.post("/rules/check", { overrides: { firehose: "地".repeat(8_000) } }),
    "a check of emoji": (attacker) => attacker.post("/rules/check", { overrides: { firehose: EMOJI } }),
    "a check of a pattern with 8,000 times @": (attacker) =>
      attacker.post("/rules/check", { overrides: { firehose: `url:/${"@".repeat(8_000)}/` } }),
    "a check of a pattern of 8,000 characters on its own address": (attacker) => {
      const event = page("a")
      return attacker.post("/rules/check", {
        overrides: { firehose: `url:/${DISTINCT}/` },
        events: { firehose: { ...event, document: { ...event.document, url: DISTINCT } } }
      })
    },
    "a rule with Chinese for one platform of two": (attacker) =>
      attacker.post("/api.CreateRule", { ...createRule(CHINESE), platforms: ["firehose", "x"] }),
    [`ten lists at once of ${LISTED_RULES} rules`]: (attacker) =>
      Promise.all(Array.from({ length: 10 }, () => attacker.get("/api.ListRules"))),
    "ten batches at once of 20 calls of tools": (attacker) =>
      Promise.all(Array.from({ length: isSmoke ? 1 : 10 }, () => attacker.post("/mcp", batch(isSmoke ? 2 : 20), MCP))),
    "250 live streams at once": async (attacker) => {
      const streams = Array.from({ length: isSmoke ? 20 : 250 }, () => attacker.open("/matches/stream"))
      for (const close of await Promise.all(streams)) close()
    },
    "ten pages at once of matches of 1 MB": (attacker) =>
      Promise.all(Array.from({ length: 10 }, () => attacker.post("/matches", { limit: 500 })))
  }
}
