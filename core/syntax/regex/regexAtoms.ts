/** Reads the parts of a pattern that hold no other part: characters, classes of them, strings and spans of numbers. */
import type { RegexCursor } from "./regexCursor.ts"
import { type CharacterRange, nothing, type Sized } from "./regexTree.ts"

/** Character := "\" any | any */
export const readCharacter = (cursor: RegexCursor): Sized => {
  const text = oneCharacter(cursor, false)
  return text === undefined ? nothing : { node: { _tag: "Literal", text }, size: 1 }
}

/** Class := "[" [ "^" ] ( character [ "-" character ] )+ "]" */
export const readClass = (cursor: RegexCursor): Sized => {
  const open = cursor.at
  cursor.at++
  const negated = cursor.pattern[cursor.at] === "^"
  if (negated) {
    cursor.at++
  }
  const ranges: Array<CharacterRange> = []
  while (!cursor.failed && cursor.at < cursor.pattern.length && cursor.pattern[cursor.at] !== "]") {
    const start = cursor.at
    const from = oneCharacter(cursor, true)?.codePointAt(0)
    let to = from
    if (!cursor.failed && cursor.pattern[cursor.at] === "-") {
      cursor.at++
      to = cursor.pattern[cursor.at] === "]" ? undefined : oneCharacter(cursor, true)?.codePointAt(0)
      if (!cursor.failed && to === undefined) {
        cursor.error(
          "regex-syntax",
          cursor.at - 1,
          cursor.at,
          'A "-" in brackets stands between two characters; write \\- for the character',
          {
            message: 'Put a backslash before "-"',
            text: "\\-"
          }
        )
      }
    }
    if (from === undefined || to === undefined) {
      return nothing
    }
    if (from > to) {
      cursor.error("regex-syntax", start, cursor.at, "The first character of this range comes after the second", {
        message: "Swap the two",
        text: `${String.fromCodePoint(to)}-${String.fromCodePoint(from)}`
      })
    }
    ranges.push({ from, to })
  }
  if (cursor.failed) {
    return nothing
  }
  if (cursor.at >= cursor.pattern.length) {
    cursor.error("regex-syntax", open, open + 1, 'This "[" is never closed; write \\[ for the character')
    return nothing
  }
  if (ranges.length === 0) {
    cursor.error("regex-syntax", open, cursor.at + 1, "These brackets hold no character")
    return nothing
  }
  cursor.at++
  return { node: { _tag: "Class", negated, ranges }, size: 1 }
}

/** String := `"` any but `"` `"` */
export const readString = (cursor: RegexCursor): Sized => {
  const close = cursor.pattern.indexOf('"', cursor.at + 1)
  if (close === -1) {
    cursor.error(
      "regex-syntax",
      cursor.at,
      cursor.at + 1,
      'This quote is never closed in the pattern; write \\" for the character'
    )
    return nothing
  }
  const text = cursor.pattern.slice(cursor.at + 1, close)
  cursor.at = close + 1
  return text === "" ? nothing : { node: { _tag: "Literal", text }, size: text.length }
}

/** Interval := "<" n "-" m ">" */
export const readInterval = (cursor: RegexCursor): Sized => {
  const match = /^<([0-9]{1,9})-([0-9]{1,9})>/.exec(cursor.pattern.slice(cursor.at, cursor.at + 22))
  if (match === null) {
    cursor.error(
      "regex-syntax",
      cursor.at,
      cursor.at + 1,
      'A "<" opens a span of numbers such as <1-31>; write \\< for the character',
      {
        message: 'Put a backslash before "<"',
        text: "\\<"
      }
    )
    return nothing
  }
  cursor.at += match[0].length
  const low = match[1] ?? ""
  const high = match[2] ?? ""
  const from = Math.min(Number(low), Number(high))
  const to = Math.max(Number(low), Number(high))
  const digits = low.length === high.length ? low.length : 0
  return { node: { _tag: "Interval", from, to, digits }, size: 2 * Math.max(low.length, high.length) }
}

// ---- helpers ----

/** One character, escaped or not. */
const oneCharacter = (cursor: RegexCursor, inClass: boolean): string | undefined => {
  const start = cursor.at
  const isEscaped = cursor.pattern[start] === "\\"
  if (isEscaped) {
    cursor.at++
  }
  const point = cursor.pattern.codePointAt(cursor.at)
  if (point === undefined) {
    cursor.endOfPattern()
    return undefined
  }
  const text = String.fromCodePoint(point)
  cursor.at += text.length
  if (isEscaped && /[A-Za-z]/.test(text)) {
    const replacement = inClass ? classShorthands.get(text) : shorthands.get(text)
    cursor.error(
      replacement === undefined && !shorthands.has(text) ? "regex-escape" : "regex-shorthand",
      start,
      cursor.at,
      `"\\${text}" is not part of this dialect: list the characters in brackets`,
      replacement === undefined ? undefined : { message: `Write ${replacement}`, text: replacement }
    )
    return undefined
  }
  return text
}

const shorthands = new Map([
  ["d", "[0-9]"],
  ["D", "[^0-9]"],
  ["w", "[A-Za-z0-9_]"],
  ["W", "[^A-Za-z0-9_]"],
  ["s", "[ \t]"],
  ["S", "[^ \t]"]
])

const classShorthands = new Map([
  ["d", "0-9"],
  ["w", "A-Za-z0-9_"],
  ["s", " \t"]
])
