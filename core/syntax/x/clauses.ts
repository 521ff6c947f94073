/** Reads keywords and operators, the clauses that users misspell most. */
import type { XNode } from "./ast.ts"
import { startsKeyword } from "./characters.ts"
import type { Cursor } from "./cursor.ts"
import { type Missing, missingNamed } from "./missing.ts"
import { type Operator, operatorNamed, operatorNames } from "./operators.ts"
import type { Edit, Mend } from "./report.ts"
import { removal, type Token } from "./scanner.ts"
import { tokens as wordsOf } from "./tokens.ts"

// operator := name ":" value
export const readOperator = (cursor: Cursor, token: Token): XNode => {
  const written = cursor.text.slice(token.start, token.colon)
  const name = written.toLowerCase()
  const operator = operatorNamed(name)
  const span = { start: token.start, end: token.end }
  if (operator === undefined) {
    unknownOperator(cursor, token, name)
    return { _tag: "Keyword", text: cursor.slice(token), span }
  }
  const value = token.form === "none" ? missingValue(cursor, token, operator) : token
  if (value === undefined) {
    return { _tag: "Keyword", text: written, span }
  }
  if (value === token && !hasGoodForm(cursor, token, operator)) {
    return { _tag: "Keyword", text: cursor.slice(token), span }
  }
  return {
    _tag: "Operator",
    name: operator.name,
    value: cursor.content(value),
    span: { start: token.start, end: value.end },
    valueSpan: { start: value.valueStart, end: value.valueEnd }
  }
}

export const readKeyword = (cursor: Cursor, token: Token): XNode => {
  checkWord(cursor, token)
  return { _tag: "Keyword", text: cursor.slice(token), span: { start: token.start, end: token.end } }
}

/** The stretch put in quotes. */
export const quoted = (start: number, end: number, text: string): Edit => ({ start, end, text: `"${text}"` })

// ---- helpers ----

/** `from: nasa` has its value one token on; `from:(a OR b)` has none at all. */
function missingValue(cursor: Cursor, token: Token, operator: Operator): Token | undefined {
  const next = cursor.peek()
  const name = cursor.slice(token)
  if (next.kind === "word" || next.kind === "phrase" || (next.kind === "tag" && next.start > token.end)) {
    cursor.at++
    cursor.report.error(
      "space-after-colon",
      token.start,
      next.end,
      `The value follows "${name}" directly, without a space`,
      {
        expected: [operator.form],
        mend: {
          message: "Remove the space after the colon",
          edits: [{ start: token.end, end: next.start, text: "" }]
        }
      }
    )
    return next
  }
  if (next.kind === "open" && next.start === token.end) {
    const mend = distributed(cursor, token)
    const message = `"${name}" takes one value, not a group: repeat the operator for each value`
    cursor.report.error("group-as-value", token.start, token.end, message, {
      expected: [operator.form],
      ...(mend !== undefined && { mend })
    })
    return undefined
  }
  cursor.report.error("missing-value", token.start, token.end, `"${name}" needs a value right after the colon`, {
    expected: [operator.form],
    mend: { message: "Remove the operator", edits: [removal(cursor.text, token.start, token.end)] }
  })
  return undefined
}

/** `name:(a OR b)` written out as `(name:a OR name:b)`. */
function distributed(cursor: Cursor, token: Token): Mend | undefined {
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
        return { message: "Repeat the operator for each value", edits }
      }
    } else if (inner.kind === "word" || inner.kind === "phrase" || inner.kind === "tag") {
      edits.push({ start: inner.start, end: inner.start, text: name })
    }
  }
  return undefined
}

/** Brackets, quotes and punctuation of a value, which the tree no longer shows. */
function hasGoodForm(cursor: Cursor, token: Token, operator: Operator): boolean {
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
      mend: geographic
        ? { message: "Use square brackets", edits: [{ start, end: token.end, text: `[${inner}]` }] }
        : { message: "Remove the brackets", edits: [{ start, end: token.end, text: bare }] }
    })
    return false
  }
  if (token.form !== "bare") {
    return true
  }
  if (token.innerColon >= 0) {
    const message = "A value with a colon in it needs quotes"
    report.error("unquoted-colon", token.innerColon, token.innerColon + 1, message, {
      expected: [`${operator.name}:"…"`],
      mend: { message: "Put the value in quotes", edits: [quoted(start, token.end, value)] }
    })
    return false
  }
  if (operator.value !== "text" && operator.value !== "substring") {
    return true
  }
  if (!startsKeyword(text.charCodeAt(start))) {
    const message = `A value without quotes cannot begin with "${String.fromCodePoint(text.codePointAt(start) ?? 0)}"`
    report.error("value-start", start, token.end, message, {
      expected: [`${operator.name}:"…"`],
      mend: { message: "Put the value in quotes", edits: [quoted(start, token.end, value)] }
    })
    return false
  }
  if (!token.plain && isPunctuated(value)) {
    report.warn("value-punctuation", start, token.end, "A value with punctuation is safe only in quotes", {
      mend: { message: "Put the value in quotes", edits: [quoted(start, token.end, value)] }
    })
  }
  return true
}

