/** Checks the values of text fields, numbers, ages and patterns. */

import type { Turns } from "../../work/turns.ts"
import type { Span } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import { matcherInTurns } from "../regex/matcher.ts"
import type { Budget } from "../regex/nfa.ts"
import { parseRegex } from "../regex/parser.ts"
import type { Group, Query, Regex, Term } from "./ast.ts"
import type { KeywordFieldInfo, NumberFieldInfo, TextFieldInfo } from "./fieldSet.ts"
import { parseAge } from "./leaves.ts"
import { quotePhrase } from "./printer.ts"
import { quoted } from "./quoted.ts"
import { analyse, isPlainWord } from "./tokens.ts"

/** A term of several words in a text field. */
export interface SplitTerm {
  readonly text: string
  readonly span: Span
  readonly field: TextFieldInfo
  readonly words: ReadonlyArray<string>
}

/** Adds to `splitTerms`. */
export const checkText = (
  report: Report,
  query: Exclude<Query, Group>,
  field: TextFieldInfo,
  splitTerms: Array<SplitTerm>
): void => {
  const { start, end } = query.value
  switch (query._tag) {
    case "Term":
      checkTerm(report, query, field, splitTerms)
      return
    case "Phrase":
      if (query.slop > 0 && analyse(query.text, field.keepsStopWords).words.length < 2) {
        report.warning(
          "ignored-suffix",
          end,
          query.span.end,
          "This has no effect after a phrase of one word; a fuzzy word has no quotes",
          { fix: report.fix("Remove it", end, query.span.end, "") }
        )
      }
      if (query.text.includes("*")) {
        report.warning("quoted-wildcard", start, end, 'Inside quotes "*" is not a wildcard and is ignored', {
          expected: ["word*"]
        })
      }
      return
    case "Wildcard":
      if (query.parts.some((part) => typeof part === "string" && nonWordCharacter.test(part))) {
        warnAcrossWords(report, start, end)
      }
      return
    case "Fuzzy":
      if (nonWordCharacter.test(query.text)) {
        warnAcrossWords(report, start, end)
      } else if ([...query.text].length <= query.distance) {
        report.warning(
          "fuzzy-short",
          start,
          query.span.end,
          "The distance is at least the length of the word: nearly any short word matches",
          { expected: [query.text] }
        )
      }
      return
    default:
      return
  }
}

/** `canQuote`: the rule is valid with the term in quotes. */
export const warnSplit = (report: Report, { text, span, words }: SplitTerm, canQuote: boolean): void => {
  const { start, end } = span
  const phrase = quotePhrase(text)
  const advice = canQuote ? "quote it" : "shorten the rule and quote this part"
  report.warning(
    "split-term",
    start,
    end,
    `${quoted(text)} is read as the words ${listOf(words)}, and any one of them matches: ${advice} to require them together`,
    canQuote ? { expected: [phrase], fix: report.fix("Quote it", start, end, phrase) } : undefined
  )
}

export const checkNumber = (report: Report, query: Exclude<Query, Group>, field: NumberFieldInfo): void => {
  const { start, end } = query.value
  switch (query._tag) {
    case "Term":
    case "Phrase": {
      const comparison = /^(>=|<=|>|<)\s*([0-9]+(?:\.[0-9]+)?)$/.exec(query.text)
      if (comparison !== null) {
        const [, sign = "", value = ""] = comparison
        const range = sign.startsWith(">")
          ? `${sign === ">=" ? "[" : "{"}${value} TO *]`
          : `[* TO ${value}${sign === "<=" ? "]" : "}"}`
        report.error("comparison", start, end, `"${sign}" is not part of this language: write a range`, {
          expected: [range],
          fix: report.fix("Write a range", start, end, range)
        })
        return
      }
      checkValue(report, query.text, start, end, field)
      return
    }
    case "Range": {
      const from =
        query.from && checkValue(report, query.from.text, query.from.span.start, query.from.span.end, field, "from")
      const to = query.to && checkValue(report, query.to.text, query.to.span.start, query.to.span.end, field, "to")
      if (from !== undefined && to !== undefined) {
        checkOrder(report, query, from > to, from === to)
      }
      return
    }
    default:
      return
  }
}

