/** Parses keywords and operators. */

import type { Fix } from "../issues/issue.ts"
import type { Edit } from "../issues/Report.ts"
import type { XNode } from "./ast.ts"
import { startsKeyword } from "./characters.ts"
import type { Cursor } from "./cursor.ts"
import type { Operator } from "./operators.ts"
import { removal } from "./removal.ts"
import type { Token } from "./token.ts"
import type { UnavailableOperator } from "./unavailable.ts"

// operator := name ":" value
export const parseOperator = (cursor: Cursor, token: Token): XNode => {
  const written = cursor.text.slice(token.start, token.colon)
  const name = written.toLowerCase()
  const operator = cursor.dialect.operatorNamed(name)
  const span = { start: token.start, end: token.end }
  if (operator === undefined) {
    unknownOperator(cursor, token, name)
    return { _tag: "Keyword", text: cursor.slice(token), span }
  }
  const value = token.form === "none" ? detachedValue(cursor, token, operator) : token
  if (value === undefined) {
    return { _tag: "Keyword", text: cursor.slice(token), span }
  }
  if (value === token && !checkForm(cursor, token, operator)) {
    return { _tag: "Keyword", text: cursor.slice(token), span }
  }
  return {
    _tag: "Operator",
    operator,
    name: operator.name,
    value: cursor.content(value),
    span: { start: token.start, end: value.end },
    valueSpan: { start: value.valueStart, end: value.valueEnd }
  }
}

export const parseKeyword = (cursor: Cursor, token: Token): XNode => {
  checkWord(cursor, token)
  return { _tag: "Keyword", text: cursor.slice(token), span: { start: token.start, end: token.end } }
}

// ---- helpers ----

/** The value of `from: nasa` is the next token; `from:(a OR b)` has no value. */
function detachedValue(cursor: Cursor, token: Token, operator: Operator): Token | undefined {
  const { report } = cursor
  const expected = [operator.form]
  const next = cursor.peek()
  const name = cursor.slice(token)
  if (next.kind === "word" || next.kind === "phrase" || (next.kind === "tag" && next.start > token.end)) {
    cursor.at++
    const message = `The value must directly follow "${name}", without a space`
    const fix = report.fix("Remove the space after the colon", token.end, next.start, "")
    report.error("space-after-colon", token.start, next.end, message, { expected, fix })
    return next
  }
  if (next.kind === "open" && next.start === token.end) {
    const message = `"${name}" takes one value, not a group: repeat the operator for each value`
    report.error("group-as-value", token.start, token.end, message, { expected, fix: distribute(cursor, token) })
    return undefined
  }
  report.error("missing-value", token.start, token.end, `"${name}" needs a value right after the colon`, {
    expected,
    fix: removal(report, "Remove the operator", token.start, token.end)
  })
  return undefined
}

/** Rewrites `name:(a OR b)` to `(name:a OR name:b)`. */
function distribute(cursor: Cursor, token: Token): Fix | undefined {
  const name = cursor.slice(token)
  const edits: Array<Edit> = [{ start: token.start, end: token.end, text: "" }]
  let depth = 0
  for (let i = cursor.at; i < cursor.tokens.length; i++) {
    const inner = cursor.tokens[i]
    if (inner === undefined || inner.kind === "end" || inner.kind === "operator") {
      return undefined
    }
    if (inner.kind === "open") {
      depth++
    } else if (inner.kind === "close") {
      depth--
      if (depth === 0) {
        return cursor.report.fixAll("Repeat the operator for each value", edits)
      }
    } else if (inner.kind === "word" || inner.kind === "phrase" || inner.kind === "tag") {
      edits.push({ start: inner.start, end: inner.start, text: name })
    }
  }
  return undefined
}

/** Checks brackets, quotes and punctuation of a value, which the AST does not keep. False after an error. */
function checkForm(cursor: Cursor, token: Token, operator: Operator): boolean {
  const { text, report } = cursor
  const geographic = operator.value === "radius" || operator.value === "box"
  const start = token.colon + 1
  const value = text.slice(start, token.end)
  if (geographic !== (token.form === "bracket")) {
    const message = geographic
      ? `"${operator.name}:" takes its numbers in square brackets`
      : `"${operator.name}:" takes no brackets`
    const inner = text.slice(token.valueStart, token.valueEnd).trim()
    const bare = inner.includes(" ") ? `"${inner}"` : inner
    report.error("value-brackets", start, token.end, message, {
      expected: [operator.form],
      fix: geographic
        ? report.fix("Use square brackets", start, token.end, `[${inner}]`)
        : report.fix("Remove the brackets", start, token.end, bare)
    })
    return false
  }
  if (token.form !== "bare") {
    return true
  }
  const fix = () => report.fix("Put the value in quotes", start, token.end, `"${value}"`)
  if (token.innerColon >= 0 && operator.value !== "own") {
    const message = "A value that contains a colon needs quotes"
    const expected = [`${operator.name}:"…"`]
    report.error("unquoted-colon", token.innerColon, token.innerColon + 1, message, { expected, fix: fix() })
    return false
  }
  if (operator.value !== "text" && operator.value !== "substring") {
    return true
  }
  if (!startsKeyword(text.charCodeAt(start))) {
    const message = `A value without quotes cannot begin with "${String.fromCodePoint(text.codePointAt(start) ?? 0)}"`
    report.error("value-start", start, token.end, message, { expected: [`${operator.name}:"…"`], fix: fix() })
    return false
  }
  if (!token.plain && isPunctuated(value)) {
    const message = "A value with punctuation is safe only in quotes"
    report.warning("value-punctuation", start, token.end, message, { fix: fix() })
  }
  return true
}

