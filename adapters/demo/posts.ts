/** Made-up posts in the form in which X streams them. */
import { Array as Arr } from "effect"
import { type Account, PEOPLE } from "./accounts.ts"
import { pageUrl, risingIds, SITES } from "./addresses.ts"
import { type Entities, entitiesOf, type Link } from "./entities.ts"
import type { Language } from "./phrases.ts"
import { middleOf, PLACES, type Place } from "./places.ts"
import { type Random, seeded } from "./random.ts"
import { TOPICS, type Topic } from "./topics.ts"
import { type Writer, writer } from "./writer.ts"

/** Stands in every post where X names the app that it was written with. */
export const SOURCE = "Earshot demo feed"

/** The same seed and the same times, in milliseconds, give the same records. Ids rise, also over a restart. */
export const posts = (seed: number) => {
  const random = seeded(seed)
  const write = writer(random)
  const compose = composer(random, write)
  const idAt = risingIds()
  const kinds = random.deck(KINDS)
  const recent = new Map<Topic, ReadonlyArray<Post>>()

  return (now: number) => {
    const topic = write.topic()
    const earlier = recent.get(topic) ?? []
    const kind = kinds()
    const reference =
      kind !== "original" && Arr.isNonEmptyReadonlyArray(earlier)
        ? { type: kind, post: random.pick(earlier) }
        : undefined
    const post = compose({ topic, reference, id: String(idAt(now)), now })
    if (reference?.type !== "retweeted") recent.set(topic, [post, ...earlier].slice(0, MOST_RECENT))
    return recordOf(post, reference)
  }
}

// ---- helpers ----

const KINDS = ["original", "original", "original", "original", "original", "replied_to", "quoted", "retweeted"] as const

/** How many posts on a topic can still be answered. */
const MOST_RECENT = 6

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

interface Order {
  readonly topic: Topic
  readonly reference: Reference | undefined
  readonly id: string
  readonly now: number
}

/** Everything of a post but the posts it refers to. */
const composer =
  (random: Random, write: Writer) =>
  (order: Order): Post => {
    const { topic, reference, id, now } = order
    const isRetweet = reference?.type === "retweeted"
    const { text, lang, author, mentioned, links } = isRetweet
      ? retweetOf(reference.post, write)
      : wordsOf(order, random, write)
    const place = !isRetweet && random.chance(0.15) ? write.deal(PLACES[lang]) : undefined
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

interface Words {
  readonly text: string
  readonly lang: Language
  readonly author: Account
  readonly mentioned: ReadonlyArray<Account>
  readonly links: ReadonlyArray<Link>
}

const retweetOf = ({ data, author, mentioned, links }: Post, write: Writer): Words => ({
  text: `RT ${nameOf(author)}: ${data.text}`,
  lang: data.lang,
  author: write.deal(PEOPLE[data.lang]),
  mentioned: [...new Set([author, ...mentioned])],
  links
})

const wordsOf = ({ topic, reference, id, now }: Order, random: Random, write: Writer): Words => {
  const scene = write.scene(topic)
  const lang = scene.language
  const voice = lang === "en" && random.chance(topic.voice?.share ?? 0) ? topic.voice : undefined
  const page = { section: topic.id, title: write.headline(scene).text, key: BigInt(id).toString(36), now }
  const links = random.chance(0.4) ? [linkTo(pageUrl(write.deal(SITES), page), page)] : []
  // Where the text may lack the name of its topic, a tag has it; in Japanese, which has no spaces, also the word itself.
  const tags = (): ReadonlyArray<string> => {
    if (voice !== undefined) return [topic.tags[0], voice.account.username]
    if (lang === "ja") return [topic.tags[0], topic.nouns.ja]
    if (lang !== "en") return [topic.tags[0]]
    return Array.from({ length: random.below(3) }, () => write.deal(topic.tags))
  }
  const replied = reference?.type === "replied_to" ? [reference.post.author] : []
  const hailed =
    lang === "en" && voice === undefined && random.chance(0.5) ? Arr.fromNullable(topic.voice?.account) : []
  const text = [
    ...replied.map(nameOf),
    voice === undefined ? write.remark(scene) : write.statement(voice.posts, scene),
    ...hailed.map(nameOf),
    ...(topic.cashtags !== undefined && random.chance(0.6) ? [`$${write.deal(topic.cashtags)}`] : []),
    ...[...new Set(tags())].map((tag) => `#${tag}`),
    ...links.map(({ url }) => url)
  ].join(" ")
  return {
    text,
    lang,
    author: voice?.account ?? write.deal(PEOPLE[lang]),
    mentioned: [...new Set([...replied, ...hailed])],
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

/** The interest that X would file the post under. */
const annotationOf = (topic: Topic) => ({
  domain: { id: "66", name: "Interests and Hobbies Category" },
  entity: { id: String(900_000 + TOPICS.indexOf(topic)), name: topic.names[0] }
})

/** Low: the post is new. */
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
  ...(isExact && { coordinates: { type: "Point", coordinates: middleOf(place) } })
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
