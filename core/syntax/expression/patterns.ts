/** Compiles predicates on one value: wildcards, fuzzy words, regular expressions, substrings. */

import { finish, Pace, type Turns } from "../../work/turns.ts"
import { literalsOf } from "../regex/literals.ts"
import { matcherInTurns } from "../regex/matcher.ts"
import { Budget } from "../regex/nfa.ts"
import { parseRegex } from "../regex/parser.ts"
import type { Predicate, WildcardSign } from "./expression.ts"

export interface Pattern {
  /** Tests a whole value or token. */
  readonly fits: (value: string) => boolean
  /** Every matching value starts with this. Empty if unknown. */
  readonly prefix: string
  /** Every matching value contains each of these. Never empty strings, never substrings of `prefix`. */
  readonly substrings: ReadonlyArray<string>
  /** Estimated cost of `fits`: see `Pace`. */
  readonly stepsPerCharacter: number
  /** To be run before `fits`, which would otherwise take milliseconds the first time for a large pattern. */
  readonly prepare?: (pace: Pace) => Turns<void>
}

export type PatternPredicate = Predicate & { readonly _tag: "Wildcard" | "Fuzzy" | "Regex" | "Contains" }

/** Cached as long as the predicate lives. */
export const patternOf = (predicate: PatternPredicate): Pattern => finish(patternInTurns(predicate, new Pace()))

/** Compiling a large regular expression takes tens of milliseconds. */
export function* patternInTurns(predicate: PatternPredicate, pace: Pace): Turns<Pattern> {
  const cached = patterns.get(predicate)
  if (cached !== undefined) return cached
  const pattern = predicate._tag === "Regex" ? yield* regex(predicate.pattern, pace) : compile(predicate)
  patterns.set(predicate, pattern)
  return pattern
}

// ---- helpers ----

const patterns = new WeakMap<PatternPredicate, Pattern>()

const compile = (predicate: Exclude<PatternPredicate, { readonly _tag: "Regex" }>): Pattern => {
  switch (predicate._tag) {
    case "Wildcard":
      return wildcard(predicate.parts)
    case "Fuzzy":
      return {
        fits: withinEdits(predicate.word, predicate.distance),
        prefix: "",
        substrings: [],
        stepsPerCharacter: steps.fuzzy
      }
    case "Contains": {
      const { text } = predicate
      return {
        fits: (value) => value.includes(text),
        prefix: "",
        substrings: text === "" ? [] : [text],
        stepsPerCharacter: steps.literal
      }
    }
  }
}

type Fits = Pattern["fits"]

const steps = { literal: 1, fuzzy: 20, wildcard: 3 } as const

/** For each step per character: both grow with the pattern. */
const STEPS_OF_PREPARING = 1_000

/** Of each part of compiling. */
const STEPS_PER_PATTERN_CHARACTER = 1_000

/** A pattern that cannot be parsed or run matches nothing. */
function* regex(pattern: string, pace: Pace): Turns<Pattern> {
  const stepsOfPart = STEPS_PER_PATTERN_CHARACTER * pattern.length
  const { tree } = parseRegex(pattern)
  if (pace.endsTurn(stepsOfPart)) yield
  const budget = new Budget()
  const matcher = tree && (yield* inLargeTurns(matcherInTurns(tree, budget), stepsOfPart, pace))
  if (tree === undefined || matcher === undefined) {
    return { fits: () => false, prefix: "", substrings: [], stepsPerCharacter: 0 }
  }
  const { start: prefix, inner: substrings } = literalsOf(tree)
  const steps = STEPS_OF_PREPARING * budget.stepsPerCharacter
  let isPrepared = false
  return {
    fits: withLiteralCheck(matcher.matches, prefix, substrings),
    prefix,
    substrings,
    stepsPerCharacter: budget.stepsPerCharacter,
    *prepare(pace) {
      if (isPrepared) return
      if (pace.endsTurn(steps)) yield
      matcher.prepare()
      isPrepared = true
      if (pace.endsTurn(steps)) yield
    }
  }
}

/** Ends a turn where the work does, once enough was done. */
function* inLargeTurns<A>(work: Turns<A>, steps: number, pace: Pace): Turns<A> {
  let turn = work.next()
  for (; turn.done !== true; turn = work.next()) {
    if (pace.endsTurn(steps)) yield
  }
  if (pace.endsTurn(steps)) yield
  return turn.value
}

/** Checks literals first: a substring search is several times as fast as a pattern, and most values fail it. */
const withLiteralCheck = (fits: Fits, prefix: string, substrings: ReadonlyArray<string>): Fits => {
  const longest = substrings.reduce((one, other) => (other.length > one.length ? other : one), "")
  return prefix === "" && longest === ""
    ? fits
    : (value) => value.startsWith(prefix) && value.includes(longest) && fits(value)
}

type WildcardParts = ReadonlyArray<string | WildcardSign>

const wildcard = (parts: WildcardParts): Pattern => {
  const texts = parts.filter((part) => typeof part === "string")
  const hasQuestionMark = parts.some((part) => typeof part !== "string" && part.sign === "?")
  const [first = ""] = parts
  const prefix = typeof first === "string" ? first : ""
  const substrings = [...new Set(prefix === "" ? texts : texts.slice(1))].filter((text) => !prefix.includes(text))
  if (hasQuestionMark || texts.some(hasSplitSurrogate)) {
    return {
      fits: withLiteralCheck(fitsByCharacter(parts), prefix, substrings),
      prefix,
      substrings,
      stepsPerCharacter: steps.wildcard * wildcardLength(parts)
    }
  }
  return { fits: fitsSegments(segmentsOf(parts)), prefix, substrings, stepsPerCharacter: steps.literal }
}

