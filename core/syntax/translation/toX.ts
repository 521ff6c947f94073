/** Translates a clause of Firehose or Bluesky to X. */
import type { Field, WildcardSign } from "../expression/expression.ts"
import { isLanguage } from "../firehose/labels.ts"
import { parse } from "../firehose/language.ts"
import { xDialect } from "../x/Dialect.ts"
import { tokens } from "../x/tokens.ts"
import { languages } from "../x/vocabulary.ts"
import { type ClauseTranslation, exact, impossible, withDifference } from "./clauseTranslation.ts"
import { oldCode, toXLanguage } from "./languages.ts"
import { type PostTarget, postClause } from "./postClauses.ts"
import type { TranslationTarget } from "./target.ts"
import { wordsToX } from "./words.ts"

export const toX: TranslationTarget["clause"] = (predicate, raw, positive) => {
  if (predicate._tag === "Sample" || ("field" in predicate && /^(x|bluesky)\./.test(predicate.field))) {
    return postClause(predicate, positive, posts)
  }
  switch (predicate._tag) {
    case "Phrase":
      return phrase(predicate.field, predicate.words, raw, predicate.slop)
    case "Fuzzy":
      return predicate.distance === 0
        ? phrase(predicate.field, [predicate.word], undefined, 0)
        : impossible("X has no fuzzy search")
    case "Regex":
      return impossible("X has no regular expressions")
    case "Wildcard":
      return predicate.field === "firehose.url" || predicate.field === "firehose.domain"
        ? addressParts(predicate.parts)
        : impossible("X has no wildcards")
    case "Equals":
      return equals(predicate.field, predicate.value)
    case "Recent":
      return impossible("X has no age limit: its stream delivers only new posts")
    default:
      return unsupported("field" in predicate ? predicate.field : undefined)
  }
}

/** The text in the quotes of a Firehose phrase. Undefined for a bare term: each of its words is a predicate. */
export const rawTextOfFirehose: TranslationTarget["rawText"] = (source) => {
  const query = parse(source).ast?.clauses[0]?.query
  return query?._tag === "Phrase" ? query.text : undefined
}

// ---- helpers ----

const ACCOUNTS = "Accounts of Bluesky and of X are not the same"

/** For a clause of Bluesky. */
const posts: PostTarget = {
  dialect: xDialect,
  languageCode: (code) => languages.find((known) => known.code.toLowerCase().split("-")[0] === oldCode(code))?.code,
  reasons: [
    ["x.from", ACCOUNTS],
    ["x.to", ACCOUNTS],
    ["x.mention", ACCOUNTS],
    ["bluesky.quotes", "X has no operator for quotes of a post or an account"],
    ["bluesky.label", "X has no labels of posts"],
    ["bluesky.alt", "X does not search the descriptions of images"],
    ["x.has", "X does not search the descriptions of images"],
    ["x.", "Posts of Bluesky and of X are not the same"]
  ],
  absentKinds: new Map()
}

function phrase(field: string, words: ReadonlyArray<string>, raw: string | undefined, slop: number): ClauseTranslation {
  const source = { words, raw, slop }
  switch (field) {
    case "firehose.added":
      return wordsToX(source, { prefix: "", name: "the text of the post" })
    case "firehose.title":
      return withDifference(
        wordsToX(source, { prefix: "url_title:", name: "the title of a linked page" }),
        "wider",
        "X searches the titles of all linked pages, Firehose the title of the page itself"
      )
    default:
      return unsupported(field)
  }
}

function equals(field: Field, value: string): ClauseTranslation {
  switch (field) {
    case "firehose.language": {
      const language = toXLanguage(value)
      if (language === undefined) {
        return impossible(
          isLanguage(value) ? `X does not support the language "${value}"` : `Firehose has no language code "${value}"`
        )
      }
      const reason = language.shared
        ? "Posts have one language code for both Chinese scripts"
        : `The same language: "${language.code}" on X`
      return { ...exact([`lang:${language.code}`], reason), standalone: false, wider: language.shared }
    }
    case "firehose.url":
    case "firehose.domain": {
      if (tokens(value).length === 0 || !isSendable(value)) {
        return impossible("X cannot search for this text in a link")
      }
      const reason = "X finds the words of the address anywhere in a link, in any case"
      return { ...exact([`url:${quote(value)}`], reason), wider: true }
    }
    default:
      return unsupported(field)
  }
}

/** Keeps the literal parts of a pattern. X cannot express their order, the gaps or the ends. */
function addressParts(parts: ReadonlyArray<string | WildcardSign>): ClauseTranslation {
  const literals = parts.filter((part) => typeof part === "string")
  const [only] = literals
  if (only === undefined) {
    return parts.every((part) => typeof part === "string" || part.sign === "*")
      ? { ...exact([], "Every page has an address"), join: "And" }
      : impossible("X cannot search for the length of a link")
  }
  if (!literals.every(isSendable)) {
    return impossible("X cannot search for this text in a link")
  }
  const isExact =
    literals.length === 1 &&
    only.toLowerCase() === only.toUpperCase() &&
    parts.length === 3 &&
    parts.every((part) => typeof part === "string" || part.sign === "*")
  const reason = isExact
    ? "The same text in a link"
    : "X finds the literal parts of the pattern anywhere in a link, in any case"
  const texts = literals.map((literal) => `url_contains:${quote(literal)}`)
  return { ...exact(texts, reason), join: "And", wider: !isExact }
}

function quote(text: string): string {
  return /^[A-Za-z0-9]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`
}

/** X accepts the text, and quoting does not change it. */
function isSendable(text: string): boolean {
  return !unsendable.test(text) && !text.endsWith("\\") && !text.includes('\\"') && text.trim() !== ""
}

const unsendable = /[\p{Cc}\p{Surrogate}]/u

function unsupported(field: string | undefined): ClauseTranslation {
  return impossible(reasons.get(field ?? "") ?? "X has no equivalent")
}

const reasons: ReadonlyMap<string, string> = new Map([
  ["firehose.removed", "Posts do not lose text"],
  ["firehose.removed_anchor", "Posts do not lose links"],
  ["firehose.added_anchor", "X does not search link texts"],
  ["firehose.publish_time", "X has no dates in rules"],
  ["firehose.page_category", "X has no page categories"],
  ["firehose.page_type", "X has no page types"],
  ["firehose.dr", "X has no Domain Rating"],
  ["firehose.url", "X has no such test for links"],
  ["firehose.domain", "X has no such test for links"],
  ["firehose.language", "X compares language codes only for equality"]
])
