/** What the lexer does with characters that no clause begins with: most are habits from another language. */
import { isInvisible, isOddSpace, isSpace } from "./characters.ts"
import type { Edit } from "./report.ts"
import { codePointName, curlyQuotes, isDigit, removal, type Scanner, singleQuotes } from "./scanner.ts"

/** Reports the character, and goes on as if the right one stood there. */
export const readOddStart = (scanner: Scanner, start: number, code: number): void => {
  const { text, report } = scanner
  const char = text.charAt(start)
  if (singleQuotes.includes(char) || curlyQuotes.includes(char)) {
    const close = readWrongQuotes(scanner, start)
    scanner.at = close < 0 ? start + 1 : close + 1
    if (close >= 0) {
      scanner.push("phrase", start, scanner.at, start + 1, close)
    }
  } else if (openBrackets.includes(char)) {
    scanner.at = start + 1
    openBracket(scanner, start)
  } else if (closeBrackets.includes(char)) {
    scanner.at = start + 1
    closeBracket(scanner, start)
  } else if (char === "&" || char === "|" || char === "!" || char === "+" || dashes.includes(char)) {
    symbol(scanner, start, char)
  } else if (code === 58) {
    strayColon(scanner, start)
  } else if (isOddSpace(code)) {
    scanner.at = start + 1
    report.error("odd-space", start, scanner.at, `${codePointName(code)} looks like a space but is none to X`, {
      mend: { message: "Replace it with a plain space", edits: [{ start, end: scanner.at, text: " " }] }
    })
  } else if (isInvisible(code)) {
    scanner.at = start + 1
    report.error(
      "invisible-start",
      start,
      scanner.at,
      `A clause cannot begin with the invisible character ${codePointName(code)}`,
      {
        mend: { message: "Remove the invisible character", edits: [{ start, end: scanner.at, text: "" }] }
      }
    )
  } else {
    needsQuotes(scanner, start)
  }
}

/** Reports quotes that are not straight double ones. Gives the place of the closing one, or -1. */
export const readWrongQuotes = (scanner: Scanner, start: number): number => {
  const { text, report } = scanner
  const single = singleQuotes.includes(text.charAt(start))
  const close = single ? closingSingle(scanner, start) : closingCurly(scanner, start)
  const code = single ? "single-quotes" : "curly-quotes"
  const kind = single ? "Single quotes" : "Typographic quotes"
  const edits =
    close < 0
      ? [{ start, end: start + 1, text: "" }]
      : [
          { start, end: start + 1, text: '"' },
          { start: close, end: close + 1, text: '"' }
        ]
  report.error(code, start, start + 1, `${kind} do not make a phrase: use straight double quotes`, {
    expected: ['"'],
    mend: { message: close < 0 ? "Remove the quote" : "Use straight double quotes", edits }
  })
  return close
}

// ---- helpers ----

const dashes = "–—−"
const openBrackets = "[{"
const closeBrackets = "]}"

/** An apostrophe inside a word closes nothing; one at the end of a word does. */
function closingSingle(scanner: Scanner, start: number): number {
  const { text } = scanner
  if (scanner.noSingleQuote) {
    return -1
  }
  for (let i = start + 1; i < text.length; i++) {
    if (singleQuotes.includes(text.charAt(i)) && i > start + 1) {
      const next = i + 1 < text.length ? text.charCodeAt(i + 1) : 32
      if (isSpace(next) || next === 41 || next === 40) {
        return i
      }
    }
  }
  scanner.noSingleQuote = true
  return -1
}

function closingCurly(scanner: Scanner, start: number): number {
  const { text } = scanner
  for (let i = start + 1; i < text.length; i++) {
    if (curlyQuotes.includes(text.charAt(i)) || text.charCodeAt(i) === 34) {
      return i
    }
  }
  return -1
}

function openBracket(scanner: Scanner, start: number): void {
  const edits: Array<Edit> = [{ start, end: start + 1, text: "(" }]
  const char = scanner.text.charAt(start)
  scanner.brackets.push({ start, edits })
  scanner.report.error("square-brackets", start, start + 1, `"${char}" does not group clauses: use parentheses`, {
    expected: ["("],
    mend: { message: "Use parentheses", edits }
  })
  scanner.push("open", start, start + 1)
}

