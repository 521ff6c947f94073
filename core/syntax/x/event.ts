/** A record of X's stream, `{data, includes}`, as a rule sees it. The words of both vocabularies, tweet and post, are read. */
import { Either } from "effect"
import { type Area, type EventFields, lazyFields } from "../eventFields.ts"
import { instantOf, type JsonObject, listOf, numberOf, objectOf, objectsOf, textOf, textsOf } from "../json.ts"
import { type Entities, entitiesOf, fullText } from "./entities.ts"
import { tokens } from "./tokens.ts"

/** Left is a sentence on what the record lacks. */
export const xEvent = (record: unknown): Either.Either<EventFields, string> =>
  Either.map(postOf(record), (post) => fieldsOf(post, objectOf(objectOf(record)?.["includes"]) ?? {}))

/** The post's own id. */
export const xEventId = (record: unknown): Either.Either<string, string> =>
  Either.map(postOf(record), (post) => textOf(post["id"]) ?? "")

/** When the post was written, in milliseconds. */
export const xEventTime = (record: unknown): number | undefined =>
  instantOf(objectOf(objectOf(record)?.["data"])?.["created_at"])

// ---- helpers ----

const postOf = (record: unknown): Either.Either<JsonObject, string> => {
  const post = objectOf(objectOf(record)?.["data"])
  if (post === undefined) {
    return Either.left('Is no X post: it has no "data", an object with the "id" and the "text" of the post')
  }
  if (textOf(post["id"]) === undefined) {
    return Either.left('Is no X post: "data" needs an "id", a string')
  }
  return typeof post["text"] === "string" ? Either.right(post) : Either.left('Is no X post: "data" has no "text"')
}

interface Content {
  readonly post: JsonObject
  readonly entities: Entities
}

