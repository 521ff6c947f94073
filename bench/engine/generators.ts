/** Random rules and events over a tiny vocabulary, so that most rules match often. For tests against the evaluator. */
import type { Expression, Field, PatternTarget, Predicate } from "../../core/syntax/expression/expression.ts"
import { checkRule, type PlatformId } from "../../test/platforms.ts"
import type { Random } from "../random.ts"

/** Half are texts in the platform's language, half are trees, which can express more. */
export const randomRule = (platform: PlatformId, random: Random): Expression => {
  while (random() < 0.5) {
    const { rule } = checkRule(platform, randomText(platform, random))
    if (rule !== undefined) return rule.expression
  }
  return randomTree(platform, random, 3)
}

/** As the platform streams it. */
export const randomEvent = (platform: PlatformId, random: Random): unknown =>
  platform === "x" ? randomPost(random) : randomPage(random)

/** A filter in the platform's language. May not be valid. */
export const randomText = (platform: PlatformId, random: Random): string => {
  const joined = (depth: number): string =>
    Array.from({ length: 1 + upTo(random, 4) }, () => {
      const not = chance(random, 0.15) ? (platform === "x" ? "-" : "NOT ") : ""
      return not + (depth > 0 && chance(random, 0.3) ? `(${joined(depth - 1)})` : randomClause(platform, random))
    }).join(one(random, platform === "x" ? [" ", " ", " OR "] : [" AND ", " AND ", " OR ", " "]))
  return joined(2)
}

/** One clause of a filter. */
export const randomClause = (platform: PlatformId, random: Random): string =>
  platform === "x" ? xClause(random) : firehoseClause(random)

// ---- helpers ----

const span = { start: 0, end: 0 }

const WORDS =
  "cat dog bird catfish dogma red green blue reddish tesla nasa moon launch rocket very Very CAT naïve café résumé straße ΣΊΣΥΦΟΣ σίσυφος Москва 東京 東京タワー 北京 안녕 ไทย עברית x1 2024 3.14 o'neil e-mail co-op u_v rt the of to 🍕 👩‍👩‍👧 ❤️ 🇫🇷 supercalifragilisticexpialidocious".split(
    " "
  )
const NAMES = ["bob", "Alice", "nasa", "x_y_z", "moon2024"]
const TAGS = ["ai", "Moon", "東京", "cat_s"]
const HOSTS = ["example.com", "news.example.com", "www.example.co.uk", "moon.example.org"]
const PATHS = ["", "/", "/cats/1", "/blog/red-rocket", "/a/b/c.html?moon=1"]
const LANGUAGES = ["en", "es", "zh", "ja"]
const LABELS = ["/News", "/News/Technology_News", "/Sports", "/Article"]

const upTo = (random: Random, limit: number): number => Math.floor(random() * limit)
const one = (random: Random, list: ReadonlyArray<string>): string => list[upTo(random, list.length)] ?? ""
const some = <A>(random: Random, most: number, make: () => A): Array<A> =>
  Array.from({ length: upTo(random, most + 1) }, make)
const chance = (random: Random, part: number): boolean => random() < part

/** Rules and events share a few words. Some are cut or get a suffix. */
const randomWord = (random: Random): string => {
  const word = one(random, WORDS)
  return chance(random, 0.9) ? word : chance(random, 0.5) ? word.slice(0, 1 + upTo(random, word.length)) : `${word}s`
}

const randomSentence = (random: Random, most: number): string =>
  some(random, most, () => {
    const roll = random()
    if (roll < 0.06) return `#${one(random, TAGS)}`
    if (roll < 0.12) return `@${one(random, NAMES)}`
    if (roll < 0.15) return `$${one(random, ["TSLA", "btc"])}`
    if (roll < 0.18) return randomUrl(random)
    if (roll < 0.26) return `${randomWord(random)}${one(random, [",", ".", "!", "…", "-", "’s", "/", "|"])}`
    return randomWord(random)
  }).join(one(random, [" ", " ", "  ", "\n", " - "]))

const randomUrl = (random: Random): string => `https://${one(random, HOSTS)}${one(random, PATHS)}`

