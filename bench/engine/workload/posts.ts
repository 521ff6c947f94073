/** Posts as sent by X: 25 words on average, hashtags, mentions, links, an author with followers. */

import { type Random, Zipf } from "../../../fixtures/distributions.ts"
import { fieldTerm, type MadeEvent } from "./event.ts"
import { sentence, writeText } from "./topics.ts"
import { accountAt, hostAt, wordAt } from "./words.ts"

export const AUTHORS = 300_000
export const HASHTAGS = 20_000
export const HOSTS = 5_000
export const LANGUAGES = ["en", "ja", "es", "pt", "ar", "tr", "fr", "in", "ko", "de", "ru", "it"] as const
/** Thresholds for rules on the number of followers. */
export const FOLLOWERS = [100, 1_000, 10_000] as const

/** `#word` also counts as the word. The most frequent words are never hashtags. */
export const hashtagAt = (rank: number): string => wordAt(500 + rank)

export const makePost = (random: Random, index: number): MadeEvent => {
  const author = authors.draw(random)
  const hashtags = manyOf(random, 0.3, () => hashtagAt(hashtagRanks.draw(random)))
  const mentions = manyOf(random, 0.35, () => authors.draw(random))
  const hosts = manyOf(random, 0.2, () => hostAt(hostRanks.draw(random)))
  const language = LANGUAGES[languages.draw(random)] ?? "en"
  const followers = followersOf(author)
  const hasMedia = random.chance(0.3)
  const isRetweet = random.chance(0.25)
  const isReply = random.chance(0.3)
  const isVerified = author % 20 === 0

  const words = writeText(random, random.logNormal(MEAN_WORDS, 0.5))
  const links = hosts.map((host) => ({ host, url: `https://t.co/${random.below(10)}${slug(random)}` }))
  const text = [
    ...mentions.map((mention) => `@${accountAt(mention)}`),
    sentence(words),
    ...hashtags.map((tag) => `#${tag}`),
    ...links.map(({ url }) => url)
  ].join(" ")

  const id = String(1_800_000_000_000_000_000n + BigInt(index) * 65_536n)
  const record = {
    data: {
      id,
      text,
      author_id: userId(author),
      created_at: "2026-01-01T00:00:00.000Z",
      conversation_id: id,
      lang: language,
      possibly_sensitive: false,
      edit_history_tweet_ids: [id],
      public_metrics: { retweet_count: 0, reply_count: 0, like_count: 0, quote_count: 0, impression_count: 0 },
      entities: {
        hashtags: hashtags.map((tag) => ({ start: 0, end: tag.length + 1, tag })),
        mentions: mentions.map((rank) => ({ start: 0, end: 12, username: accountAt(rank), id: userId(rank) })),
        urls: links.map(({ host, url }) => ({
          start: 0,
          end: url.length,
          url,
          expanded_url: `https://${host}/${random.below(1e9)}`,
          display_url: host
        }))
      },
      ...(isRetweet ? { referenced_tweets: [{ type: "retweeted", id: "1" }] } : {}),
      ...(isReply ? { in_reply_to_user_id: userId(authors.draw(random)) } : {}),
      ...(hasMedia ? { attachments: { media_keys: [`3_${id}`] } } : {})
    },
    includes: {
      users: [
        {
          id: userId(author),
          username: accountAt(author),
          name: accountAt(author),
          verified: isVerified,
          public_metrics: { followers_count: followers, following_count: 10, tweet_count: 100, listed_count: 1 }
        }
      ],
      ...(hasMedia ? { media: [{ media_key: `3_${id}`, type: "photo" }] } : {})
    }
  }
  const fields = [
    fieldTerm("from", accountAt(author)),
    fieldTerm("lang", language),
    ...hashtags.map((tag) => fieldTerm("hashtag", tag)),
    ...mentions.map((rank) => fieldTerm("mention", accountAt(rank))),
    ...hosts.map((host) => fieldTerm("url", host)),
    ...(hasMedia ? [fieldTerm("has", "media")] : []),
    ...(hosts.length > 0 ? [fieldTerm("has", "links")] : []),
    ...(isRetweet ? [fieldTerm("is", "retweet")] : []),
    ...(isReply ? [fieldTerm("is", "reply")] : []),
    ...(isVerified ? [fieldTerm("is", "verified")] : []),
    ...FOLLOWERS.filter((least) => followers >= least).map((least) => fieldTerm("followers", String(least)))
  ]
  return { record, plain: { text, fields } }
}

// ---- helpers ----

const MEAN_WORDS = 23.5

const authors = new Zipf(AUTHORS, 0.9, 10)
const hashtagRanks = new Zipf(HASHTAGS, 1, 2)
const hostRanks = new Zipf(HOSTS, 1, 2)
const languages = new Zipf(LANGUAGES.length, 1.3, 0)

const userId = (rank: number): string => String(1_000_000_000 + rank)

/** Accounts that post more have more followers. */
const followersOf = (rank: number): number => Math.floor(3_000_000 / (rank + 3)) + (rank % 97)

/** Zero, one, or rarely two different ones. */
const manyOf = <A>(random: Random, share: number, make: () => A): ReadonlyArray<A> =>
  random.chance(share) ? [...new Set(random.chance(0.25) ? [make(), make()] : [make()])] : []

const slug = (random: Random): string => Array.from({ length: 9 }, () => random.pick(ALPHANUMERICS)).join("")
const ALPHANUMERICS = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"]