const fieldsOf = (post: JsonObject, includes: JsonObject): EventFields => {
  const users = byKey(objectsOf(includes["users"]), "id")
  const posts = byKey([...objectsOf(includes["tweets"]), ...objectsOf(includes["posts"])], "id")
  const media = byKey(objectsOf(includes["media"]), "media_key")
  const places = byKey(objectsOf(includes["places"]), "id")

  const retweetedId = referenced(post, "retweeted")
  const original = retweetedId === undefined ? undefined : posts.get(retweetedId)
  const quotedId = referenced(post, "quoted") ?? (original && referenced(original, "quoted"))
  const quoted = quotedId === undefined ? undefined : posts.get(quotedId)
  const author = users.get(textOf(post["author_id"]) ?? "")
  const repliedId = referenced(post, "replied_to")
  const repliedTo = textOf(post["in_reply_to_user_id"]) ?? textOf(posts.get(repliedId ?? "")?.["author_id"])

  // A quoted original and the original of a retweet count as content of the post.
  const texts = ownTexts(post, original)
  const contents = once(
    (): ReadonlyArray<Content> => [
      { post, entities: entitiesOf(post, texts.join("\n")) },
      ...present([original, quoted]).map((one) => ({ post: one, entities: entitiesOf(one, fullText(one)) }))
    ]
  )
  const links = once(() => contents().flatMap(({ entities }) => entities.links))
  const addresses = once(() => links().flatMap((link) => link.addresses))
  const mentions = once(() => contents().flatMap(({ entities }) => entities.mentions))
  const hashtags = () => contents().flatMap(({ entities }) => entities.hashtags)
  const cashtags = () => contents().flatMap(({ entities }) => entities.cashtags)

  /** An account goes by its id and by its name; the name may only be known from a mention. */
  const account = (id: string | undefined): ReadonlyArray<string> => {
    if (id === undefined) {
      return []
    }
    const name = textOf(users.get(id)?.["username"]) ?? mentions().find((mention) => mention.id === id)?.username
    return name === undefined ? [id] : [id, name]
  }
  const affiliations = (id: string | undefined): ReadonlyArray<string> => {
    const affiliation = objectOf(users.get(id ?? "")?.["affiliation"])
    const ids = [...textsOf(affiliation?.["user_id"]), textOf(affiliation?.["user_id"])]
    const name = textOf(affiliation?.["url"])
      ?.split("/")
      .findLast((part) => part !== "")
    return [...ids.flatMap(account), ...(name === undefined ? [] : [name])]
  }
  const retweetedAuthor = (): ReadonlyArray<string> => {
    if (retweetedId === undefined) {
      return []
    }
    const name = retweetMark.exec(fullText(post))?.[1]
    return [...account(textOf(original?.["author_id"])), ...(name === undefined ? [] : [name])]
  }
  const annotations = () => objectsOf(post["context_annotations"])

  // The place of a post is never that of a retweet or of a quoted original.
  const geo = retweetedId === undefined ? objectOf(post["geo"]) : undefined
  const placeId = textOf(geo?.["place_id"])
  const place = places.get(placeId ?? "")
  const metrics = objectOf(author?.["public_metrics"])

  const kinds = (): ReadonlyArray<string> => {
    const verifiedType = textOf(author?.["verified_type"]) ?? "none"
    return named({
      retweet: retweetedId !== undefined,
      reply: contents().some(
        (one) =>
          referenced(one.post, "replied_to") !== undefined || textOf(one.post["in_reply_to_user_id"]) !== undefined
      ),
      quote: contents().some((one) => referenced(one.post, "quoted") !== undefined),
      verified: author?.["verified"] === true || verifiedType !== "none",
      nullcast: post["nullcast"] === true
    })
  }
  const parts = (): ReadonlyArray<string> => {
    const keys = contents().flatMap((one) => textsOf(objectOf(one.post["attachments"])?.["media_keys"]))
    const types = [...keys.map((key) => textOf(media.get(key)?.["type"])), ...addresses().map(linkedMedia)]
    return named({
      hashtags: hashtags().length > 0,
      cashtags: cashtags().length > 0,
      links: links().length > 0,
      mentions: mentions().length > 0,
      media: keys.length > 0 || types.some((type) => type !== undefined),
      images: types.includes("photo"),
      video_link: types.includes("video"),
      geo: geo !== undefined && (placeId !== undefined || pointOf(geo) !== undefined)
    })
  }

  return lazyFields({
    id: () => textOf(post["id"]) ?? "",
    analyse: (text) => {
      const words = tokens(text)
      return { words, positions: words.map((_, position) => position) }
    },
    text: {
      // The words of links count as words of the post.
      "x.text": () => [...texts, ...(quoted === undefined ? [] : [fullText(quoted)]), ...addresses()],
      "x.url": addresses,
      "x.url_title": () => present(links().map((link) => link.title)),
      "x.url_description": () => present(links().map((link) => link.description)),
      "x.bio": () => present([textOf(author?.["description"])]),
      "x.bio_name": () => present([textOf(author?.["name"])]),
      "x.bio_location": () => present([textOf(author?.["location"])]),
      "x.place": () => present([textOf(place?.["full_name"]), textOf(place?.["name"])])
    },
    keywords: {
      "x.hashtag": () => hashtags().map(lower),
      "x.mention": () => mentions().map(({ username }) => lower(username)),
      "x.cashtag": () => cashtags().map(lower),
      "x.from": () => account(textOf(post["author_id"])).map(lower),
      "x.to": () => account(repliedTo).map(lower),
      "x.retweets_of": () => retweetedAuthor().map(lower),
      "x.from_affiliate_of": () => affiliations(textOf(post["author_id"])).map(lower),
      "x.to_affiliate_of": () => affiliations(repliedTo).map(lower),
      "x.url": () => addresses().map(lower),
      // Rules for either script of Chinese ask for plain zh.
      "x.lang": () =>
        present([
          textOf(post["lang"])
            ?.toLowerCase()
            .replace(/^zh-.*$/su, "zh")
        ]),
      "x.source": () => present([textOf(post["source"])]).map(lower),
      "x.context": () =>
        annotations().flatMap((one) => {
          const domain = textOf(objectOf(one["domain"])?.["id"])
          const entity = textOf(objectOf(one["entity"])?.["id"])
          return domain === undefined || entity === undefined ? [] : [`${domain}.${entity}`]
        }),
      "x.entity": () =>
        [
          ...present(annotations().map((one) => textOf(objectOf(one["entity"])?.["name"]))),
          ...contents().flatMap(({ entities }) => entities.annotations)
        ].map(lower),
      "x.conversation_id": () => present([textOf(post["conversation_id"])]),
      "x.place_id": () => present([placeId]).map(lower),
      "x.place_country": () => present([textOf(place?.["country_code"])]).map(lower),
      "x.in_reply_to_tweet_id": () => present([repliedId]),
      "x.retweets_of_tweet_id": () => present([retweetedId]),
      "x.is": kinds,
      "x.has": parts
    },
    number: {
      "x.followers_count": () => numberOf(metrics?.["followers_count"]),
      "x.tweets_count": () => numberOf(metrics?.["tweet_count"] ?? metrics?.["post_count"]),
      "x.following_count": () => numberOf(metrics?.["following_count"]),
      "x.listed_count": () => numberOf(metrics?.["listed_count"])
    },
    places: once(() => present([geo && pointOf(geo), areaOf(listOf(objectOf(place?.["geo"])?.["bbox"]))])),
    ageHours: undefined
  })
}

