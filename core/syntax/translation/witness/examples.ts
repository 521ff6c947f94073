/** Values that decide one clause: some that it matches, and near misses that only the other platform may match. */
import { sampleOf } from "../../expression/evaluate.ts"
import type { Bound, Field, Predicate } from "../../expression/expression.ts"
import { languages } from "../../firehose/labels.ts"
import { stopWords } from "../../firehose/tokens.ts"
import { exampleOf } from "../../regex/example.ts"
import { parseRegex } from "../../regex/parser.ts"
import { hasUnspacedScript } from "../words.ts"
import { type Content, type ExampleEvents, type Value, withOtherLink, withOwn, withText } from "./content.ts"

/** Puts an example into content. */
export type Edit = (content: Content) => Content

export interface ClauseExamples {
  /** The usual values of the clause. The caller tests whether the clause matches them. */
  readonly plain: ReadonlyArray<Edit>
  /** Other values of the same field, to show what the clause excludes. */
  readonly other: ReadonlyArray<Edit>
  /** Variants of the plain values on which the platforms may differ. */
  readonly near: ReadonlyArray<Edit>
}

interface ExampleOptions {
  /** The clause's text in the rule. */
  readonly source: string
  readonly format: ExampleEvents
  /** Words that the rules do not use. */
  readonly fillers: ReadonlyArray<string>
}

export const examplesOf = (predicate: Predicate, { source, format, fillers }: ExampleOptions): ClauseExamples => {
  switch (predicate._tag) {
    case "Sample":
      return { plain: [idIn(0, predicate.percent)], other: [idIn(predicate.percent, 100)], near: [] }
    case "Recent":
      return {
        plain: [own("firehose.age", predicate.hours / 2)],
        other: [own("firehose.age", predicate.hours + 24)],
        near: []
      }
    case "Radius":
      return { plain: [own("x.point", predicate.longitude, predicate.latitude)], other: [], near: [] }
    case "Box": {
      const { west, south, east, north } = predicate
      return { plain: [own("x.point", (west + east) / 2, (south + north) / 2)], other: [], near: [] }
    }
    default: {
      const { field } = predicate
      const put =
        (value: Value): Edit =>
        (content) =>
          format.withValue(content, field, value)
      if (addressFields.has(field)) return addressExamples(predicate, source)
      const { plain, other = [], near = [] } = valuesOf(predicate, source, fillers)
      return {
        plain: plain.map(put),
        other: [...other, ...(otherValues[field] ?? [])].map(put),
        near: [...near.map(put), ...elsewhere(field, plain)]
      }
    }
  }
}

// ---- helpers ----

type FieldPredicate = Exclude<Predicate, { readonly _tag: "Sample" | "Recent" | "Radius" | "Box" }>

interface Values {
  readonly plain: ReadonlyArray<Value>
  readonly other?: ReadonlyArray<Value>
  readonly near?: ReadonlyArray<Value>
}

function own(field: Field, ...values: ReadonlyArray<Value>): Edit {
  return (content) => withOwn(content, field, ...values)
}

/** An id whose sample number is in the range. */
function idIn(from: number, to: number): Edit {
  return (content) => {
    for (let id = 1; id < 2_000; id++) {
      const sample = sampleOf(String(id))
      if (sample >= from && sample < to) return withOwn(content, "x.id", String(id))
    }
    return content
  }
}

function valuesOf(predicate: FieldPredicate, source: string, fillers: ReadonlyArray<string>): Values {
  if (predicate.field === "firehose.language" && predicate._tag !== "Equals") {
    return { plain: languages }
  }
  switch (predicate._tag) {
    case "Phrase": {
      const plain = [valueIn(source), predicate.words.join(" ")]
      return { plain, near: plain.flatMap((text) => variants(text, predicate.slop, fillers)) }
    }
    case "Wildcard":
      return { plain: ["", "s"].map((any) => filled(predicate, any)) }
    case "Fuzzy":
      return { plain: [predicate.word, `${predicate.word}s`] }
    case "Regex": {
      const { tree } = parseRegex(predicate.pattern)
      return { plain: tree === undefined ? [] : ["", "example"].map((any) => exampleOf(tree, any)) }
    }
    case "Equals":
      return { plain: [predicate.value], near: languagesLike(predicate) }
    case "Contains":
      return { plain: [predicate.text] }
    case "NumberRange": {
      const { from, to } = predicate
      const plain = [from?.value, (from?.value ?? 0) + 1, to?.value, (to?.value ?? 100) - 1]
      const other = [(from?.value ?? 0) - 1, (to?.value ?? -2) + 1]
      return { plain: plain.filter(isDefined), other: other.filter((value) => value >= 0) }
    }
    case "KeywordRange": {
      const ends = [predicate.from, predicate.to].filter(isDefined)
      return { plain: [...ends.map(({ value }) => value), ...between(predicate.from, predicate.to)] }
    }
  }
}

function isDefined<A>(value: A | undefined): value is A {
  return value !== undefined
}

function between(from: Bound<string> | undefined, to: Bound<string> | undefined): ReadonlyArray<string> {
  return [
    from === undefined ? "2020-01-01T00:00:00" : `${from.value}1`,
    ...(to === undefined ? [] : [to.value.slice(0, -1)])
  ]
}

