/**
 * Finds the numbers of a JSON text that would not be stored as they were written: a double cannot hold them, or the
 * store would write them out in far more digits.
 */
import { truncated } from "./truncated.ts"

export interface BadNumber {
  readonly text: string
  /** The keys and indexes that lead to it. */
  readonly path: ReadonlyArray<string | number>
  readonly problem: string
}

/** Expects valid JSON. Undefined if all numbers can be stored. Fractions may be rounded. */
export const numberProblem = (json: string): string | undefined => {
  const found = findBadNumber(json)
  return found === undefined ? undefined : describeBadNumber(found)
}

export const describeBadNumber = ({ text, path, problem }: BadNumber): string => {
  const place = path.length === 0 ? "" : ` at "${truncated(path.slice(0, MAX_SHOWN).join("."), MAX_SHOWN)}"`
  return `The number ${truncated(text, MAX_SHOWN)}${place} ${problem}: send it as a string`
}

/** The first one. Expects valid JSON. */
export const findBadNumber = (json: string): BadNumber | undefined => {
  if (!maybeProblem.test(json)) return undefined
  let growth = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(json, at)
    } else if (code === MINUS || isDigit(code)) {
      const number = readNumber(json, at)
      growth += Math.max(0, Math.abs(number.exponent) - (number.end - at))
      const problem = growth > MAX_GROWTH ? TOO_MANY_DIGITS : problemOf(json, at, number)
      if (problem !== undefined) return { text: json.slice(at, number.end), path: pathTo(json, at), problem }
      at = number.end - 1
    }
  }
  return undefined
}

// ---- helpers ----

/** Ids are strings in ordinary events, so this rarely matches. False positives, in text, are harmless. */
const maybeProblem = /[:,[\s]-?(?:\d{16}|\d+(?:\.\d+)?[eE]|0\.0{300})/

/** The store writes numbers without exponent. The limit is for all numbers of an event together, in characters. */
const MAX_GROWTH = 65_536
const TOO_MANY_DIGITS = "has too many digits without its exponent, with those before it"

const MAX_SHOWN = 100

const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const UPPER_E = 0x45
const LOWER_E = 0x65
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** The position of the closing quote. */
const endOfString = (json: string, start: number): number => {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === "\\") backslashes++
    if (backslashes % 2 === 0) return end
  }
  return json.length
}

interface NumberToken {
  readonly end: number
  readonly exponent: number
}

const readNumber = (json: string, start: number): NumberToken => {
  let exponentAt = 0
  let end = start
  for (; end < json.length; end++) {
    const code = json.charCodeAt(end)
    if (code === LOWER_E || code === UPPER_E) exponentAt = end + 1
    else if (!isDigit(code) && code !== POINT && code !== MINUS && code !== PLUS) break
  }
  return { end, exponent: exponentAt === 0 ? 0 : Number(json.slice(exponentAt, end)) }
}

/** Fifteen significant digits always fit, far from the limits of a double. */
const SAFE_LENGTH = 15
const SAFE_EXPONENT = 200

const problemOf = (json: string, start: number, { end, exponent }: NumberToken): string | undefined => {
  if (end - start <= SAFE_LENGTH && Math.abs(exponent) <= SAFE_EXPONENT) return undefined
  const text = json.slice(start, end)
  const value = Number(text)
  if (!Number.isFinite(value)) return "is too large for 64-bit floating point"
  if (value === 0) return digitsOf(text) === "" ? undefined : "is too small for 64-bit floating point"
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || String(value) === text) return undefined
  return digitsOf(text) === digitsOf(String(value)) ? undefined : "has more digits than 64-bit floating point holds"
}

/** The digits from the first to the last that is not zero. */
const digitsOf = (number: string): string => {
  const [mantissa = ""] = number.split(/e/i, 1)
  const all = mantissa.replace(/[-.]/g, "")
  let [start, end] = [0, all.length]
  while (all[start] === "0") start++
  while (end > start && all[end - 1] === "0") end--
  return all.slice(start, end)
}

/** The path of the value at an offset. */
const pathTo = (json: string, offset: number): ReadonlyArray<string | number> => {
  const path: Array<string | number> = []
  let text = ""
  for (let at = 0; at < offset; at++) {
    const last = path.length - 1
    const place = path[last]
    switch (json[at]) {
      case '"': {
        const end = endOfString(json, at)
        text = json.slice(at + 1, end)
        at = end
        break
      }
      case ":":
        path[last] = text
        break
      case "{":
        path.push("")
        break
      case "[":
        path.push(0)
        break
      case ",":
        if (typeof place === "number") path[last] = place + 1
        break
      case "}":
      case "]":
        path.pop()
        break
    }
  }
  return path
}
