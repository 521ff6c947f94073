/** What a clause of Firehose becomes in X's language. */
import type { Field, Predicate, WildcardSign } from "../expression/expression.ts"
import { parse } from "../firehose/language.ts"
import { tokens } from "../x/tokens.ts"
import { type Carried, impossible, type Written } from "./carried.ts"
import { toXLanguage } from "./languages.ts"
import { wordsToX } from "./words.ts"

/** `source` is the clause as it stands in the rule. */
export const toX = (predicate: Predicate, source: string): Carried => {
  switch (predicate._tag) {
    case "Phrase":
      return phrase(predicate.field, predicate.words, quotedText(source), predicate.slop)
    case "Fuzzy":
      return predicate.distance === 0
        ? phrase(predicate.field, [predicate.word], undefined, 0)
        : impossible("X has no fuzzy words")
    case "Regex":
      return impossible("X has no regular expressions")
    case "Wildcard":
      return predicate.field === "firehose.url" || predicate.field === "firehose.domain"
        ? addressParts(predicate.parts)
        : impossible("X has no wildcards")
    case "Equals":
      return equals(predicate.field, predicate.value)
    case "Recent":
      return impossible("X has no limit on age, its stream delivers posts as they are made")
    default:
      return impossible(unknown("field" in predicate ? predicate.field : undefined))
  }
}

// ---- helpers ----

function phrase(field: string, words: ReadonlyArray<string>, raw: string | undefined, slop: number): Carried {
  if (field === "firehose.added") {
    return wordsToX({ words, raw, slop }, { prefix: "", place: "the text of the post" })
  }
  if (field === "firehose.title") {
    const carried = wordsToX({ words, raw, slop }, { prefix: "url_title:", place: "the title of a linked page" })
    const own = "X looks at every page that a post links to, Firehose at the page itself"
    const changed = "reason" in carried && (carried.wider || carried.narrower)
    return "impossible" in carried
      ? carried
      : { ...carried, wider: true, reason: changed ? `${own}; ${carried.reason}` : own }
  }
  return impossible(unknown(field))
}

function equals(field: Field, value: string): Carried {
  switch (field) {
    case "firehose.language": {
      const language = toXLanguage(value)
      if (language === undefined) {
        return impossible(`X does not recognise the language "${value}"`)
      }
      return {
        ...written(`lang:${language.code}`),
        anchor: false,
        wider: language.shared,
        reason: language.shared
          ? "Posts carry one code for both scripts of Chinese"
          : `The same language, which X calls "${language.code}"`
      }
    }
    case "firehose.url":
    case "firehose.domain": {
      if (tokens(value).length === 0 || !isSendable(value)) {
        return impossible("X cannot look for this in a link")
      }
      const reason = "X finds the words of the address anywhere in a link, whatever their case"
      return { ...written(`url:${quote(value)}`), wider: true, reason }
    }
    default:
      return impossible(unknown(field))
  }
}

/** The literal parts of a pattern; what stands between them, and at its ends, X cannot say. */
function addressParts(parts: ReadonlyArray<string | WildcardSign>): Carried {
  const literals = parts.filter((part) => typeof part === "string")
  const [only] = literals
  if (only === undefined) {
    return impossible("Every page has an address, posts need not have a link")
  }
  if (!literals.every(isSendable)) {
    return impossible("X cannot look for this in a link")
  }
  const isExact =
    literals.length === 1 &&
    only.toLowerCase() === only.toUpperCase() &&
    parts.length === 3 &&
    parts.every((part) => typeof part === "string" || part.sign === "*")
  const reason = isExact
    ? "The same characters in a link"
    : "X finds the fixed parts of the pattern anywhere in a link, whatever their case"
  return {
    ...written(...literals.map((literal) => `url_contains:${quote(literal)}`)),
    join: "And",
    wider: !isExact,
    reason
  }
}

function quote(text: string): string {
  return /^[A-Za-z0-9]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`
}

/** Nothing that X refuses, or that would not survive between its quotes. */
function isSendable(text: string): boolean {
  return !unsendable.test(text) && !text.endsWith("\\") && !text.includes('\\"') && text.trim() !== ""
}

const unsendable = /[\p{Cc}\p{Surrogate}]/u

function written(...texts: ReadonlyArray<string>): Written {
  return { join: "Or", texts, anchor: true, wider: false, narrower: false, reason: "" }
}

/** What stands in the quotes of a phrase; a bare term has none, and each of its words is a clause of its own. */
function quotedText(source: string): string | undefined {
  const query = parse(source).ast?.clauses[0]?.query
  return query?._tag === "Phrase" ? query.text : undefined
}

function unknown(field: string | undefined): string {
  return reasons.get(field ?? "") ?? "X has nothing like it"
}

const reasons: ReadonlyMap<string, string> = new Map([
  ["firehose.removed", "A post does not lose text"],
  ["firehose.removed_anchor", "A post does not lose links"],
  ["firehose.added_anchor", "X does not look at the texts of links"],
  ["firehose.publish_time", "X has no dates in its rules"],
  ["firehose.page_category", "X has no topic labels of pages"],
  ["firehose.page_type", "X has no labels for kinds of pages"],
  ["firehose.dr", "X does not know the rating of a site"],
  ["firehose.url", "X cannot say this about a link"],
  ["firehose.domain", "X cannot say this about a link"],
  ["firehose.language", "X takes one language code at a time"]
])
