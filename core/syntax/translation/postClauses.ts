/** Translates clauses between X and Bluesky: both are written in the same way, and have most operators in common. */
import type { Predicate } from "../expression/expression.ts"
import { isHashtag } from "../x/characters.ts"
import type { Dialect } from "../x/Dialect.ts"
import { choiceOf } from "../x/operators.ts"
import { tokens } from "../x/tokens.ts"
import { type ClauseTranslation, exact, impossible } from "./clauseTranslation.ts"
import { quoteForX } from "./words.ts"

export interface PostTarget {
  readonly dialect: Dialect
  /** Of a language of the source. Undefined if the target has no such language. */
  readonly languageCode: (code: string) => string | undefined
  /** Why the target cannot express a field, by the start of its name. */
  readonly reasons: ReadonlyArray<readonly [field: string, reason: string]>
  /** Values of `is:` that no event of the target has. */
  readonly absentKinds: ReadonlyMap<string, string>
}

export const postClause = (predicate: Predicate, positive: boolean, to: PostTarget): ClauseTranslation => {
  const { dialect } = to
  switch (predicate._tag) {
    case "Phrase": {
      const { field, words, slop } = predicate
      const prefix = prefixes.get(field)
      if (prefix === undefined) return unsupported(field, to)
      const isReadable = tokens(words.join(" ")).join(" ") === words.join(" ")
      if (!isReadable) return impossible(`${dialect.name} finds no such words in a text`)
      const distance = slop > 0 && words.length > 1 ? `~${slop}` : ""
      return exact([`${prefix}${quoteForX(words)}${distance}`], `The same ${words.length > 1 ? "words" : "word"}`)
    }
    case "Contains":
      return exact([`url_contains:${quoted(predicate.text)}`], "The same text in a link")
    case "Sample":
      return { ...exact([`sample:${predicate.percent}`], "The same share of the posts"), standalone: false }
    case "Equals":
      return equals(predicate.field, predicate.value, { positive, to })
    default:
      return unsupported("field" in predicate ? predicate.field : PLACES, to)
  }
}

// ---- helpers ----

const prefixes: ReadonlyMap<string, string> = new Map([
  ["x.text", ""],
  ["x.url", "url:"],
  ["x.url_title", "url_title:"],
  ["x.url_description", "url_description:"]
])

/** Stands for the field of a radius or a box. */
const PLACES = "x.place"

function equals(
  field: string,
  value: string,
  { positive, to }: { readonly positive: boolean; readonly to: PostTarget }
): ClauseTranslation {
  switch (field) {
    case "x.hashtag":
    case "x.cashtag":
      if (field === "x.hashtag" && !isHashtag(value)) return impossible(`${to.dialect.name} cannot write this tag`)
      return exact([`${field === "x.hashtag" ? "#" : "$"}${value}`], "The same tag")
    case "x.lang": {
      const code = to.languageCode(value)
      return code === undefined
        ? impossible(`${to.dialect.name} does not support the language "${value}"`)
        : { ...exact([`lang:${code}`], `The same language: "${code}" on ${to.dialect.name}`), standalone: false }
    }
    case "x.is":
    case "x.has": {
      const name = field === "x.is" ? "is" : "has"
      if (choiceOf(to.dialect.operatorNamed(name)?.choices ?? [], value) !== undefined) {
        return { ...exact([`${name}:${value}`], "The same"), standalone: false }
      }
      const absent = field === "x.is" ? to.absentKinds.get(value) : undefined
      if (absent === undefined) return unsupported(field, to)
      return positive ? impossible(absent) : exact([], `${absent}, so there is nothing to exclude`)
    }
    case "bluesky.domain": {
      const reason = `${to.dialect.name} finds the words of the host anywhere in a link`
      return { ...exact([`url:${quoted(value)}`], reason), wider: true }
    }
    default:
      return unsupported(field, to)
  }
}

const quoted = (text: string): string => (/^[a-z0-9]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`)

const unsupported = (field: string, { dialect, reasons }: PostTarget): ClauseTranslation =>
  impossible(reasons.find(([start]) => field.startsWith(start))?.[1] ?? `${dialect.name} has no equivalent`)
