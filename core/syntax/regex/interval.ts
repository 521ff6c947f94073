/** Expands the number range `<n-m>` into basic regex nodes. */
import type { RegexNode } from "./tree.ts"

/** `digits` is the fixed width; with 0 the width is free and leading zeros are allowed. */
export const numbersBetween = (from: number, to: number, digits: number): RegexNode => {
  const low = String(from)
  const high = String(to)
  if (digits > 0) {
    return between(low.padStart(digits, "0"), high.padStart(digits, "0"))
  }
  const byLength: Array<RegexNode> = []
  for (let length = low.length; length <= high.length; length++) {
    const least = length === low.length ? low : `1${"0".repeat(length - 1)}`
    const most = length === high.length ? high : "9".repeat(length)
    byLength.push(between(least, most))
  }
  const zeros: RegexNode = { _tag: "Repeat", part: digit(0, 0), min: 0, max: undefined }
  return { _tag: "Concat", parts: [zeros, { _tag: "Union", parts: byLength }] }
}

// ---- helpers ----

/** The digit strings from `low` to `high`, which have the same length. */
const between = (low: string, high: string): RegexNode => {
  const rest = low.length - 1
  const first = Number(low[0] ?? 0)
  const last = Number(high[0] ?? 0)
  if (rest < 0) {
    return { _tag: "Empty" }
  }
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  if (first === last) {
    return { _tag: "Concat", parts: [digit(first, last), between(lowRest, highRest)] }
  }
  // The first digits that allow any rest, and the two ends that do not.
  const [zeros, nines] = ["0".repeat(rest), "9".repeat(rest)]
  const freeFrom = lowRest === zeros ? first : first + 1
  const freeTo = highRest === nines ? last : last - 1
  const parts: Array<RegexNode> = []
  if (freeFrom > first) {
    parts.push({ _tag: "Concat", parts: [digit(first, first), between(lowRest, nines)] })
  }
  if (freeFrom <= freeTo) {
    const free: RegexNode = { _tag: "Repeat", part: digit(0, 9), min: rest, max: rest }
    parts.push({ _tag: "Concat", parts: [digit(freeFrom, freeTo), free] })
  }
  if (freeTo < last) {
    parts.push({ _tag: "Concat", parts: [digit(last, last), between(zeros, highRest)] })
  }
  return { _tag: "Union", parts }
}

const digit = (from: number, to: number): RegexNode => ({
  _tag: "Class",
  negated: false,
  ranges: [{ from: ZERO + from, to: ZERO + to }]
})

const ZERO = 0x30