const randomPost = (random: Random): unknown => {
  const id = String(upTo(random, 1_000))
  const post = (own: string) => ({
    id: own,
    text: randomSentence(random, 12),
    author_id: String(upTo(random, 4)),
    ...(chance(random, 0.7) ? { lang: one(random, [...LANGUAGES, "zh-TW"]) } : {}),
    ...(chance(random, 0.3) ? { source: "Web App" } : {}),
    ...(chance(random, 0.2) ? { conversation_id: String(upTo(random, 5)) } : {}),
    ...(chance(random, 0.2) ? { in_reply_to_user_id: String(upTo(random, 4)) } : {}),
    ...(chance(random, 0.2) ? { attachments: { media_keys: ["m1"] } } : {}),
    ...(chance(random, 0.3)
      ? {
          geo: {
            place_id: "p1",
            ...(chance(random, 0.5)
              ? { coordinates: { type: "Point", coordinates: [random() * 20 - 10, random() * 20 - 10] } }
              : {})
          }
        }
      : {}),
    ...(chance(random, 0.3)
      ? {
          entities: {
            hashtags: some(random, 2, () => ({ tag: one(random, TAGS) })),
            mentions: some(random, 2, () => ({ username: one(random, NAMES), id: String(upTo(random, 4)) })),
            urls: some(random, 2, () => ({
              url: "https://t.co/abc",
              expanded_url: randomUrl(random),
              title: randomSentence(random, 4)
            }))
          }
        }
      : {}),
    ...(chance(random, 0.3)
      ? {
          referenced_tweets: [{ type: one(random, ["retweeted", "quoted", "replied_to"]), id: String(upTo(random, 3)) }]
        }
      : {})
  })
  return {
    data: post(id),
    includes: {
      users: ["0", "1", "2"].map((user) => ({
        id: user,
        username: NAMES[Number(user)],
        name: randomSentence(random, 3),
        description: randomSentence(random, 5),
        verified: chance(random, 0.3),
        public_metrics: { followers_count: upTo(random, 2_000), tweet_count: upTo(random, 50) }
      })),
      tweets: chance(random, 0.7) ? ["0", "1"].map(post) : [],
      media: [{ media_key: "m1", type: "photo" }],
      places: [{ id: "p1", full_name: "Cat Island", country_code: "BS", geo: { bbox: [-2, -2, 3, 3] } }]
    }
  }
}

const randomPage = (random: Random): unknown => ({
  document: {
    url: randomUrl(random),
    ...(chance(random, 0.9) ? { title: randomSentence(random, 6) } : {}),
    ...(chance(random, 0.8) ? { domain_rating: upTo(random, 100) } : {}),
    ...(chance(random, 0.8) ? { language: one(random, LANGUAGES) } : {}),
    ...(chance(random, 0.7) ? { publish_time: `2026-11-${10 + upTo(random, 6)}T${10 + upTo(random, 13)}:00:00Z` } : {}),
    page_category: some(random, 2, () => one(random, LABELS)),
    page_types: some(random, 2, () => one(random, LABELS)),
    diff: {
      chunks: some(random, 4, () => ({
        typ: chance(random, 0.7) ? "ins" : "del",
        text: chance(random, 0.3)
          ? `${randomSentence(random, 5)} [${randomSentence(random, 3)}](${randomUrl(random)})`
          : randomSentence(random, 20)
      }))
    }
  },
  matched_at: "2026-11-15T12:00:00Z"
})

const xClause = (random: Random): string => {
  const word = () => one(random, WORDS)
  const clauses: ReadonlyArray<() => string> = [
    word,
    word,
    word,
    () => `"${word()} ${word()}"`,
    () => `"${word()} ${word()}"~${1 + upTo(random, 4)}`,
    () => `#${one(random, TAGS)}`,
    () => `@${one(random, NAMES)}`,
    () => `$${one(random, ["TSLA", "BTC"])}`,
    () => `from:${one(random, NAMES)}`,
    () => `to:${one(random, NAMES)}`,
    () => `retweets_of:${one(random, NAMES)}`,
    () => `lang:${one(random, LANGUAGES)}`,
    () => `url:"${one(random, [...HOSTS, "moon", "red-rocket", "cats"])}"`,
    () => `has:${one(random, ["links", "media", "images", "hashtags", "mentions", "geo", "cashtags"])}`,
    () => `is:${one(random, ["retweet", "reply", "quote", "verified"])}`,
    () => `bio:${word()}`,
    () => `place:"cat island"`,
    () => `followers_count:${upTo(random, 1_000)}..${1_000 + upTo(random, 1_000)}`,
    () => `point_radius:[${upTo(random, 6)} ${upTo(random, 6)} ${1 + upTo(random, 24)}mi]`,
    () => `sample:${1 + upTo(random, 99)}`
  ]
  return clauses[upTo(random, clauses.length)]?.() ?? ""
}

const firehoseClause = (random: Random): string => {
  const word = () => one(random, WORDS)
  const clauses: ReadonlyArray<() => string> = [
    word,
    word,
    () => `"${word()} ${word()}"`,
    () => `"${word()} ${word()} ${word()}"~${upTo(random, 4)}`,
    () => `title:${word()}`,
    () => `removed:${word()}`,
    () => `added_anchor:"${word()} ${word()}"`,
    () => `title:${word().slice(0, 4)}*`,
    () => `added:*${word().slice(-3)}`,
    () => `${word()}~${upTo(random, 3)}`,
    () => `title:/${one(random, ["cat.*", "[a-m]+", "(red|blue)(dish)?", "r.d", ".*fish"])}/`,
    () => `domain:${one(random, HOSTS)}`,
    () => `url:*${one(random, ["moon", "cats", "blog", "rocket"])}*`,
    () => `language:${one(random, LANGUAGES)}`,
    () => `page_type:"${one(random, LABELS)}"`,
    () => `page_category:"${one(random, LABELS)}"`,
    () => `dr:[${upTo(random, 50)} TO ${50 + upTo(random, 50)}]`,
    () => `recent:${1 + upTo(random, 5)}d`,
    () => `*:*`
  ]
  return clauses[upTo(random, clauses.length)]?.() ?? ""
}

