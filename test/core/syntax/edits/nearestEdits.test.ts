/** The smallest change of a filter that matches an event: by example, and on generated filters and events. */
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import type { Language } from "../../../../core/languages/Language.ts"
import { type EditKind, type FilterEdit, nearestEditsInTurns } from "../../../../core/syntax/edits/nearestEdits.ts"
import { evaluate } from "../../../../core/syntax/expression/evaluate.ts"
import type { PlatformEvent } from "../../../../core/syntax/expression/eventFields.ts"
import { outcomeInTurns } from "../../../../core/syntax/expression/explain.ts"
import type { Predicate } from "../../../../core/syntax/expression/expression.ts"
import { strengthOf, strengths } from "../../../../core/syntax/translation/strength.ts"
import { finish, Pace } from "../../../../core/work/turns.ts"
import { WorkBudget } from "../../../../core/work/WorkBudget.ts"
import { randomClause, randomEvent, randomText } from "../../../../fixtures/generators.ts"
import { languageOf, PLATFORM_IDS, type PlatformId } from "../../../../fixtures/languages.ts"
import { type Random, randomFrom } from "../../../../fixtures/random.ts"
import { sized } from "../../../long.ts"

const NOW = Date.parse("2026-11-15T12:00:00Z")

const read = (language: Language, record: unknown): PlatformEvent =>
  Either.getOrThrow(language.events.read(record, NOW))

const isSubject = (clause: Predicate) => strengthOf(clause) > strengths.kind

/** `undefined` if the filter is not valid or matches the event. */
const editsOf = (language: Language, text: string, event: PlatformEvent): ReadonlyArray<FilterEdit> | undefined => {
  const expression = language.check(text).rule?.expression
  const edits = language.edits?.(text)
  if (expression === undefined || edits === undefined) return undefined
  const { matched, held } = finish(outcomeInTurns(expression, event, new Pace()))
  if (matched) return undefined
  return finish(
    nearestEditsInTurns({ text, expression, held, event, check: language.check, isSubject }, edits, {
      max: 3,
      budget: new WorkBudget(50_000)
    })
  )
}

const matches = (language: Language, text: string, event: PlatformEvent): boolean => {
  const { rule } = language.check(text)
  return rule !== undefined && evaluate(rule.expression, event)
}

describe("nearestEditsInTurns", () => {
  const post = {
    data: {
      id: "1",
      text: "Strong earthquakes near the coast of Chile #chile https://example.com/news",
      lang: "es",
      author_id: "7",
      referenced_tweets: [{ type: "quoted", id: "2" }]
    },
    includes: { users: [{ id: "7", username: "usgs", public_metrics: { followers_count: 900 } }] }
  }
  const update = {
    document: {
      url: "https://news.example.com/a",
      title: "Plans and pricing",
      language: "fr",
      domain_rating: 40,
      publish_time: "2026-11-13T12:00:00",
      diff: { chunks: [{ typ: "ins", text: "The new plan is free for small teams" }] }
    },
    matched_at: "2026-11-15T12:00:00Z"
  }
  const cases: ReadonlyArray<readonly [PlatformId, filter: string, kind: EditKind, changed: string]> = [
    ["x", "earthquakes lang:en", "change", "earthquakes lang:es"],
    ["x", "chile from:nasa", "remove", "chile"],
    ["x", "from:nasa", "add", "from:nasa OR from:usgs"],
    ["x", "from:nasa OR from:esa", "add", "from:nasa OR from:usgs OR from:esa"],
    ["x", "earthquake chile", "change", "earthquakes chile"],
    ["x", "chile tsunami", "remove", "chile"],
    ["x", "chile -is:quote", "remove", "chile"],
    ["x", "chile is:retweet", "remove", "chile"],
    ["x", "chile (tsunami OR flood)", "remove", "chile"],
    ["x", "(volcano flood) OR (chile lava)", "remove", "volcano flood OR chile"],
    ["x", "chile tsunami -has:links lang:es", "remove_several", "chile lang:es"],
    ["x", '"strong quake"', "change", "strong"],
    ["x", '"strong coast"', "change", '"strong coast"~3'],
    ["x", "chile followers_count:1000..5000", "change", "chile followers_count:900..5000"],
    ["x", "#peru chile", "remove", "chile"],
    ["x", "#peru", "add", "#peru OR #chile"],
    ["firehose", "plan AND language:en", "change", "plan AND language:fr"],
    ["firehose", "plan AND domain:new.example.com", "change", "plan AND domain:news.example.com"],
    ["firehose", "plan AND NOT title:pricing", "remove", "plan"],
    ["firehose", "plan AND dr:[50 TO 90]", "change", "plan AND dr:[40 TO 90]"],
    ["firehose", "plan AND recent:24h", "change", "plan AND recent:48h"],
    ["firehose", "plans AND free", "change", "plan AND free"],
    ["firehose", '"plan small"', "change", '"plan small"~3'],
    ["firehose", "plan AND removed:free", "remove", "plan"],
    ["firehose", "title:(price OR plan)", "change", "title:(price OR plans)"],
    ["firehose", "plan AND url:*docs* AND removed:teams", "remove_several", "plan"],
    ["firehose", "domain:other.example AND dr:40", "add", "(domain:other.example OR domain:news.example.com) AND dr:40"]
  ]
  for (const [platform, filter, kind, changed] of cases) {
    it(`changes ${filter} on ${platform} to ${changed}`, () => {
      const language = languageOf(platform)
      const [first] = editsOf(language, filter, read(language, platform === "x" ? post : update)) ?? []
      assert.deepStrictEqual([first?.kind, first?.text], [kind, changed])
    })
  }

  const unrelated: ReadonlyArray<readonly [PlatformId, filter: string]> = [
    ["x", "volcano"],
    ["x", "volcano lava"],
    ["x", "volcano -is:quote"],
    ["x", "(volcano OR lava) lang:es"],
    ["x", '"volcano ash" OR "of iceland"'],
    ["x", "cost"],
    ["x", "url:volcano"],
    ["firehose", "volcano"],
    ["firehose", "title:volcano AND language:fr"],
    ["firehose", "(volcano OR lava) AND language:fr AND NOT title:plans"],
    ["firehose", "docs AND url:*docs*"],
    ["firehose", "added:volc*"],
    ["firehose", "title:/volc.+/"],
    ["firehose", "url:*volcano*"]
  ]
  for (const [platform, filter] of unrelated) {
    it(`offers no other subject for ${filter} on ${platform}`, () => {
      const language = languageOf(platform)
      assert.deepStrictEqual(editsOf(language, filter, read(language, platform === "x" ? post : update)), [])
    })
  }

  it("names the clauses that change, in the text of the filter", () => {
    const language = languageOf("x")
    const filter = "chile tsunami -has:links lang:es"
    const [first] = editsOf(language, filter, read(language, post)) ?? []
    assert.deepStrictEqual(
      first?.clauses.map(({ start, end }) => filter.slice(start, end)),
      ["tsunami", "-has:links"]
    )
  })

  it("offers nothing for a filter that matches", () => {
    const language = languageOf("x")
    const expression = language.check("chile").rule?.expression
    const edits = language.edits?.("chile")
    assert(expression !== undefined && edits !== undefined)
    const event = read(language, post)
    const missed = { text: "chile", expression, held: [true], event, check: language.check, isSubject }
    assert.deepStrictEqual(finish(nearestEditsInTurns(missed, edits, { max: 3, budget: new WorkBudget(50_000) })), [])
  })
})

