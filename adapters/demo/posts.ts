/** Generates posts in X's format. */
import { Array as Arr } from "effect"
import { type Account, officialAccounts, people } from "./accounts.ts"
import { ascendingIds, pageUrl, sites } from "./addresses.ts"
import { type Entities, entitiesOf, type Link } from "./entities.ts"
import type { Language } from "./phrases.ts"
import { centreOf, type Place, places } from "./places.ts"
import { type Random, seeded } from "./random.ts"
import { type Topic, topics } from "./topics.ts"
import { type Writer, writer } from "./writer.ts"

/** The source app of every post: marks it as made up. */
export const SOURCE = "Earshot demo feed"

/** Deterministic for a seed and times in milliseconds. Ids are ascending, also across restarts. */
export const posts = (seed: number) => {
  const random = seeded(seed)
  const write = writer(random)
  const compose = composer(random, write)
  const idAt = ascendingIds()
  const nextKind = random.deck(kinds)
  const recent = new Map<Topic, ReadonlyArray<Post>>()

  return (now: number) => {
    const topic = write.topic()
    const earlier = recent.get(topic) ?? []
    const kind = nextKind()
    const reference =
      kind !== "original" && Arr.isNonEmptyReadonlyArray(earlier)
        ? { type: kind, post: random.pick(earlier) }
        : undefined
    const post = compose({ topic, reference, id: String(idAt(now)), now })
    if (reference?.type !== "retweeted") recent.set(topic, [post, ...earlier].slice(0, MAX_RECENT))
    return recordOf(post, reference)
  }
}

// ---- helpers ----

const kinds = ["original", "original", "original", "original", "original", "replied_to", "quoted", "retweeted"] as const

/** Replies, quotes and retweets refer to the last posts on the same topic. */
const MAX_RECENT = 6

interface Post {
  readonly data: {
    readonly id: string
    readonly text: string
    readonly lang: Language
    readonly author_id: string
    readonly conversation_id: string
    readonly entities?: Entities
    readonly [field: string]: unknown
  }
  readonly author: Account
  readonly mentioned: ReadonlyArray<Account>
  readonly media: ReadonlyArray<Media>
  readonly places: ReadonlyArray<Place>
  readonly links: ReadonlyArray<Link>
}

interface Reference {
  readonly type: "replied_to" | "quoted" | "retweeted"
  readonly post: Post
}

interface Media {
  readonly media_key: string
  readonly type: "photo" | "video"
  readonly url: string
  readonly width: number
  readonly height: number
}

interface PostRequest {
  readonly topic: Topic
  readonly reference: Reference | undefined
  readonly id: string
  readonly now: number
}

const composer =
  (random: Random, write: Writer) =>
  (request: PostRequest): Post => {
    const { topic, reference, id, now } = request
    const isRetweet = reference?.type === "retweeted"
    const { text, lang, author, mentioned, links } = isRetweet
      ? retweetOf(reference.post, write)
      : contentOf(request, random, write)
    const place = !isRetweet && random.chance(0.15) ? write.deal(places[lang]) : undefined
    const media = !isRetweet && random.chance(0.35) ? mediaOf(id, random.chance(0.7) ? "photo" : "video") : undefined
    return {
      author,
      mentioned,
      links,
      media: media === undefined ? [] : [media],
      places: place === undefined ? [] : [place],
      data: {
        id,
        text,
        lang,
        author_id: author.id,
        created_at: new Date(now).toISOString(),
        source: SOURCE,
        conversation_id: reference?.type === "replied_to" ? reference.post.data.conversation_id : id,
        edit_history_tweet_ids: [id],
        possibly_sensitive: false,
        reply_settings: "everyone",
        ...entitiesOf(text, { links, mentioned }),
        context_annotations: [annotationOf(topic)],
        public_metrics: metricsOf(random),
        ...(reference !== undefined && { referenced_tweets: [{ type: reference.type, id: reference.post.data.id }] }),
        ...(reference?.type === "replied_to" && { in_reply_to_user_id: reference.post.author.id }),
        ...(media !== undefined && { attachments: { media_keys: [media.media_key] } }),
        ...(place !== undefined && { geo: geoOf(place, random.chance(0.3)) })
      }
    }
  }