const wildcardLength = (parts: WildcardParts): number =>
  parts.reduce((length, part) => length + (typeof part === "string" ? part.length : 1), 0)

/** Half of a surrogate pair could match inside a character. */
const hasSplitSurrogate = (text: string): boolean => /^[\udc00-\udfff]|[\ud800-\udbff]$/.test(text)

/** The literals before, between and after the stars. */
const segmentsOf = (parts: WildcardParts): ReadonlyArray<string> => {
  const segments = [""]
  for (const part of parts) {
    if (typeof part === "string") {
      segments.push((segments.pop() ?? "") + part)
    } else {
      segments.push("")
    }
  }
  return segments
}

const fitsSegments = (segments: ReadonlyArray<string>): Fits => {
  const first = segments[0] ?? ""
  if (segments.length === 1) {
    return (value) => value === first
  }
  const last = segments.at(-1) ?? ""
  const middle = segments.slice(1, -1).filter((segment) => segment !== "")
  const [only = ""] = middle
  if (middle.length <= 1 && first === "" && last === "") {
    return (value) => value.includes(only)
  }
  if (middle.length === 0 && last === "") {
    return (value) => value.startsWith(first)
  }
  if (middle.length === 0 && first === "") {
    return (value) => value.endsWith(last)
  }
  return (value) => {
    const end = value.length - last.length
    if (end < first.length || !value.startsWith(first) || !value.endsWith(last)) {
      return false
    }
    // The leftmost occurrence leaves the most room for the rest.
    let at = first.length
    for (const segment of middle) {
      const found = value.indexOf(segment, at)
      if (found === -1) {
        return false
      }
      at = found + segment.length
    }
    return at <= end
  }
}

const ANY_STRING = -1
const ANY_CHARACTER = -2

/** Takes at most (pattern length) steps per character of the value. */
const fitsByCharacter = (parts: WildcardParts): Fits => {
  const signs = Int32Array.from(
    parts.flatMap((part) =>
      typeof part === "string"
        ? Array.from(part, (character) => character.codePointAt(0) ?? 0)
        : [part.sign === "*" ? ANY_STRING : ANY_CHARACTER]
    )
  )
  return (value) => {
    let at = 0
    let next = 0
    // Backtracking point: only the last * ever has to take one more character.
    let star = -1
    let taken = 0
    while (at < value.length) {
      const sign = signs[next]
      const character = value.codePointAt(at) ?? 0
      if (sign === ANY_STRING) {
        star = next
        taken = at
        next++
      } else if (sign === ANY_CHARACTER || sign === character) {
        at += character > 0xffff ? 2 : 1
        next++
      } else if (star >= 0) {
        taken += (value.codePointAt(taken) ?? 0) > 0xffff ? 2 : 1
        at = taken
        next = star + 1
      } else {
        return false
      }
    }
    while (signs[next] === ANY_STRING) {
      next++
    }
    return next === signs.length
  }
}

/** Optimal string alignment distance: insert, delete, replace, or swap two neighbours. */
const withinEdits = (word: string, distance: number): Fits => {
  const a = Int32Array.from(word, (character) => character.codePointAt(0) ?? 0)
  const longest = a.length + distance
  const tooMany = distance + 1
  if (scratch.value.length < longest) {
    scratch = scratchFor(longest)
  }
  return (value) => {
    if (value === word) {
      return true
    }
    if (distance === 0 || value.length < a.length - distance || value.length > 2 * longest) {
      return false
    }
    const { value: b } = scratch
    let length = 0
    for (let at = 0; at < value.length; length++) {
      if (length === longest) {
        return false
      }
      const character = value.codePointAt(at) ?? 0
      b[length] = character
      at += character > 0xffff ? 2 : 1
    }
    if (length < a.length - distance) {
      return false
    }
    // Rows of the distance table. Only cells within `distance` of the diagonal matter.
    let { beforeLast, last, row } = scratch
    for (let j = 0; j <= tooMany; j++) {
      last[j] = j
    }
    for (let i = 1; i <= a.length; i++) {
      const from = Math.max(1, i - distance)
      const to = Math.min(length, i + distance)
      row[from - 1] = from === 1 ? Math.min(i, tooMany) : tooMany
      let least = row[from - 1] ?? 0
      for (let j = from; j <= to; j++) {
        const isSame = a[i - 1] === b[j - 1]
        let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1))
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
          edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1)
        }
        row[j] = Math.min(edits, tooMany)
        least = Math.min(least, edits)
      }
      row[to + 1] = tooMany
      // A swap costs one more than a cell two rows up, which a replacement already reached: no row below can be
      // cheaper.
      if (least > distance) {
        return false
      }
      const free = beforeLast
      beforeLast = last
      last = row
      row = free
    }
    return (last[length] ?? tooMany) <= distance
  }
}

const scratchFor = (length: number) => ({
  value: new Int32Array(length),
  beforeLast: new Uint8Array(length + 2),
  last: new Uint8Array(length + 2),
  row: new Uint8Array(length + 2)
})

/** Shared by all words: comparisons never interleave. */
let scratch = scratchFor(64)
