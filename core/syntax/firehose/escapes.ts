/** Resolves the escapes and wildcards of a term. */
import type { WildcardSign } from "../expression/expression.ts"
import type { Report } from "../issues/Report.ts"

/** The text between two offsets with its escapes resolved, including \u and four hexadecimal digits. */
export const resolve = (report: Report, start: number, end: number, escaped: boolean): string => {
  const { text } = report
  if (!escaped) return text.slice(start, end)
  let result = ""
  let from = start
  for (let at = text.indexOf("\\", start); at !== -1 && at + 1 < end; at = text.indexOf("\\", at)) {
    result += text.slice(from, at)
    if (text.charCodeAt(at + 1) === 0x75) {
      const digits = text.slice(at + 2, Math.min(at + 6, end))
      if (/^(?![dD][89a-fA-F])[0-9a-fA-F]{4}$/.test(digits)) {
        result += String.fromCharCode(Number.parseInt(digits, 16))
        at += 6
        from = at
        continue
      }
      report.error(
        "bad-escape",
        at,
        at + 2,
        "A \\u escape needs four hexadecimal digits of a whole character; write the character itself",
        { fix: report.fix("Remove the backslash", at, at + 1, "") }
      )
    }
    from = at + 1
    at += 2
  }
  return result + text.slice(from, end)
}

/** Splits a term into literals and wildcards, with the escapes of the literals resolved. */
export const wildcardParts = (report: Report, start: number, end: number): ReadonlyArray<string | WildcardSign> => {
  const { text } = report
  const parts: Array<string | WildcardSign> = []
  let from = start
  let escaped = false
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) {
      escaped = true
      at++
    } else if (code === 0x2a || code === 0x3f) {
      if (at > from) {
        parts.push(resolve(report, from, at, escaped))
      }
      parts.push(code === 0x2a ? anyText : anyCharacter)
      from = at + 1
      escaped = false
    }
  }
  if (end > from) {
    parts.push(resolve(report, from, end, escaped))
  }
  return parts
}

// ---- helpers ----

const anyText: WildcardSign = { sign: "*" }
const anyCharacter: WildcardSign = { sign: "?" }