function unknownOperator(cursor: Cursor, token: Token, name: string): void {
  const { report } = cursor
  const { start, end, colon } = token
  const clause = cursor.slice(token)
  if ((name === "http" || name === "https") && cursor.content(token).startsWith("//")) {
    report.error("unquoted-url", start, end, 'A link needs url: and quotes: url:"https://example.com"', {
      expected: ['url:"…"'],
      fix: report.fix("Search for the link", start, end, `url:"${clause}"`)
    })
    return
  }
  const known = cursor.dialect.unavailableOperator(name)
  if (known !== undefined) {
    unavailable(cursor, token, known)
    return
  }
  const near = report.nearest(name, cursor.dialect.operatorNames())
  const hint = near === undefined ? "" : `: did you mean "${near}:"?`
  report.error("unknown-operator", start, end, `Unknown operator "${cursor.text.slice(start, colon)}:"${hint}`, {
    expected: near === undefined ? ["a known operator", "quotes around the text"] : [`${near}:`],
    fix:
      near === undefined
        ? report.fix("Put it in quotes to search for the words", start, end, `"${clause}"`)
        : report.fix(`Write "${near}:"`, start, colon, near)
  })
}

function unavailable(cursor: Cursor, token: Token, known: UnavailableOperator): void {
  const { text, report } = cursor
  const { start, end, colon } = token
  const name = text.slice(start, colon)
  const first = text.charAt(colon + 1)
  if (token.form === "bare" && !startsKeyword(first.charCodeAt(0))) {
    const message = `A value without quotes cannot begin with "${first}"`
    report.error("value-start", colon + 1, end, message, { expected: [`${name}:"…"`] })
  }
  const clause = token.form === "none" ? undefined : known.replacement?.(cursor.content(token))
  const reason = known.reason.charAt(0).toLowerCase() + known.reason.slice(1)
  const instead = known.instead === undefined ? "" : `. ${known.instead}`
  report.error("unavailable-operator", start, end, `"${name}:" is not available here: ${reason}${instead}`, {
    expected: clause === undefined || clause === "" ? undefined : [clause],
    fix:
      clause === undefined
        ? undefined
        : clause === ""
          ? removeClause(cursor, token)
          : report.fix(`Write ${clause}`, start, end, clause)
  })
}

function removeClause(cursor: Cursor, token: Token): Fix {
  const before = cursor.before(2)
  const negated = before !== undefined && before.kind === "minus" && before.end === token.start
  return removal(cursor.report, "Leave it out", negated ? before.start : token.start, token.end)
}

function checkWord(cursor: Cursor, token: Token): void {
  if (token.plain) {
    checkForeignOperator(cursor, token)
    return
  }
  const { report } = cursor
  const { start, end } = token
  const word = cursor.slice(token)
  const fix = report.fix("Put it in quotes", start, end, `"${word}"`)
  if (word.includes("\ufe0f")) {
    const message = "This emoji carries a variation selector and needs quotes"
    report.error("emoji-needs-quotes", start, end, message, { expected: [`"${word}"`], fix })
  } else if (word.endsWith("*") && word !== "*" && !isPunctuated(word.slice(0, -1))) {
    report.warning("no-wildcards", start, end, `"*" is not a wildcard: ${cursor.dialect.name} compares whole words`, {
      fix: report.fix('Remove "*"', end - 1, end, "")
    })
  } else if (/^NEAR\/\d+$/.test(word)) {
    warnNear(cursor, token)
  } else if (isPunctuated(word)) {
    const message = `${cursor.dialect.name} reads "${word.slice(0, 40)}" as a phrase of the words between its punctuation: put it in quotes to be safe`
    report.warning("keyword-punctuation", start, end, message, { fix })
  }
}

/** Words that are operators in other languages. */
function checkForeignOperator(cursor: Cursor, token: Token): void {
  const { report } = cursor
  const { start, end } = token
  const length = end - start
  if (length === 2 && cursor.isWord(token, "or")) {
    const message = `"${cursor.slice(token)}" is an ordinary word here: OR is written in capitals`
    report.warning("lower-case-or", start, end, message, {
      expected: ["OR"],
      fix: report.fix('Write "OR"', start, end, "OR")
    })
  } else if (length === 3 && cursor.isWord(token, "not")) {
    const next = cursor.peek()
    const hasOperand = next.kind !== "end" && next.kind !== "close" && next.kind !== "or" && next.kind !== "minus"
    const message = `"${cursor.slice(token)}" is an ordinary word here: write "-" right before a clause to negate it`
    report.warning("not-as-word", start, end, message, {
      expected: ["-"],
      fix: hasOperand ? report.fix('Write "-"', start, next.start, "-") : undefined
    })
  } else if (length === 4 && cursor.slice(token) === "NEAR") {
    warnNear(cursor, token)
  }
}

function warnNear(cursor: Cursor, token: Token): void {
  const message = 'NEAR is an ordinary word here: write "word word"~3 for words near each other'
  cursor.report.warning("near-as-word", token.start, token.end, message, { expected: ['"word word"~3'] })
}

/** Emoji are words, and invisible characters are reported for themselves. */
function isPunctuated(word: string): boolean {
  return punctuation.test(word)
}

/** What ends a word in `tokens`. */
const punctuation =
  /(?!\p{Emoji_Presentation}|(?=[\u2600-\uffff])\p{Extended_Pictographic}|[\u{10000}-\u{10ffff}])[\p{P}\p{S}\p{Z}]/u
