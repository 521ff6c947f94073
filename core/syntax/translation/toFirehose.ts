/** Translates a clause of X or Bluesky to Firehose. */
import type { Field } from "../expression/expression.ts"
import { escapeTerm } from "../firehose/printer.ts"
import { parse } from "../x/language.ts"
import { type ClauseTranslation, exact, impossible, withDifference } from "./clauseTranslation.ts"
import { toFirehoseLanguages } from "./languages.ts"
import type { TranslationTarget } from "./target.ts"
import { wordsToFirehose } from "./words.ts"

export const toFirehose: TranslationTarget["clause"] = (predicate, rawText, positive) => {
  switch (predicate._tag) {
    case "Phrase": {
      const { field, words, slop } = predicate
      const raw = rawText ?? words.join(" ")
      switch (field) {
        case "x.text":
          return wordsToFirehose({ words, raw, slop }, addedText)
        case "x.url_title":
          return withDifference(
            wordsToFirehose(
              { words, raw, slop },
              { prefix: "title:", keepsStopWords: true, name: "the title of the page" }
            ),
            "narrower",
            "Firehose searches the title of the page itself, X the titles of all linked pages"
          )
        case "x.url":
          return address(words, raw)
        default:
          return unsupported(field)
      }
    }
    case "Equals":
      return equals(predicate.field, predicate.value, positive)
    case "Contains":
      return caseSensitive(
        `url:*${escapeTerm(predicate.text)}*`,
        hasLetters(predicate.text),
        "The same text in the address of the page"
      )
    case "NumberRange":
      return impossible("Pages have no author with follower, post or list counts")
    case "Sample":
      return impossible("Firehose has no sampling")
    case "Radius":
    case "Box":
      return impossible(NO_LOCATION)
    default:
      return unsupported("field" in predicate ? predicate.field : undefined)
  }
}

/** The text of an X clause. */
export const rawTextOfX: TranslationTarget["rawText"] = (source) => {
  const ast = parse(source, { fixes: "none" }).rule?.ast
  if (ast === undefined || ast._tag === "And" || ast._tag === "Or" || ast._tag === "Not") {
    return undefined
  }
  return ast._tag === "Operator" ? ast.value : ast.text
}

// ---- helpers ----

const NO_LOCATION = "Firehose has no page locations"

const addedText = { prefix: "", keepsStopWords: false, name: "the added text of the page" }

function equals(field: Field, value: string, positive: boolean): ClauseTranslation {
  switch (field) {
    case "x.lang": {
      const codes = toFirehoseLanguages(value)
      if (codes.length === 0) {
        return impossible(`Firehose does not support the language "${value}"`)
      }
      const reason =
        codes.length === 1
          ? `The same language: "${codes[0]}" on Firehose`
          : "Posts have one language code for both Chinese scripts, pages have one for each"
      return exact(
        codes.map((code) => `language:${code}`),
        reason
      )
    }
    case "x.hashtag":
    case "x.cashtag": {
      const translation = wordsToFirehose({ words: [value], raw: value, slop: 0 }, addedText)
      const reason = "Firehose has no tags, so the plain word matches too"
      return "impossible" in translation ? translation : { ...translation, wider: true, narrower: false, reason }
    }
    case "bluesky.domain":
      return exact([`domain:${value}`], "The same host, of the page itself")
    case "x.is": {
      const kind = kindsOfPost.get(value)
      if (kind === undefined) {
        return unsupported(field)
      }
      return positive
        ? impossible(`A page is never ${kind}`)
        : exact([], `A page is never ${kind}, so there is nothing to exclude`)
    }
    default:
      return unsupported(field)
  }
}

/** Values of `is:` that no page has. */
const kindsOfPost: ReadonlyMap<string, string> = new Map([
  ["retweet", "a retweet"],
  ["reply", "a reply"],
  ["quote", "a quote of a post"],
  ["nullcast", "an ads-only post"]
])

/** A host name becomes `domain:`, anything else a regular expression with word boundaries. */
function address(words: ReadonlyArray<string>, raw: string): ClauseTranslation {
  if (!words.every((word) => /^[a-z0-9]+$/.test(word))) {
    return impossible("Firehose cannot search for these words in an address")
  }
  const host = /^(?:https?:\/\/)?(?:www\.)?((?:[a-z0-9-]+\.)+[a-z]{2,})\/?$/i.exec(raw)?.[1]
  if (host !== undefined && !fileEnding.test(host)) {
    const reason = "Matches pages of the site itself, not every address that contains its name"
    return { ...exact([`domain:${host.toLowerCase()}`], reason), narrower: true }
  }
  return caseSensitive(
    `url:/(.*${SEPARATOR})?${words.join(`${SEPARATOR}+`)}(${SEPARATOR}.*)?/`,
    words.some(hasLetters),
    "The same words in the address"
  )
}

/** Distinguishes file names such as `index.html` from host names. */
const fileEnding = /\.(aspx?|css|gif|html?|jpe?g|js|json|jsp|md|mp[34]|pdf|php|png|svg|txt|xml)$/i

/** Between two words of an address. */
const SEPARATOR = "[^a-zA-Z0-9]"

/** Only letters make the case-sensitive comparison differ from X's. */
function caseSensitive(text: string, letters: boolean, reason: string): ClauseTranslation {
  return letters
    ? { ...exact([text], "Firehose compares addresses case-sensitively, X does not"), narrower: true }
    : exact([text], reason)
}

function hasLetters(text: string): boolean {
  return text.toLowerCase() !== text.toUpperCase()
}

function unsupported(field: string | undefined): ClauseTranslation {
  const reason = reasons.find(([pattern]) => pattern.test(field ?? ""))
  return impossible(reason?.[1] ?? "Firehose has no equivalent")
}

const reasons: ReadonlyArray<readonly [RegExp, string]> = [
  [/^x\.(from|to|retweets_of|from_affiliate_of|to_affiliate_of|mention)$/, "Firehose has no accounts"],
  [/^x\.bio/, "Pages have no author with a profile"],
  [/^x\.(place|place_id|place_country)$/, NO_LOCATION],
  [/^x\.url_description$/, "Firehose has no page descriptions"],
  [/^x\.(context|entity)$/, "Firehose has no annotations"],
  [/^x\.(conversation_id|in_reply_to_tweet_id|retweets_of_tweet_id)$/, "Firehose has no posts"],
  [/^x\.source$/, "Pages have no source app"],
  [/^x\.has$/, "Firehose has no fields for the contents of a page"],
  [/^x\.is$/, "Pages have no verified authors"]
]