function closeBracket(scanner: Scanner, start: number): void {
  const open = scanner.brackets.pop()
  if (open === undefined) {
    const char = scanner.text.charAt(start)
    scanner.report.error("stray-character", start, start + 1, `Nothing is open that this "${char}" could close`, {
      mend: { message: `Remove "${char}"`, edits: [removal(scanner.text, start, start + 1)] }
    })
    return
  }
  open.edits.push({ start, end: start + 1, text: ")" })
  scanner.push("close", start, start + 1)
}

/** Signs that mean AND, OR and NOT elsewhere. */
function symbol(scanner: Scanner, start: number, char: string): void {
  const { text, report } = scanner
  let end = start + 1
  while (text.charAt(end) === char) {
    end++
  }
  scanner.at = end
  const sign = text.slice(start, Math.min(end, start + 8))
  if (char === "&") {
    report.error("symbol-and", start, end, `"${sign}" does not join clauses: a space does`, {
      mend: { message: `Remove "${sign}"`, edits: [removal(text, start, end)] }
    })
  } else if (char === "|") {
    report.error("symbol-or", start, end, `"${sign}" does not mean OR: write OR in capitals`, {
      expected: ["OR"],
      mend: { message: 'Write "OR"', edits: [{ start, end, text: spaced(scanner, "OR", start, end) }] }
    })
    scanner.push("or", start, end)
  } else if (char === "+") {
    report.error("symbol-plus", start, end, `"${sign}" has no meaning: every clause is required already`, {
      mend: { message: `Remove "${sign}"`, edits: [{ start, end, text: "" }] }
    })
  } else {
    report.error("symbol-not", start, end, `"${sign}" does not negate: write "-" right before the clause`, {
      expected: ["-"],
      mend: { message: 'Write "-"', edits: [{ start, end, text: "-" }] }
    })
    scanner.push("minus", start, end)
  }
}

function spaced(scanner: Scanner, word: string, start: number, end: number): string {
  const before = start > 0 && !isSpace(scanner.text.charCodeAt(start - 1)) ? " " : ""
  const after = end < scanner.text.length && !isSpace(scanner.text.charCodeAt(end)) ? " " : ""
  return before + word + after
}

function strayColon(scanner: Scanner, start: number): void {
  const { text, tokens } = scanner
  scanner.at = start + 1
  let to = scanner.at
  while (to < text.length && isSpace(text.charCodeAt(to))) {
    to++
  }
  const before = tokens[tokens.length - 1]
  const joins = before !== undefined && before.kind === "word" && before.end < start
  const mend = joins
    ? { message: "Remove the space around the colon", edits: [{ start: before.end, end: to, text: ":" }] }
    : { message: "Remove the colon", edits: [{ start, end: start + 1, text: " " }] }
  scanner.report.error(
    "stray-colon",
    start,
    start + 1,
    'A colon follows the name of an operator directly: "from:nasa"',
    { mend }
  )
}

/** Punctuation standing alone is left out of the rule; a word behind it is taken as if it were quoted. */
function needsQuotes(scanner: Scanner, start: number): void {
  const { text, report } = scanner
  const end = scanner.bareEnd(start + 1)
  scanner.at = end
  const word = text.slice(start, end)
  const shown = word.length > 40 ? `${word.slice(0, 40)}…` : word
  if (word.startsWith("~") && isDigit(word.charCodeAt(1)) && text.slice(0, start).trimEnd().endsWith('"')) {
    const from = text.slice(0, start).trimEnd().length
    report.error("stray-character", start, end, 'The distance follows the closing quote directly: "a b"~3', {
      mend: { message: "Remove the space", edits: [{ start: from, end: start, text: "" }] }
    })
  } else if (/^[!-/:-@[-`{-~…·•]+$/.test(word)) {
    report.error("stray-character", start, end, `"${shown}" is no clause`, {
      mend: { message: `Remove "${shown}"`, edits: [removal(text, start, end)] }
    })
  } else {
    report.error(
      "keyword-start",
      start,
      end,
      `A keyword cannot begin with "${firstCharacter(word)}": put it in quotes`,
      {
        expected: [`"${shown}"`],
        mend: { message: "Put it in quotes", edits: [{ start, end, text: `"${word}"` }] }
      }
    )
    scanner.push("phrase", start, end, start, end)
  }
}

function firstCharacter(word: string): string {
  return String.fromCodePoint(word.codePointAt(0) ?? 0)
}