export const checkOrder = (
  report: Report,
  query: Query & { readonly _tag: "Range" },
  isReversed: boolean,
  isSame: boolean
): void => {
  const { start, end } = query.value
  if (isReversed && query.from !== undefined && query.to !== undefined) {
    const from = report.text.slice(query.from.span.start, query.from.span.end)
    const to = report.text.slice(query.to.span.start, query.to.span.end)
    const open = report.text.charAt(start)
    const close = report.text.charAt(end - 1)
    report.error("reversed-range", start, end, "The range is empty: its end is before its start", {
      expected: [`${open}${to} TO ${from}${close}`],
      fix: report.fix("Swap the two ends", start, end, `${open}${to} TO ${from}${close}`)
    })
  } else if (isSame && !(query.includesFrom && query.includesTo)) {
    report.error("empty-range", start, end, "The range is empty: it excludes its only value", {
      fix: report.fix("Include both ends", start, end, `[${report.text.slice(start + 1, end - 1)}]`)
    })
  }
}

/** Reports a `recent:` value that is not an age. */
export const rejectRecentValue = (report: Report, query: Query): void => {
  const start = query._tag === "Group" ? query.span.start : query.value.start
  const end = query._tag === "Group" ? query.span.end : query.value.end
  const text = query._tag === "Term" || query._tag === "Phrase" ? query.text : ""
  const age = suggestAge(text)
  report.error(
    "recent-value",
    start,
    end,
    "The age limit recent: takes a whole number above 0 and h (hours), d (days) or mo (months)",
    {
      expected: ["recent:24h", "recent:7d", "recent:3mo"],
      fix: age === undefined ? undefined : report.fix(`Write ${age}`, start, end, age)
    }
  )
}

export function* checkPattern(
  report: Report,
  budget: Budget,
  query: Regex,
  field: TextFieldInfo | KeywordFieldInfo
): Turns<void> {
  const base = query.value.start + 1
  const { tree, issues } = parseRegex(query.pattern)
  for (const { severity, code, start, end, message, replacement } of issues) {
    const fix = replacement && report.fix(replacement.message, base + start, base + end, replacement.text)
    if (severity === "error") {
      report.error(code, base + start, base + end, message, { fix })
    } else {
      report.warning(code, base + start, base + end, message, { fix })
    }
  }
  // Reported once per rule: after it, every further pattern would exceed the budget too.
  if (tree !== undefined && !budget.isSpent && (yield* matcherInTurns(tree, budget)) === undefined) {
    const { start, end } = query.value
    report.error(
      "regex-too-large",
      start,
      end,
      `The patterns of the rule need ${budget.excess}: use fewer patterns, "~", "&" and repeats, or split it into several rules`
    )
    return
  }
  if (field.kind !== "keyword" || field.format !== "url" || tree === undefined || issues.length > 0) return
  const first = tree._tag === "Concat" ? tree.parts[0] : tree
  if (first?._tag === "Literal" && !first.text.startsWith("h")) {
    const { start, end } = query.value
    const tail = query.pattern.endsWith(".*") ? "" : ".*"
    report.warning("regex-anchored", start, end, "The pattern must match the whole address, which begins with http", {
      expected: [`/.*${query.pattern}${tail}/`],
      fix: report.fix("Allow any text around it", start, end, `/.*${query.pattern}${tail}/`)
    })
  }
}

// ---- helpers ----