describe("every change that is offered for a generated miss matches", () => {
  const MISSES = sized(500, 25_000)
  const FILTERS = sized(150, 1_000)
  /** Filter and event are unrelated, or all but one clause of the filter match the event. */
  for (const isNear of [false, true]) {
    for (const platform of PLATFORM_IDS) {
      it(
        `on ${platform}, ${isNear ? "by one clause" : "by any number of clauses"}`,
        () => {
          const language = languageOf(platform)
          const random = randomFrom(1)
          const newEvent = () => read(language, randomEvent(platform, random))
          const events = Array.from({ length: 500 }, newEvent)
          const texts = isNear ? matchingTexts(platform, random, events) : new Map<PlatformEvent, Array<string>>()
          const first: Record<EditKind | "none", number> = { change: 0, remove: 0, remove_several: 0, add: 0, none: 0 }
          for (let misses = 0; misses < MISSES; ) {
            const event = events[Math.floor(random() * events.length)] ?? newEvent()
            const matching = texts.get(event) ?? []
            const text = isNear ? withClause(platform, random, matching) : randomText(platform, random)
            const missing = text === undefined ? undefined : canonicalOf(language, text)
            const edits = missing === undefined ? undefined : editsOf(language, missing, event)
            if (edits === undefined) continue
            misses++
            for (const { text } of edits) assert.isTrue(matches(language, text, event), `${missing} changed to ${text}`)
            first[edits[0]?.kind ?? "none"]++
          }
          const offered = MISSES - first.none
          const share = (count: number) => `${((100 * count) / MISSES).toFixed(1)} %`
          const { change, remove, remove_several, add } = first
          console.log(
            `${platform}, ${isNear ? "near" : "any"} misses: a change was offered for ${share(offered)} of ${MISSES} (change ${share(change)}, remove ${share(remove)}, remove several ${share(remove_several)}, add ${share(add)})`
          )
          assert.isAtLeast(offered / MISSES, isNear ? 0.9 : 0.15)
        },
        sized(120_000, 3_600_000)
      )
    }
  }

  const canonicalOf = (language: Language, text: string) => language.check(text).rule?.canonical

  /** For each event the filters that match it. */
  const matchingTexts = (platform: PlatformId, random: Random, events: ReadonlyArray<PlatformEvent>) => {
    const language = languageOf(platform)
    const found = new Map(events.map((event) => [event, [] as string[]]))
    for (let count = 0; count < FILTERS; ) {
      const { rule } = language.check(randomText(platform, random))
      if (rule === undefined) continue
      count++
      for (const [event, texts] of found) if (evaluate(rule.expression, event)) texts.push(rule.canonical)
    }
    return found
  }

  /** One of the filters, with one more clause that is required or excluded. */
  const withClause = (platform: PlatformId, random: Random, filters: ReadonlyArray<string>) => {
    const filter = filters[Math.floor(random() * filters.length)]
    if (filter === undefined) return undefined
    const [and, not] = platform === "x" ? [" ", "-"] : [" AND ", "NOT "]
    return `(${filter})${and}${random() < 0.3 ? not : ""}${randomClause(platform, random)}`
  }
})