const randomTree = (platform: PlatformId, random: Random, depth: number): Expression => {
  const roll = random()
  if (depth > 0 && roll < 0.5) {
    const clauses = some(random, 4, () => randomTree(platform, random, depth - 1))
    return { _tag: chance(random, 0.5) ? "And" : "Or", clauses, span }
  }
  if (depth > 0 && roll < 0.62) return { _tag: "Not", clause: randomTree(platform, random, depth - 1), span }
  if (roll > 0.98) return { _tag: chance(random, 0.5) ? "Everything" : "Nothing", span }
  return randomPredicate(platform, random)
}

const FIELDS: Readonly<
  Record<PlatformId, { readonly text: ReadonlyArray<Field>; readonly keyword: ReadonlyArray<Field> }>
> = {
  x: {
    text: ["x.text", "x.text", "x.text", "x.url", "x.bio", "x.url_title", "x.place"],
    keyword: ["x.hashtag", "x.from", "x.url", "x.lang", "x.has", "x.is", "x.mention"]
  },
  firehose: {
    text: ["firehose.added", "firehose.added", "firehose.removed", "firehose.title", "firehose.added_anchor"],
    keyword: ["firehose.url", "firehose.domain", "firehose.language", "firehose.page_category"]
  }
}

const randomPredicate = (platform: PlatformId, random: Random): Predicate => {
  const text = () => one(random, FIELDS[platform].text) as Field
  const keyword = () => one(random, FIELDS[platform].keyword) as Field
  const either = (): { field: Field; over: PatternTarget } =>
    chance(random, 0.6) ? { field: text(), over: "words" } : { field: keyword(), over: "values" }
  const word = () => randomWord(random).toLowerCase()
  const value = () => one(random, [...NAMES, ...TAGS, ...HOSTS, ...LANGUAGES, ...LABELS]).toLowerCase()
  const predicates: ReadonlyArray<() => Predicate> = [
    () => ({ _tag: "Phrase", field: text(), words: [word()], slop: 0, span }),
    () => ({ _tag: "Phrase", field: text(), words: [word(), word()], slop: upTo(random, 3), span }),
    () => ({
      _tag: "Phrase",
      field: text(),
      words: [word(), word()],
      offsets: [0, 1 + upTo(random, 4)],
      slop: 0,
      span
    }),
    () => ({ _tag: "Phrase", field: text(), words: ["very", "very", word()], slop: 0, span }),
    () => ({ _tag: "Equals", field: keyword(), value: value(), span }),
    () => ({ _tag: "Contains", field: keyword(), text: word().slice(0, 1 + upTo(random, 5)), span }),
    () => ({ _tag: "Wildcard", ...either(), parts: [word().slice(0, 4), { sign: "*" }], span }),
    () => ({ _tag: "Wildcard", ...either(), parts: [{ sign: "*" }, word().slice(-4), { sign: "*" }], span }),
    () => ({
      _tag: "Wildcard",
      field: text(),
      over: "words",
      parts: [word().slice(0, 1), { sign: "?" }, word().slice(-3)],
      span
    }),
    () => ({ _tag: "Fuzzy", field: text(), over: "words", word: word(), distance: chance(random, 0.5) ? 1 : 2, span }),
    () => ({ _tag: "Regex", ...either(), pattern: one(random, ["cat.*", ".*moon.*", "[a-r]+", "re?d@"]), span }),
    () => ({
      _tag: "KeywordRange",
      field: keyword(),
      from: { value: value(), inclusive: true },
      to: chance(random, 0.5) ? undefined : { value: value(), inclusive: false },
      span
    }),
    () => ({
      _tag: "NumberRange",
      field: platform === "x" ? "x.followers_count" : "firehose.dr",
      from: { value: upTo(random, 100), inclusive: chance(random, 0.5) },
      to: undefined,
      span
    }),
    () => ({ _tag: "Box", west: -5, south: -5, east: upTo(random, 8), north: upTo(random, 8), span }),
    () => ({ _tag: "Radius", longitude: 0, latitude: 0, kilometres: upTo(random, 1_500), span }),
    () => ({ _tag: "Sample", percent: upTo(random, 101), span }),
    () => ({ _tag: "Recent", hours: 1 + upTo(random, 100), span })
  ]
  return predicates[upTo(random, predicates.length)]?.() ?? { _tag: "Sample", percent: 50, span }
}
