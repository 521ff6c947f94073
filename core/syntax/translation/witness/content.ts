/**
 * Content that can appear on every platform, so that filters of two languages can be compared on the same thing: the
 * text of a post is the added text of a page, a link of the post is the address of the page, and the title and the
 * language are the same. What only one platform knows is in the event of that platform alone.
 */
import type { JsonObject } from "../../../text/json.ts"
import type { Field } from "../../expression/expression.ts"

export interface Content {
  readonly texts: ReadonlyArray<string>
  /** Between two texts. */
  readonly separator: string
  /** A post has a link only if there is one. A page always has an address, by default on this site. */
  readonly site: string
  readonly link: string | undefined
  readonly title: string | undefined
  /** Firehose's code, or X's if Firehose has none. */
  readonly language: string | undefined
  /** Pages that a post links to besides this one. */
  readonly otherLinks: ReadonlyArray<OtherLink>
  /** By field: what only one platform knows. */
  readonly own: Readonly<Record<Field, ReadonlyArray<Value>>>
}

export interface OtherLink {
  readonly url: string
  readonly title: string | undefined
}

export type Value = string | number

/** How a language's events express content. */
export interface ExampleEvents {
  /** The content with this value in a field of the language, next to earlier values if the field has several. */
  readonly withValue: (content: Content, field: Field, value: Value) => Content
  readonly payload: (content: Content) => JsonObject
}

export const textOf = ({ texts, separator }: Content): string => texts.join(separator)

export const withText = (content: Content, text: string): Content =>
  content.texts.includes(text) ? content : { ...content, texts: [...content.texts, text] }

export const withOwn = (content: Content, field: Field, ...values: ReadonlyArray<Value>): Content => ({
  ...content,
  own: { ...content.own, [field]: [...(content.own[field] ?? []), ...values] }
})

export const withOtherLink = (content: Content, link: OtherLink): Content => ({
  ...content,
  otherLinks: [...content.otherLinks, link]
})
