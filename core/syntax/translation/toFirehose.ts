/** What a clause of X becomes in Firehose's language. */
import type { Field, Predicate } from "../expression/expression.ts"
import { escapeTerm } from "../firehose/printer.ts"
import type { Leaf as XLeaf } from "../x/ast.ts"
import { parse } from "../x/language.ts"
import { type Carried, impossible } from "./carried.ts"
import { toFirehoseLanguages } from "./languages.ts"
import { wordsToFirehose } from "./words.ts"

/** `source` is the clause as it stands in the rule, `positive` whether it is asked for rather than excluded. */
export const toFirehose = (predicate: Predicate, source: string, positive: boolean): Carried => {
  switch (predicate._tag) {
    case "Phrase": {
      const { field, words, slop } = predicate
      const raw = writtenText(source) ?? words.join(" ")
      switch (field) {
        case "x.text":
          return wordsToFirehose(
            { words, raw, slop },
            { prefix: "", keepsStopWords: false, place: "the text that a page gained" }
          )
        case "x.url_title": {
          const carried = wordsToFirehose(
            { words, raw, slop },
            { prefix: "title:", keepsStopWords: true, place: "the title of the page" }
          )
          return "impossible" in carried
            ? carried
            : { ...carried, narrower: true, reason: titleReason(carried.wider || carried.narrower, carried.reason) }
        }
        case "x.url":
          return address(words, raw)
        default:
          return impossible(unknown(field))
      }
    }
    case "Equals":
      return equals(predicate.field, predicate.value, positive)
    case "Contains":
      return {
        ...written(`url:*${escapeTerm(predicate.text)}*`),
        narrower: hasLetters(predicate.text),
        reason: hasLetters(predicate.text)
          ? "Firehose compares addresses with their case, X without"
          : "The same characters in the address of the page"
      }
    case "NumberRange":
      return impossible("Pages have no author with followers, posts or lists")
    case "Sample":
      return impossible("Firehose has no way to draw a share of all pages")
    case "Radius":
    case "Box":
      return impossible("Firehose does not know where a page was written")
    default:
      return impossible(unknown("field" in predicate ? predicate.field : undefined))
  }
}

// ---- helpers ----

function equals(field: Field, value: string, positive: boolean): Carried {
  switch (field) {
    case "x.lang": {
      const codes = toFirehoseLanguages(value)
      if (codes.length === 0) {
        return impossible(`Firehose does not recognise the language "${value}"`)
      }
      return {
        ...written(...codes.map((code) => `language:${code}`)),
        reason:
          codes.length === 1
            ? `The same language, which Firehose calls "${codes[0]}"`
            : "Posts carry one code for both scripts of Chinese, pages one for each"
      }
    }
    case "x.hashtag":
    case "x.cashtag": {
      const carried = wordsToFirehose(
        { words: [value], raw: value, slop: 0 },
        { prefix: "", keepsStopWords: false, place: "" }
      )
      return "impossible" in carried
        ? carried
        : { ...carried, wider: true, narrower: false, reason: "Firehose knows no tags, so the plain word fits too" }
    }
    case "x.is": {
      const kind = notOnPages.get(value)
      if (kind === undefined) {
        return impossible(unknown(field))
      }
      return positive
        ? impossible(`A page is never ${kind}`)
        : { ...written(), reason: `A page is never ${kind}, so there is nothing to leave out` }
    }
    default:
      return impossible(unknown(field))
  }
}

const notOnPages: ReadonlyMap<string, string> = new Map([
  ["retweet", "a retweet"],
  ["reply", "a reply"],
  ["quote", "a quote of a post"],
  ["nullcast", "a post made for ads only"]
])

/** Words of an address. A host name becomes the site; anything else a pattern that keeps the bounds of words. */
function address(words: ReadonlyArray<string>, raw: string): Carried {
  if (!words.every((word) => /^[a-z0-9]+$/.test(word))) {
    return impossible("Firehose cannot look for these words in an address")
  }
  const host = /^(?:https?:\/\/)?(?:www\.)?((?:[a-z0-9-]+\.)+[a-z]{2,})\/?$/i.exec(raw)?.[1]
  if (host !== undefined && !fileEnding.test(host)) {
    const reason = "Only pages of the site itself, not every address in which its name occurs"
    return { ...written(`domain:${host.toLowerCase()}`), narrower: true, reason }
  }
  const letters = words.some(hasLetters)
  return {
    ...written(`url:/(.*${gap})?${words.join(`${gap}+`)}(${gap}.*)?/`),
    narrower: letters,
    reason: letters ? "Firehose compares addresses with their case, X without" : "The same words in the address"
  }
}

/** A name with such an ending is that of a file. */
const fileEnding = /\.(aspx?|css|gif|html?|jpe?g|js|json|jsp|md|mp[34]|pdf|php|png|svg|txt|xml)$/i

/** What stands between the words of an address. */
const gap = "[^a-zA-Z0-9]"

function titleReason(changed: boolean, reason: string): string {
  const own = "Firehose looks at the page itself, X at every page that a post links to"
  return changed ? `${own}; ${reason}` : own
}

function written(...texts: ReadonlyArray<string>) {
  return { join: "Or", texts, anchor: true, wider: false, narrower: false, reason: "" } as const
}

function hasLetters(text: string): boolean {
  return text.toLowerCase() !== text.toUpperCase()
}

/** The words of the clause as the rule wrote them, signs included, which the tree no longer holds. */
function writtenText(source: string): string | undefined {
  const ast = parse(source).rule?.ast
  if (ast === undefined || ast._tag === "And" || ast._tag === "Or" || ast._tag === "Not") {
    return undefined
  }
  return textOf(ast)
}

function textOf(leaf: XLeaf): string {
  return leaf._tag === "Operator" ? leaf.value : leaf.text
}

function unknown(field: Field | undefined): string {
  const reason = reasons.find(([pattern]) => pattern.test(field ?? ""))
  return reason?.[1] ?? "Firehose has nothing like it"
}

const reasons: ReadonlyArray<readonly [RegExp, string]> = [
  [/^x\.(from|to|retweets_of|from_affiliate_of|to_affiliate_of|mention)$/, "Firehose has no accounts"],
  [/^x\.bio/, "Pages have no author with a profile"],
  [/^x\.(place|place_id|place_country)$/, "Firehose does not know where a page was written"],
  [/^x\.url_description$/, "Firehose does not hold the description of a page"],
  [/^x\.(context|entity)$/, "Firehose has no annotations of X"],
  [/^x\.(conversation_id|in_reply_to_tweet_id|retweets_of_tweet_id)$/, "Firehose has no posts to refer to"],
  [/^x\.source$/, "Pages are not made with an app of X"],
  [/^x\.has$/, "Firehose does not say what a page carries"],
  [/^x\.is$/, "Pages have no author to be verified"]
]