/** A character that no word contains. */
const nonWordCharacter = /[^\p{L}\p{N}\p{M}_.':,;’·]/u

const warnAcrossWords = (report: Report, start: number, end: number): void => {
  report.warning(
    "pattern-across-words",
    start,
    end,
    "The pattern is matched against single words, and no word contains these characters: it never matches",
    { expected: ["a pattern for a single word"] }
  )
}

const checkTerm = (report: Report, query: Term, field: TextFieldInfo, splitTerms: Array<SplitTerm>): void => {
  const { text, value: span } = query
  const { start, end } = span
  const isBare = query.field === undefined
  if (isPlainWord(text)) return
  const first = text.charCodeAt(0)
  if (first === 0x24 && isBare && /^\$[A-Za-z]/.test(text)) {
    const isCashtag = /^\$[A-Z]{1,5}$/.test(text)
    report.error(
      "dashboard-filter",
      start,
      end,
      `${quoted(text)} is a filter of the Firehose dashboard, which is not available here: write out its clauses`,
      {
        expected: ["the clauses of the filter", `"${text}"`],
        fix: isCashtag ? report.fix("Search for the symbol as a word", start, end, text.slice(1)) : undefined
      }
    )
    return
  }
  if (/^"|"$/.test(text)) {
    report.error(
      "escaped-quotes",
      start,
      end,
      "An escaped quote is part of the word: JSON needs the backslash, the rule does not",
      {
        expected: ['"…"'],
        fix: report.fixEverywhere("Write the quotes without backslashes", /\\"/g, '"')
      }
    )
    return
  }
  if (/^[“”„‟«»]|[“”„‟«»]$/.test(text)) {
    const close = /[“”„‟«»]/.exec(report.text.slice(start + 1))
    report.error(
      "curly-quotes",
      start,
      close === null ? end : Math.max(end, start + close.index + 2),
      "A phrase needs straight double quotes; these are part of the words",
      { expected: ['"…"'], fix: report.fixEverywhere("Write straight quotes", /[“”„‟«»]/g, '"') }
    )
    return
  }
  if (/^（|）$/.test(text)) {
    report.warning("full-width-parentheses", start, end, "Full-width parentheses do not group clauses", {
      expected: ["(…)"],
      fix: report.fixEverywhere("Write ( and )", /[（）]/g, (char) => (char === "（" ? "(" : ")"))
    })
    return
  }
  if (/[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f]/.test(text)) {
    report.error("unusual-space", start, end, "This Unicode space does not separate clauses", {
      fix: report.fixEverywhere("Write plain spaces", /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f]/g, " ")
    })
    return
  }
  if (/&&|\|\|/.test(text)) {
    const spaced = report.text
      .slice(start, end)
      .replace(/\s*(&&|\|\|)\s*/g, " $1 ")
      .trim()
    report.warning("glued-operator", start, end, "Without spaces around it, this operator is part of the word", {
      expected: ["a && b", "a || b"],
      fix: report.fix("Put spaces around the operator", start, end, spaced)
    })
    return
  }
  const { words } = analyse(text, true)
  if (words.length > 1) {
    splitTerms.push({ text, span, field, words })
  } else if (/[#@+$%&=<>|*?]/.test(text)) {
    report.warning(
      "punctuation-ignored",
      start,
      end,
      `Punctuation is ignored: ${quoted(text)} is searched as ${listOf(words)}`
    )
  }
}

const listOf = (words: ReadonlyArray<string>): string =>
  [
    ...words.slice(0, MAX_LISTED_WORDS).map((word) => `"${word}"`),
    ...(words.length > MAX_LISTED_WORDS ? ["…"] : [])
  ].join(", ")

const MAX_LISTED_WORDS = 4

const checkValue = (
  report: Report,
  text: string,
  start: number,
  end: number,
  field: NumberFieldInfo,
  side?: "from" | "to"
): number | undefined => {
  const { name, range } = field
  const allowed = range === undefined ? "a number" : `a number from 0 to ${range.max}`
  if (!/^-?[0-9]+(\.[0-9]+)?$/.test(text)) {
    report.error("not-a-number", start, end, `${quoted(text)} is not a number`, { expected: [allowed] })
    return undefined
  }
  const value = Number(text)
  if (range !== undefined && (value < 0 || value > range.max)) {
    const clamped = value < 0 && side === "from" ? "0" : value > range.max && side === "to" ? `${range.max}` : undefined
    report.error(`${name}-out-of-range`, start, end, `${range.name} ranges from 0 to ${range.max}`, {
      expected: [allowed],
      fix: clamped === undefined ? undefined : report.fix(`Write ${clamped}`, start, end, clamped)
    })
    return undefined
  }
  return value
}

const ageUnits: ReadonlyArray<readonly [RegExp, (amount: number) => string]> = [
  [/^(h|hr|hrs|hours?|std)$/, (n) => `${n}h`],
  [/^(d|days?)$/, (n) => `${n}d`],
  [/^(w|wk|weeks?)$/, (n) => `${n * 7}d`],
  [/^(mo|mos|mon|months?)$/, (n) => `${n}mo`],
  [/^(y|yr|years?)$/, (n) => `${n * 12}mo`]
]

const suggestAge = (text: string): string | undefined => {
  const match = /^"?([0-9]{1,6})\s*([a-z]+)"?$/.exec(text.toLowerCase())
  const unit = ageUnits.find(([names]) => names.test(match?.[2] ?? ""))
  const age = unit?.[1](Number(match?.[1]))
  return age !== undefined && parseAge(age) !== undefined ? age : undefined
}
