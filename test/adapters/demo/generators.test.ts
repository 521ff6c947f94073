/** Demo records: in the platforms' formats, marked as made up, varied, and matched by first rules within a minute. */
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { pages, TAP } from "../../../adapters/demo/pages.ts"
import { posts, SOURCE } from "../../../adapters/demo/posts.ts"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import type { EventFields } from "../../../core/syntax/expression/eventFields.ts"
import { isKnownLabel, isLanguage } from "../../../core/syntax/firehose/labels.ts"
import { parseEntities } from "../../../core/syntax/x/entities.ts"
import { checkRule, languageOf, type PlatformId, readEvent } from "../../../fixtures/languages.ts"
import { firstRules } from "../local/firstRules.ts"

/** As the platforms install them. */
const POSTS_PER_SECOND = 2
const PAGES_PER_SECOND = 1

const START = Date.UTC(2026, 10, 15, 5)

/** The records of the feed in that time. */
const postsOf = (seed: number, seconds: number, from = START) => {
  const next = posts(seed)
  return times(seconds, POSTS_PER_SECOND, from).map(next)
}

const pagesOf = (seed: number, seconds: number, from = START) => {
  const next = pages(seed)
  return times(seconds, PAGES_PER_SECOND, from).map(next)
}

describe("posts", () => {
  it("are the same for the same seed and clock, and differ for another seed", () => {
    assert.deepStrictEqual(postsOf(1, 60), postsOf(1, 60))
    assert.notDeepEqual(textsOf(postsOf(1, 10)), textsOf(postsOf(2, 10)))
  })

  it("are valid, with unique ascending ids, also on a stopped clock and after a restart", () => {
    const ids = [
      ...postsOf(1, 5_000),
      ...postsOf(1, 1, START + 5_000_000),
      // A restart with the same seed a second later, then a stopped clock.
      ...postsOf(1, 5_000, START + 5_001_000),
      ...onStoppedClock(posts(2), START + 20_000_000)
    ].map((record) => {
      fieldsOf("x", record)
      return BigInt(Either.getOrThrow(languageOf("x").events.idOf(record, unused)))
    })
    assert.isAbove(ids.length, 20_000)
    assert.isTrue(ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? id)))
    assert.match(String(ids[0]), /^\d{19}$/, "as long as real ids")
  })

  it("say that they are made up, and link to no real site", () => {
    for (const { data, includes } of postsOf(3, 500)) {
      assert.strictEqual(data["source"], SOURCE)
      for (const user of includes.users)
        assert.match(`${user.name} ${user.description}`, /\(demo\).*made up by Earshot/i)
      assertReservedHosts({ data, includes })
    }
  })

  it("fit into one post, have no placeholders, and rarely repeat", () => {
    const own = postsOf(4, 1_800).filter(({ data }) => !data.text.startsWith("RT @"))
    for (const { data } of own) {
      assert.isAtMost([...data.text].length, 280, data.text)
      assert.notMatch(data.text, /[{}]|undefined|null| {2}/)
    }
    const withoutLinks = own.map(({ data }) => data.text.replace(/https:\S+/, "").trim())
    for (let from = 0; from < withoutLinks.length; from += 100) {
      const minute = withoutLinks.slice(from, from + 100)
      assert.isAtMost(minute.length - new Set(minute).size, 1, "about a minute")
    }
    assert.isAbove(new Set(withoutLinks).size, 0.9 * withoutLinks.length, "half an hour")
  })

  it("have entities with correct offsets, and include the mentioned accounts", () => {
    for (const { data, includes } of postsOf(5, 500)) {
      const { hashtags, cashtags, mentions, links } = parseEntities(data.text)
      const entities = data.entities ?? {}
      const characters = [...data.text]
      const at = ({ start, end }: { readonly start: number; readonly end: number }) =>
        characters.slice(start, end).join("")
      assert.sameMembers(
        (entities.hashtags ?? []).map(at),
        [...hashtags].map((tag) => `#${tag}`)
      )
      assert.sameMembers(
        (entities.cashtags ?? []).map(at),
        [...cashtags].map((tag) => `$${tag}`)
      )
      const named = [...new Set(mentions.map(({ username }) => `@${username}`))]
      assert.sameMembers((entities.mentions ?? []).map(at), named, data.text)
      assert.sameMembers(
        (entities.urls ?? []).map(at),
        links.flatMap(({ urls }) => urls)
      )
      const known = new Map(includes.users.map((user) => [user.id, user.username]))
      assert.isTrue(known.has(data.author_id))
      for (const { id, username } of entities.mentions ?? []) assert.strictEqual(known.get(id), username)
    }
  })

  it("have one username per account id", () => {
    const users = postsOf(6, 1_000).flatMap(({ includes }) => includes.users)
    const pairs = new Set(users.map(({ id, username }) => `${id} ${username}`)).size
    assert.strictEqual(pairs, new Set(users.map(({ id }) => id)).size)
    assert.strictEqual(pairs, new Set(users.map(({ username }) => username)).size)
  })

  it("have places with a GeoJSON feature", () => {
    const places = postsOf(6, 300).flatMap(({ includes }) => includes.places ?? [])
    assert.isNotEmpty(places)
    for (const { geo } of places) {
      const { bbox, ...rest } = geo
      assert.deepStrictEqual(rest, { type: "Feature", properties: {} })
      assert.lengthOf(bbox, 4)
    }
  })

  it("cover every operator within five minutes", () => {
    const events = postsOf(7, 300).map((record) => fieldsOf("x", record))
    const found = (field: "x.is" | "x.has" | "x.lang") => new Set(events.flatMap((event) => event.keywords(field)))
    assert.includeMembers([...found("x.is")], ["retweet", "reply", "quote", "verified"])
    assert.includeMembers(
      [...found("x.has")],
      ["hashtags", "cashtags", "links", "mentions", "media", "images", "video_link", "geo"]
    )
    assert.sameMembers([...found("x.lang")], ["en", "es", "de", "fr", "ja"])
    const rules = [
      "to:nasa",
      "retweets_of:nasa",
      "place_country:us nasa",
      "bio:engineer",
      "followers_count:1000",
      "context:66.*"
    ]
    for (const rule of rules)
      assert.isTrue(
        events.some((event) => evaluate(expressionOf("x", rule), event)),
        rule
      )
  })
})