interface Content {
  readonly text: string
  readonly lang: Language
  readonly author: Account
  readonly mentioned: ReadonlyArray<Account>
  readonly links: ReadonlyArray<Link>
}

const retweetOf = ({ data, author, mentioned, links }: Post, write: Writer): Content => ({
  text: `RT ${nameOf(author)}: ${data.text}`,
  lang: data.lang,
  author: write.deal(people[data.lang]),
  mentioned: [...new Set([author, ...mentioned])],
  links
})

const contentOf = ({ topic, reference, id, now }: PostRequest, random: Random, write: Writer): Content => {
  const scene = write.scene(topic)
  const lang = scene.language
  const official = lang === "en" && random.chance(topic.official?.share ?? 0) ? topic.official : undefined
  const page = { section: topic.id, title: write.headline(scene).text, key: BigInt(id).toString(36), now }
  const links = random.chance(0.4) ? [linkTo(pageUrl(write.deal(sites), page), page)] : []
  // Tags name the topic if the text may not. Japanese has no spaces, so the noun is a tag too.
  const tags = (): ReadonlyArray<string> => {
    if (official !== undefined) return [topic.tags[0], officialAccounts[official.account].username]
    if (lang === "ja") return [topic.tags[0], topic.nouns.ja]
    if (lang !== "en") return [topic.tags[0]]
    return Array.from({ length: random.below(3) }, () => write.deal(topic.tags))
  }
  const replied = reference?.type === "replied_to" ? [reference.post.author] : []
  const mentions =
    lang === "en" && official === undefined && random.chance(0.5)
      ? Arr.fromNullable(topic.official).map(({ account }) => officialAccounts[account])
      : []
  const text = [
    ...replied.map(nameOf),
    official === undefined ? write.remark(scene) : write.statement(official.posts, scene),
    ...mentions.map(nameOf),
    ...(topic.cashtags !== undefined && random.chance(0.6) ? [`$${write.deal(topic.cashtags)}`] : []),
    ...[...new Set(tags())].map((tag) => `#${tag}`),
    ...links.map(({ url }) => url)
  ].join(" ")
  return {
    text,
    lang,
    author: official === undefined ? write.deal(people[lang]) : officialAccounts[official.account],
    mentioned: [...new Set([...replied, ...mentions])],
    links
  }
}

const nameOf = ({ username }: Account): string => `@${username}`

const linkTo = (expanded: string, { key, title }: { readonly key: string; readonly title: string }): Link => ({
  url: `https://t.example/${key}`,
  expanded_url: expanded,
  display_url: `${expanded.slice("https://".length, 40)}…`,
  title,
  description: `${title}. A page of Earshot's demo feed that does not exist`,
  status: 200
})

const mediaOf = (id: string, type: Media["type"]): Media => ({
  media_key: `${type === "photo" ? 3 : 13}_${id}`,
  type,
  url: `https://media.example.com/${id}.${type === "photo" ? "jpg" : "mp4"}`,
  width: 1200,
  height: 800
})

const annotationOf = (topic: Topic) => ({
  domain: { id: "66", name: "Interests and Hobbies Category" },
  entity: { id: String(900_000 + topics.indexOf(topic)), name: topic.names[0] }
})

/** Small numbers, because the post is new. */
const metricsOf = (random: Random) => ({
  retweet_count: random.below(3),
  reply_count: random.below(3),
  like_count: random.below(20),
  quote_count: random.below(2),
  bookmark_count: random.below(2),
  impression_count: random.below(400)
})

const geoOf = (place: Place, isExact: boolean) => ({
  place_id: place.id,
  ...(isExact && { coordinates: { type: "Point", coordinates: centreOf(place) } })
})

const recordOf = (post: Post, reference: Reference | undefined) => {
  const original = reference?.post
  const users = [post.author, ...post.mentioned, ...(original === undefined ? [] : [original.author])]
  const media = [...post.media, ...(original?.media ?? [])]
  return {
    data: post.data,
    includes: {
      users: [...new Set(users)],
      ...(original !== undefined && { tweets: [original.data] }),
      ...(media.length > 0 && { media }),
      ...(post.places.length > 0 && { places: post.places })
    }
  }
}