function unknownOperator(cursor: Cursor, token: Token, name: string): void {
  const { text, report } = cursor
  const value = cursor.content(token)
  const shown = text.slice(token.start, token.colon)
  if ((name === "http" || name === "https") && value.startsWith("//")) {
    report.error("unquoted-url", token.start, token.end, 'A link needs url: and quotes: url:"https://example.com"', {
      expected: ['url:"…"'],
      mend: {
        message: "Search for the link",
        edits: [{ start: token.start, end: token.end, text: `url:"${cursor.slice(token)}"` }]
      }
    })
    return
  }
  const known = missingNamed(name)
  if (known !== undefined) {
    unavailable(cursor, token, known)
    return
  }
  const close = report.nearest(name, operatorNames())
  const message =
    close === undefined ? `Unknown operator "${shown}:"` : `Unknown operator "${shown}:": did you mean "${close}:"?`
  report.error("unknown-operator", token.start, token.end, message, {
    expected: close === undefined ? ["a known operator", "quotes around the text"] : [`${close}:`],
    mend:
      close === undefined
        ? {
            message: "Put it in quotes to search for the words",
            edits: [quoted(token.start, token.end, cursor.slice(token))]
          }
        : { message: `Write "${close}:"`, edits: [{ start: token.start, end: token.colon, text: close }] }
  })
}

function unavailable(cursor: Cursor, token: Token, known: Missing): void {
  const { text, report } = cursor
  const shown = text.slice(token.start, token.colon)
  const first = text.charAt(token.colon + 1)
  if (token.form === "bare" && !startsKeyword(first.charCodeAt(0))) {
    const message = `A value without quotes cannot begin with "${first}"`
    report.error("value-start", token.colon + 1, token.end, message, { expected: [`${shown}:"…"`] })
  }
  const clause = token.form === "none" ? undefined : known.replacement?.(cursor.content(token))
  const mend: Mend | undefined =
    clause === undefined
      ? undefined
      : clause === ""
        ? { message: "Leave it out", edits: [withoutClause(cursor, token)] }
        : { message: `Write ${clause}`, edits: [{ start: token.start, end: token.end, text: clause }] }
  const reason = known.reason.charAt(0).toLowerCase() + known.reason.slice(1)
  const advice = known.instead === undefined ? "" : `. ${known.instead}`
  const message = `"${shown}:" is not available here: ${reason}${advice}`
  report.error("unavailable-operator", token.start, token.end, message, {
    ...(clause !== undefined && clause !== "" && { expected: [clause] }),
    ...(mend !== undefined && { mend })
  })
}

function withoutClause(cursor: Cursor, token: Token): Edit {
  const before = cursor.before(2)
  const negated = before !== undefined && before.kind === "minus" && before.end === token.start
  return removal(cursor.text, negated ? before.start : token.start, token.end)
}

function checkWord(cursor: Cursor, token: Token): void {
  if (token.plain) {
    checkHabit(cursor, token)
    return
  }
  const { text, report } = cursor
  const word = cursor.slice(token)
  const mend = { message: "Put it in quotes", edits: [quoted(token.start, token.end, word)] }
  if (word.includes("\ufe0f")) {
    report.error(
      "emoji-needs-quotes",
      token.start,
      token.end,
      "This emoji carries a variation selector and needs quotes",
      {
        expected: [`"${word}"`],
        mend
      }
    )
  } else if (word.endsWith("*") && isPlainWord(word.slice(0, -1))) {
    report.warn("no-wildcards", token.start, token.end, '"*" is no wildcard: X compares whole words', {
      mend: { message: 'Remove "*"', edits: [{ start: token.end - 1, end: token.end, text: "" }] }
    })
  } else if (/^NEAR\/\d+$/.test(word)) {
    nearKeyword(cursor, token)
  } else if (isPunctuated(text.slice(token.start, token.end))) {
    const message = `"${word.slice(0, 40)}" is taken as a phrase of the words between its punctuation: put it in quotes to be safe`
    report.warn("keyword-punctuation", token.start, token.end, message, { mend })
  }
}

/** Words that are operators in other languages. */
function checkHabit(cursor: Cursor, token: Token): void {
  const length = token.end - token.start
  if (length === 2 && cursor.isWord(token, "or")) {
    const message = `"${cursor.slice(token)}" is an ordinary word here: OR is written in capitals`
    cursor.report.warn("lower-case-or", token.start, token.end, message, {
      expected: ["OR"],
      mend: { message: 'Write "OR"', edits: [{ start: token.start, end: token.end, text: "OR" }] }
    })
  } else if (length === 3 && cursor.isWord(token, "not")) {
    const next = cursor.peek()
    const operand = next.kind !== "end" && next.kind !== "close" && next.kind !== "or" && next.kind !== "minus"
    const message = `"${cursor.slice(token)}" is an ordinary word here: write "-" right before a clause to negate it`
    cursor.report.warn("not-as-word", token.start, token.end, message, {
      expected: ["-"],
      ...(operand && { mend: { message: 'Write "-"', edits: [{ start: token.start, end: next.start, text: "-" }] } })
    })
  } else if (length === 4 && cursor.slice(token) === "NEAR") {
    nearKeyword(cursor, token)
  }
}

function nearKeyword(cursor: Cursor, token: Token): void {
  const message = 'NEAR is an ordinary word here: write "word word"~3 for words near each other'
  cursor.report.warn("near-as-word", token.start, token.end, message, { expected: ['"word word"~3'] })
}

function isPunctuated(word: string): boolean {
  const words = wordsOf(word)
  return words.length !== 1 || words[0]?.length !== word.length
}

function isPlainWord(word: string): boolean {
  return word !== "" && !isPunctuated(word)
}
