/** Content as a Firehose update. */
import { isLanguage } from "../../firehose/labels.ts"
import { type Content, type ExampleEvents, textOf, type Value, withOwn, withText } from "./content.ts"

export const pages: ExampleEvents = {
  withValue: (content, field, value) => {
    const text = String(value)
    switch (field) {
      case "firehose.added":
        return withText(content, text)
      case "firehose.title":
        return { ...content, title: text }
      case "firehose.url":
        return { ...content, link: text }
      case "firehose.domain":
        return { ...content, link: `https://${text}/` }
      case "firehose.language":
        return { ...content, language: text }
      default:
        return withOwn(content, field, value)
    }
  },
  payload: (content) => {
    const { link, site, title, language } = content
    const age = last(content, "firehose.age")
    const published =
      age === undefined
        ? last(content, "firehose.publish_time")
        : new Date(MATCHED_AT - Number(age) * 3_600_000).toISOString().slice(0, 19)
    const rating = last(content, "firehose.dr")
    const categories = all(content, "firehose.page_category")
    const types = all(content, "firehose.page_type")
    return {
      ...(age !== undefined && { matched_at: new Date(MATCHED_AT).toISOString() }),
      document: {
        url: link ?? `https://${site}/`,
        ...(title !== undefined && { title }),
        ...(language !== undefined && isLanguage(language) && { language }),
        ...(published !== undefined && { publish_time: published }),
        ...(rating !== undefined && { domain_rating: rating }),
        ...(categories.length > 0 && { page_category: categories }),
        ...(types.length > 0 && { page_types: types }),
        diff: { chunks: chunksOf(content) }
      }
    }
  }
}

// ---- helpers ----

/** Any time will do. */
const MATCHED_AT = Date.UTC(2026, 0, 15, 12)

function chunksOf(content: Content) {
  const { site } = content
  const link = (text: Value) => `[${text}](https://${site}/)`
  return [
    ...(content.texts.length === 0 ? [] : [{ typ: "ins", text: textOf(content) }]),
    ...all(content, "firehose.removed").map((text) => ({ typ: "del", text: String(text) })),
    ...all(content, "firehose.added_anchor").map((text) => ({ typ: "ins", text: link(text) })),
    ...all(content, "firehose.removed_anchor").map((text) => ({ typ: "del", text: link(text) }))
  ]
}

function all({ own }: Content, field: string): ReadonlyArray<Value> {
  return own[field] ?? []
}

function last(content: Content, field: string): Value | undefined {
  return all(content, field).at(-1)
}