/** The value of a clause as it was written: without its field, quotes and distance. */
function valueIn(source: string): string {
  return source
    .replace(/^[a-z_]+:/, "")
    .replace(/(~\d*)?(\^[\d.]+)?$/, "")
    .replace(/^"|"$/g, "")
    .replaceAll("\\", "")
}

const stopWordSet = new Set(stopWords)

/** Spellings of a text that one platform may read as the same words and the other as different ones. */
function variants(text: string, slop: number, fillers: ReadonlyArray<string>): ReadonlyArray<string> {
  const words = text.split(" ")
  const withFillers = (count: number) => {
    const [first = "", ...rest] = words
    return [first, ...Array.from({ length: count }, (_, at) => fillers[at % fillers.length]), ...rest].join(" ")
  }
  return [
    words.map((word, at) => (stopWordSet.has(word.toLowerCase()) ? fillers[at % fillers.length] : word)).join(" "),
    text.replace(/[^\p{L}\p{M}\p{N}]+/gu, " "),
    text.replace(/(\p{Extended_Pictographic})\ufe0f?/gu, (found, emoji) =>
      found === emoji ? `${emoji}\ufe0f` : emoji
    ),
    text.replace(/[σς]/g, (sigma) => (sigma === "σ" ? "ς" : "σ")),
    ...(hasUnspacedScript(text) ? [`新${text}`, `${text}中`] : []),
    ...(slop === 0 ? [] : [Math.min(slop, MAX_FILLERS), 7].map(withFillers))
  ]
}

const MAX_FILLERS = 20

/** A language code that the other platform does not tell apart. */
function languagesLike({ field, value }: { readonly field: Field; readonly value: string }): ReadonlyArray<string> {
  const script = /^(zh)\b/.exec(value)?.[1]
  return field !== "firehose.language" || script === undefined
    ? []
    : languages.filter((code) => code.startsWith(script) && code !== value)
}

const otherValues: Readonly<Record<Field, ReadonlyArray<string>>> = {
  "x.from": ["someone"],
  "x.lang": ["fr", "de"],
  "firehose.language": ["fr", "de"],
  "firehose.page_category": ["/Reference"],
  "firehose.page_type": ["/Document"]
}

/** The same words where only one of the platforms looks. */
function elsewhere(field: Field, values: ReadonlyArray<Value>): ReadonlyArray<Edit> {
  switch (field) {
    case "x.hashtag":
    case "x.cashtag":
      return values.map((value) => (content) => withText(content, String(value)))
    case "x.url_title":
    case "firehose.title":
      return values.map(
        (title) => (content) =>
          withOtherLink(
            { ...content, link: content.link ?? `https://${content.site}/` },
            { url: `https://${content.site}/2`, title: String(title) }
          )
      )
    default:
      return []
  }
}

const addressFields: ReadonlySet<Field> = new Set(["x.url", "firehose.url", "firehose.domain", "bluesky.domain"])

/** What an address must contain, as far as a clause says it. */
function addressParts(predicate: FieldPredicate, source: string, site: string): ReadonlyArray<string> {
  switch (predicate._tag) {
    case "Phrase":
      return [valueIn(source), predicate.words.join("/")]
    case "Wildcard":
      return [filled(predicate, ""), filled(predicate, "a")]
    case "Regex": {
      const { tree } = parseRegex(predicate.pattern)
      return tree === undefined ? [] : [`https://${site}/page`, ""].map((any) => exampleOf(tree, any))
    }
    case "KeywordRange":
      return between(predicate.from, predicate.to)
    case "Fuzzy":
      return [predicate.word]
    case "Contains":
      return [predicate.text]
    case "Equals":
      return [predicate.value]
    default:
      return []
  }
}

function filled({ parts }: Predicate & { readonly _tag: "Wildcard" }, any: string): string {
  return parts.map((part) => (typeof part === "string" ? part : part.sign === "?" ? "a" : any)).join("")
}

function addressExamples(predicate: FieldPredicate, source: string): ClauseExamples {
  const links = (ways: ReadonlyArray<(part: string, site: string) => string>): ReadonlyArray<Edit> =>
    Array.from({ length: 2 * ways.length }, (_, index) => (content: Content) => {
      const part = addressParts(predicate, source, content.site)[Math.floor(index / ways.length)]
      const link = part === undefined ? undefined : ways[index % ways.length]?.(part, content.site)
      return link !== undefined && isAddress(link) ? { ...content, link } : content
    })
  return {
    plain: links([
      (part) => part,
      (part) => `https://${part}`,
      (part) => `https://${part}/`,
      (part, site) => `https://${site}${part}`,
      (part, site) => `https://${site}/${part}`
    ]),
    other: [],
    near: links([
      (part) => `${part}/more`,
      (part, site) => `https://${site}/${part}/`,
      (part, site) => `https://${site}${part.toUpperCase()}`,
      (part, site) => `https://${site}/${part.toUpperCase()}`,
      (part, site) => `https://${site}/?to=${part}`
    ])
  }
}

/** An address as platforms report them: with a host, and without an empty part or a second scheme in its path. */
function isAddress(text: string): boolean {
  return /^https?:\/\/[\w-]+(\.[\w-]+)+(:\d+)?(\/(?!\/)[^\s:?/]*)*(\?\S*)?$/.test(text)
}
