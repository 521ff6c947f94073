/** The tests that compare one value with a pattern, compiled once: wildcards, spelling distance, regular expressions, parts. */

import { literalsOf } from "../regex/literals.ts"
import { matcherOf } from "../regex/matcher.ts"
import { Budget } from "../regex/nfa.ts"
import { parseRegex } from "../regex/parser.ts"
import type { Predicate, WildcardSign } from "./expression.ts"

export interface Pattern {
  /** Whether the whole value (or token) fits. */
  readonly fits: (value: string) => boolean
  /** Every value that fits begins with this; empty if nothing is known. */
  readonly start: string
  /** Every value that fits holds each of these somewhere; none is empty. What the start holds itself is left out. */
  readonly inner: ReadonlyArray<string>
}

export type Patterned = Predicate & { readonly _tag: "Wildcard" | "Fuzzy" | "Regex" | "Contains" }

/** Compiled once for a predicate, and gone with it. */
export const patternOf = (predicate: Patterned): Pattern => {
  const known = patterns.get(predicate)
  if (known !== undefined) {
    return known
  }
  const pattern = compiled(predicate)
  patterns.set(predicate, pattern)
  return pattern
}

// ---- helpers ----

const patterns = new WeakMap<Patterned, Pattern>()

const compiled = (predicate: Patterned): Pattern => {
  switch (predicate._tag) {
    case "Wildcard":
      return wildcard(predicate.parts)
    case "Fuzzy":
      return { fits: withinEdits(predicate.word, predicate.distance), start: "", inner: [] }
    case "Regex":
      return regex(predicate.pattern)
    case "Contains": {
      const { text } = predicate
      return { fits: (value) => value.includes(text), start: "", inner: text === "" ? [] : [text] }
    }
  }
}

type Fits = Pattern["fits"]

/** A pattern that cannot be run fits nothing. */
const regex = (pattern: string): Pattern => {
  const { tree } = parseRegex(pattern)
  const runs = tree && matcherOf(tree, new Budget())
  if (tree === undefined || runs === undefined) {
    return { fits: () => false, start: "", inner: [] }
  }
  const { start, inner } = literalsOf(tree)
  return { fits: guarded(runs, start, inner), start, inner }
}

/** A search for a plain text is several times as fast as a pattern, and most values fail it. */
const guarded = (fits: Fits, start: string, inner: ReadonlyArray<string>): Fits => {
  const longest = inner.reduce((one, other) => (other.length > one.length ? other : one), "")
  return start === "" && longest === ""
    ? fits
    : (value) => value.startsWith(start) && value.includes(longest) && fits(value)
}

type WildcardParts = ReadonlyArray<string | WildcardSign>

const wildcard = (parts: WildcardParts): Pattern => {
  const texts = parts.filter((part) => typeof part === "string")
  const hasMark = parts.some((part) => typeof part !== "string" && part.sign === "?")
  const [first = ""] = parts
  const start = typeof first === "string" ? first : ""
  const inner = [...new Set(start === "" ? texts : texts.slice(1))].filter((text) => !start.includes(text))
  if (hasMark || texts.some(isTorn)) {
    return { fits: guarded(fitsByCharacter(parts), start, inner), start, inner }
  }
  return { fits: fitsSegments(segmentsOf(parts)), start, inner }
}

/** Half of a pair could be found inside a character. */
const isTorn = (text: string): boolean => /^[\udc00-\udfff]|[\ud800-\udbff]$/.test(text)

/** What stands before, between and after the stars. */
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
    // The leftmost place leaves the most room for what follows.
    let at = first.length
    for (const segment of middle) {
      const place = value.indexOf(segment, at)
      if (place === -1) {
        return false
      }
      at = place + segment.length
    }
    return at <= end
  }
}

const anyNumber = -1
const anyOne = -2

/** At most as many steps as the pattern has characters, for each character of the value. */
const fitsByCharacter = (parts: WildcardParts): Fits => {
  const signs = Int32Array.from(
    parts.flatMap((part) =>
      typeof part === "string"
        ? Array.from(part, (character) => character.codePointAt(0) ?? 0)
        : [part.sign === "*" ? anyNumber : anyOne]
    )
  )
  return (value) => {
    let at = 0
    let next = 0
    // Where to go on when the last * has to take one character more; earlier ones never have to.
    let star = -1
    let taken = 0
    while (at < value.length) {
      const sign = signs[next]
      const character = value.codePointAt(at) ?? 0
      if (sign === anyNumber) {
        star = next
        taken = at
        next++
      } else if (sign === anyOne || sign === character) {
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
    while (signs[next] === anyNumber) {
      next++
    }
    return next === signs.length
  }
}

/** One edit puts in, takes out or replaces a character, or makes two neighbours change places. */
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
    // Rows of the table of distances: only cells at most `distance` beside the diagonal can matter.
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
      // Two that change places cost one more than the row before last; replacing the first of them gave that here already.
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

/** One for all words: a comparison never waits in the middle. */
let scratch = scratchFor(64)