describe("pages", () => {
  it("are the same for the same seed and clock, and differ for another seed", () => {
    assert.deepStrictEqual(pagesOf(1, 60), pagesOf(1, 60))
    assert.notDeepEqual(pagesOf(1, 10), pagesOf(2, 10))
  })

  it("are valid and unique, also on a stopped clock and after a restart", () => {
    const records = [
      ...pagesOf(1, 5_000),
      ...pagesOf(1, 5_000, START + 5_000_000),
      ...onStoppedClock(pages(1), START + 20_000_000)
    ]
    const ids = records.map((record) => {
      fieldsOf("firehose", record)
      return Either.getOrThrow(languageOf("firehose").events.idOf(record, (text) => text))
    })
    assert.isAbove(ids.length, 10_000)
    assert.strictEqual(new Set(ids).size, ids.length)
    assert.strictEqual(new Set(records.map(({ document }) => document.url)).size, ids.length)
  })

  it("say that they are made up, link to no real site, and use values that Firehose knows", () => {
    for (const record of pagesOf(3, 500)) {
      const { document, tap_id, matched_at } = record
      assert.strictEqual(tap_id, TAP)
      assertReservedHosts(record)
      assert.notMatch(JSON.stringify(record), /[{]\w+[}]|undefined|null/)
      assert.isTrue(isLanguage(document.language))
      for (const label of document.page_category) assert.isTrue(isKnownLabel("page_category", label), label)
      for (const label of document.page_types) assert.isTrue(isKnownLabel("page_type", label), label)
      assert.match(matched_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.match(document.publish_time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
      assert.isTrue(document.diff.chunks.some(({ typ }) => typ === "ins"))
    }
  })

  it("cover every field within five minutes", () => {
    const events = pagesOf(4, 300).map((record) => fieldsOf("firehose", record))
    const rules = [
      "removed:tickets",
      "added_anchor:nasa",
      "dr:[80 TO *]",
      "nasa AND recent:1h",
      'page_type:"/Article/FAQ"',
      "language:ja"
    ]
    for (const rule of rules)
      assert.isTrue(
        events.some((event) => evaluate(expressionOf("firehose", rule), event)),
        rule
      )
  })
})

describe("first rules", () => {
  const minutes = Array.from({ length: 20 }, (_, seed) => ({
    x: postsOf(seed, 60).map((record) => fieldsOf("x", record)),
    firehose: pagesOf(seed, 60).map((record) => fieldsOf("firehose", record))
  }))
  for (const [platform, rule] of firstRules) {
    it(`${rule} on ${platform} matches in the first minute, with each of twenty seeds`, () => {
      const expression = expressionOf(platform, rule)
      const unmatched = minutes.flatMap((minute, seed) =>
        minute[platform].some((event) => evaluate(expression, event)) ? [] : [seed]
      )
      assert.deepStrictEqual(unmatched, [])
    })
  }
})

// ---- helpers ----

function times(seconds: number, perSecond: number, from: number) {
  return Array.from({ length: seconds * perSecond }, (_, turn) => from + (turn * 1_000) / perSecond)
}

function onStoppedClock<A>(next: (now: number) => A, now: number): ReadonlyArray<A> {
  return Array.from({ length: 100 }, () => next(now))
}

function fieldsOf(platform: PlatformId, record: unknown): EventFields {
  return Either.getOrThrowWith(readEvent(platform, record, START), (problem) => new Error(problem))
}

function expressionOf(platform: PlatformId, text: string) {
  const { rule, issues } = checkRule(platform, text)
  if (rule === undefined) throw new Error(`${text}: ${issues[0]?.message}`)
  return rule.expression
}

const unused = () => "unused"

const textsOf = (records: ReturnType<typeof postsOf>) => records.map(({ data }) => data.text)

/** Hosts that RFC 2606 reserves for examples. */
const assertReservedHosts = (record: unknown) => {
  const hosts = Array.from(JSON.stringify(record).matchAll(/https?:\/\/([^/"\s)]+)/g), ([, host = ""]) => host)
  for (const host of hosts) assert.match(host, /(^|\.)example(\.(com|net|org))?$/)
}
