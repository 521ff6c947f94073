/** Parses the atoms of a pattern: characters, character classes, quoted strings and number ranges. */
import { type Cursor, escapeSign } from "./cursor.ts"
import { type CharacterRange, empty, type Sized } from "./tree.ts"

/** Character := "\" any | any */
export const readCharacter = (cursor: Cursor): Sized => {
  const text = oneCharacter(cursor, false)
  return text === undefined ? empty : { node: { _tag: "Literal", text }, size: 1 }
}

/** Class := "[" [ "^" ] ( character [ "-" character ] )+ "]" */
export const readClass = (cursor: Cursor): Sized => {
  const open = cursor.at
  cursor.at++
  const negated = cursor.peek() === "^"
  if (negated) cursor.at++
  const ranges: Array<CharacterRange> = []
  while (!cursor.isAtEnd && cursor.peek() !== "]") {
    const range = readRange(cursor)
    if (range === undefined) return empty
    ranges.push(range)
  }
  if (cursor.isAtEnd) {
    return cursor.error("regex-syntax", open, open + 1, 'This "[" is never closed; write \\[ for the character')
  }
  if (ranges.length === 0) {
    return cursor.error("regex-syntax", open, cursor.at + 1, "These brackets are empty")
  }
  cursor.at++
  return { node: { _tag: "Class", negated, ranges }, size: 1 }
}

/** String := `"` any but `"` `"` */
export const readString = (cursor: Cursor): Sized => {
  const start = cursor.at
  const close = cursor.pattern.indexOf('"', start + 1)
  if (close === -1) {
    const message = 'This quote is never closed in the pattern; write \\" for the character'
    return cursor.error("regex-syntax", start, start + 1, message)
  }
  const text = cursor.pattern.slice(start + 1, close)
  cursor.at = close + 1
  return text === "" ? empty : { node: { _tag: "Literal", text }, size: text.length }
}

/** Interval := "<" n "-" m ">" */
export const readInterval = (cursor: Cursor): Sized => {
  const match = /^<([0-9]{1,9})-([0-9]{1,9})>/.exec(cursor.pattern.slice(cursor.at, cursor.at + 22))
  if (match === null) {
    const message = 'A "<" starts a number range such as <1-31>; write \\< for the character'
    return cursor.error("regex-syntax", cursor.at, cursor.at + 1, message, escapeSign("<"))
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

/** `undefined` after an error. */
const readRange = (cursor: Cursor): CharacterRange | undefined => {
  const start = cursor.at
  const from = oneCharacter(cursor, true)?.codePointAt(0)
  if (from === undefined || cursor.peek() !== "-") return from === undefined ? undefined : { from, to: from }
  cursor.at++
  if (cursor.peek() === "]") {
    const message = 'A "-" in brackets needs a character on each side; write \\- for the character'
    cursor.error("regex-syntax", cursor.at - 1, cursor.at, message, escapeSign("-"))
    return undefined
  }
  const to = oneCharacter(cursor, true)?.codePointAt(0)
  if (to === undefined || from <= to) return to === undefined ? undefined : { from, to }
  cursor.error("regex-syntax", start, cursor.at, "The first character of this range comes after the second", {
    message: "Swap the two characters",
    text: `${String.fromCodePoint(to)}-${String.fromCodePoint(from)}`
  })
  return undefined
}

/** One character, escaped or not; `undefined` after an error. */
const oneCharacter = (cursor: Cursor, inClass: boolean): string | undefined => {
  const start = cursor.at
  const isEscaped = cursor.peek() === "\\"
  if (isEscaped) cursor.at++
  const point = cursor.pattern.codePointAt(cursor.at)
  if (point === undefined) {
    cursor.unexpectedEnd()
    return undefined
  }
  const text = String.fromCodePoint(point)
  cursor.at += text.length
  if (!isEscaped || !/[A-Za-z]/.test(text)) return text
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
