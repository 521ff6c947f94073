/** Content as a Bluesky post. */
import type { JsonObject } from "../../../text/json.ts"
import { languageCode, POSTS, postUri } from "../../bluesky/Post.ts"
import type { Field } from "../../expression/expression.ts"
import { parseEntities } from "../../x/entities.ts"
import { type ExampleEvents, textOf, type Value, withOwn, withText } from "./content.ts"
import { posts } from "./post.ts"

export const blueskyPosts: ExampleEvents = {
  withValue: (content, field, value) => {
    switch (field) {
      case "bluesky.domain":
        return { ...content, link: `https://${value}/` }
      case "x.has":
        return value === "alt" ? withOwn(content, "bluesky.alt", "a photo") : posts.withValue(content, field, value)
      case "x.mention":
        return withText(content, `@${value}`)
      default:
        return posts.withValue(content, field, value)
    }
  },
  payload: (content) => {
    const last = (field: Field): Value | undefined => content.own[field]?.at(-1)
    const has = (value: string): boolean => content.own["x.is"]?.includes(value) === true
    const handles: Record<string, string> = {}
    const didOf = (account: Value | undefined, number: number): string => {
      const name = String(account ?? "")
      if (name.startsWith("did:")) return name
      const did = `did:plc:${"2".repeat(23)}${number}`
      if (name !== "") handles[did] = name
      return did
    }
    const text = textOf(content)
    const { hashtags, links } = parseEntities(text)
    const mentions = Array.from(text.matchAll(/(?<=^|\s)@([\w.-]+\w)/g), ([, name]) => name)
    const alt = last("bluesky.alt")
    const media = content.own["x.media"] ?? []
    const quoted = last("bluesky.quotes")
    const repliedTo = last("x.in_reply_to_tweet_id") ?? (last("x.to") === undefined && !has("reply") ? undefined : "")
    const root = last("x.conversation_id")
    const parent =
      repliedTo === undefined || repliedTo === "" ? postUri(didOf(last("x.to"), 3), "5") : String(repliedTo)
    const link = content.link ?? (content.title === undefined ? undefined : `https://${content.site}/`)
    const described = {
      ...(content.title !== undefined && { title: content.title }),
      ...given("description", last("x.url_description"))
    }
    const embed =
      quoted !== undefined || has("quote")
        ? { record: { uri: String(quoted ?? "").startsWith("at:") ? String(quoted) : postUri(didOf(quoted, 4), "6") } }
        : media.includes("video")
          ? { video: {}, ...given("alt", alt) }
          : media.length > 0 || alt !== undefined
            ? { images: [{ image: {}, ...given("alt", alt) }] }
            : link !== undefined || "description" in described
              ? { external: { uri: link ?? `https://${content.site}/`, ...described } }
              : undefined
    const features = [
      ...hashtags.map((tag) => ({ tag })),
      ...mentions.map((name, index) => ({ did: didOf(name, 6 + (index % 4)) })),
      ...[link, ...links.flatMap(({ urls }) => urls), ...content.otherLinks.map(({ url }) => url)].flatMap((uri) =>
        uri === undefined ? [] : [{ uri }]
      )
    ]
    const record: JsonObject = {
      text,
      ...(content.language !== undefined && { langs: [languageCode(content.language)] }),
      ...(features.length > 0 && { facets: features.map((feature) => ({ features: [feature] })) }),
      ...(repliedTo !== undefined || root !== undefined
        ? {
            reply: {
              root: { uri: String(root ?? parent) },
              ...(repliedTo !== undefined && { parent: { uri: parent } })
            }
          }
        : {}),
      ...(embed !== undefined && { embed }),
      ...(content.own["bluesky.label"] !== undefined && {
        labels: { values: content.own["bluesky.label"].map((val) => ({ val })) }
      })
    }
    const did = didOf(last("x.from"), 2)
    const rkey = String(last("x.id") ?? "1")
    return {
      did,
      commit: { collection: POSTS, rkey, record },
      ...(Object.keys(handles).length > 0 && { handles })
    }
  }
}

// ---- helpers ----

const given = (key: string, value: Value | undefined): JsonObject => (value === undefined ? {} : { [key]: value })