/** A native retweet begins so; what follows may be cut short. */
const retweetMark = /^RT @([A-Za-z0-9_]{1,20}): ?/

/** The text of a retweet is a copy that may be cut in the middle of a word: the original stands in for it. */
const ownTexts = (post: JsonObject, original: JsonObject | undefined): ReadonlyArray<string> => {
  const own = fullText(post)
  if (original === undefined) {
    return [own]
  }
  const mark = retweetMark.exec(own)?.[0]
  return mark === undefined ? [own, fullText(original)] : [`${mark}${fullText(original)}`]
}

const referenced = (post: JsonObject, type: "retweeted" | "quoted" | "replied_to"): string | undefined => {
  const references = [...objectsOf(post["referenced_tweets"]), ...objectsOf(post["referenced_posts"])]
  return textOf(references.find((reference) => reference["type"] === type)?.["id"])
}

/** A post's own media are linked from its text, also where the media themselves were not asked for. */
const linkedMedia = (address: string): "photo" | "video" | undefined => {
  const kind = /^https?:\/\/(?:www\.)?(?:twitter|x)\.com\/[^/]+\/status\/\d+\/(photo|video)\/\d+$/i.exec(address)?.[1]
  return kind === undefined ? undefined : kind.toLowerCase() === "photo" ? "photo" : "video"
}

const pointOf = (geo: JsonObject): Area | undefined => {
  const [longitude, latitude] = listOf(objectOf(geo["coordinates"])?.["coordinates"])
  return areaOf([longitude, latitude, longitude, latitude])
}

const areaOf = (sides: ReadonlyArray<unknown>): Area | undefined => {
  const [west, south, east, north] = sides
  return typeof west === "number" && typeof south === "number" && typeof east === "number" && typeof north === "number"
    ? { west, south, east, north }
    : undefined
}

const byKey = (list: ReadonlyArray<JsonObject>, key: string): ReadonlyMap<string, JsonObject> => {
  const found = new Map<string, JsonObject>()
  for (const one of list) {
    const name = textOf(one[key])
    if (name !== undefined && !found.has(name)) {
      found.set(name, one)
    }
  }
  return found
}

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

const present = <A>(values: ReadonlyArray<A | undefined>): ReadonlyArray<A> =>
  values.filter((value) => value !== undefined)

const named = (flags: Readonly<Record<string, boolean>>): ReadonlyArray<string> =>
  Object.keys(flags).filter((flag) => flags[flag])

const lower = (text: string): string => text.toLowerCase()
