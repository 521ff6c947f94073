/** Cuts a rule text into tokens in one pass, going on after every character that the language does not know. */
import { isSpace, startsKeyword } from "./characters.ts"
import { readOddStart, readWrongQuotes } from "./odd.ts"
import { limits } from "./operators.ts"
import type { Edit, Report } from "./report.ts"
import { curlyQuotes, isDigit, removal, Scanner, singleQuotes, type Token } from "./scanner.ts"

/** The last token is always the `end`. Issues of the characters themselves go to the report. */
export const lex = (text: string, report: Report): ReadonlyArray<Token> => {
  const scanner = new Scanner(text, report)
  const { length } = text
  while (scanner.at < length) {
    const code = text.charCodeAt(scanner.at)
    if (isSpace(code)) {
      scanner.at++
      continue
    }
    if (scanner.tokens.length >= limits.maxTokens) {
      const message = `A rule has at most ${limits.maxTokens} words and signs`
      report.error("too-many-clauses", scanner.at, length, message)
      break
    }
    next(scanner, code)
  }
  scanner.push("end", length, length)
  return scanner.tokens
}

// ---- helpers ----

/** The full-width number sign of East Asian keyboards. */
const wideHash = 0xff03

function next(scanner: Scanner, code: number): void {
  const start = scanner.at
  if (code === 40) {
    scanner.at++
    scanner.push("open", start, scanner.at)
  } else if (code === 41) {
    scanner.at++
    scanner.push("close", start, scanner.at)
  } else if (code === 34) {
    phrase(scanner, start)
  } else if (code === 45) {
    scanner.at++
    scanner.push("minus", start, scanner.at)
  } else if (code === 35 || code === 64 || code === 36) {
    tag(scanner, start)
  } else if (startsKeyword(code)) {
    word(scanner, start)
  } else if (code === wideHash) {
    scanner.report.error("wide-sign", start, start + 1, 'A hashtag begins with a plain "#"', {
      mend: { message: 'Write "#"', edits: [{ start, end: start + 1, text: "#" }] }
    })
    tag(scanner, start)
  } else {
    readOddStart(scanner, start, code)
  }
}

// phrase := '"' ( '\"' | any character but '"' )* '"' [ "~" digits ]
function phrase(scanner: Scanner, start: number): void {
  const { text } = scanner
  const close = scanner.closingQuote(start)
  if (close < 0) {
    unclosedQuote(scanner, start)
    scanner.at = text.length
    scanner.push("phrase", start, scanner.at, start + 1, scanner.at)
    return
  }
  scanner.at = close + 1
  let distance = -1
  if (text.charCodeAt(scanner.at) === 126) {
    distance = proximity(scanner)
  }
  scanner.push("phrase", start, scanner.at, start + 1, close, -1, "quoted", false, -1, distance)
}

function proximity(scanner: Scanner): number {
  const { text, report } = scanner
  const tilde = scanner.at
  let end = tilde + 1
  while (end < text.length && isDigit(text.charCodeAt(end))) {
    end++
  }
  scanner.at = end
  const { min, max } = limits.proximity
  const expected = [`~${min} to ~${max}`]
  if (end === tilde + 1) {
    const mend = { message: 'Remove "~"', edits: [{ start: tilde, end, text: "" }] }
    report.error("proximity-number", tilde, end, `After "~" comes a whole number from ${min} to ${max}`, {
      expected,
      mend
    })
    return -1
  }
  const distance = Number(text.slice(tilde + 1, end))
  if (distance < min || distance > max) {
    const edits = [{ start: tilde, end, text: distance < min ? "" : `~${max}` }]
    const message =
      distance < min ? 'Remove the "~0": a plain phrase is the closest' : `Use the largest distance, ~${max}`
    const found = `"${text.slice(tilde, Math.min(end, tilde + 20))}"`
    report.error("proximity-range", tilde, end, `Words can be ${min} to ${max} positions apart, not ${found}`, {
      expected,
      mend: { message, edits }
    })
    return max
  }
  return distance
}

function unclosedQuote(scanner: Scanner, start: number): void {
  const { text, report } = scanner
  const rest = text.slice(start + 1)
  const curly = rest.search(/[“”„]/)
  const edits: Array<Edit> =
    rest.trim() === ""
      ? [{ start, end: text.length, text: "" }]
      : curly > 0
        ? [{ start: start + 1 + curly, end: start + 2 + curly, text: '"' }]
        : [{ start: text.trimEnd().length, end: text.length, text: '"' }]
  const message = rest.trim() === "" ? "Remove the quote" : "Close the quote"
  report.error("unclosed-quote", start, text.length, 'This quote is never closed: every " needs a partner', {
    expected: ['"'],
    mend: { message, edits }
  })
}

// tag := ( "#" | "@" | "$" ) word
function tag(scanner: Scanner, start: number): void {
  const { text } = scanner
  let end = start + 1
  while (end < text.length && !endsTag(scanner, text.charCodeAt(end))) {
    end++
  }
  scanner.at = end
  if (end === start + 1) {
    const sign = text.slice(start, end)
    scanner.report.error("lone-sign", start, end, `"${sign}" needs a name right after it, without a space`, {
      expected: [`${sign}name`],
      mend: { message: `Remove "${sign}"`, edits: [removal(text, start, end)] }
    })
    return
  }
  scanner.push("tag", start, end, start + 1, end)
}

function endsTag(scanner: Scanner, code: number): boolean {
  return code === 35 || code === 64 || code === 36 || code === 58 || scanner.endsWord(code)
}

// word := start-character { any but white space ( ) " : } ; operator := word ":" [ value ]
function word(scanner: Scanner, start: number): void {
  const { text } = scanner
  const length = text.length
  let plain = true
  let end = start
  for (; end < length; end++) {
    const code = text.charCodeAt(end)
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)) {
      continue
    }
    if (code === 58) {
      operator(scanner, start, end)
      return
    }
    if (scanner.endsWord(code)) {
      break
    }
    plain = false
    scanner.noticeInvisible(code, end)
  }
  scanner.at = end
  if (end - start === 2 && text.charCodeAt(start) === 79 && text.charCodeAt(start + 1) === 82) {
    scanner.push("or", start, end)
  } else {
    scanner.push("word", start, end, start, end, -1, "none", plain)
  }
}

// value := quoted | "[" any but "]" "]" | { any but white space ( ) " }
function operator(scanner: Scanner, start: number, colon: number): void {
  const { text } = scanner
  const from = colon + 1
  const code = from < text.length ? text.charCodeAt(from) : 32
  if (code === 34) {
    const close = scanner.closingQuote(from)
    if (close < 0) {
      unclosedQuote(scanner, from)
    }
    scanner.at = close < 0 ? text.length : close + 1
    scanner.push("operator", start, scanner.at, from + 1, close < 0 ? scanner.at : close, colon, "quoted")
  } else if (code === 91) {
    bracketValue(scanner, start, colon)
  } else if (!isSpace(code) && (singleQuotes.includes(text.charAt(from)) || curlyQuotes.includes(text.charAt(from)))) {
    const close = readWrongQuotes(scanner, from)
    scanner.at = close < 0 ? scanner.bareEnd(from + 1) : close + 1
    scanner.push("operator", start, scanner.at, from + 1, close < 0 ? scanner.at : close, colon, "quoted")
  } else {
    bareValue(scanner, start, colon)
  }
}

function bareValue(scanner: Scanner, start: number, colon: number): void {
  const { text } = scanner
  const from = colon + 1
  let plain = true
  let innerColon = -1
  let end = from
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)) {
      continue
    }
    if (scanner.endsWord(code)) {
      break
    }
    if (code === 58 && innerColon < 0) {
      innerColon = end
    }
    plain = false
    scanner.noticeInvisible(code, end)
  }
  scanner.at = end
  scanner.push("operator", start, end, from, end, colon, end === from ? "none" : "bare", plain, innerColon)
}

function bracketValue(scanner: Scanner, start: number, colon: number): void {
  const { text } = scanner
  const from = colon + 2
  const close = scanner.noBracket ? -1 : text.indexOf("]", from)
  scanner.noBracket = close < 0
  if (close >= 0) {
    scanner.at = close + 1
    scanner.push("operator", start, scanner.at, from, close, colon, "bracket")
    return
  }
  let end = from
  while (end < text.length && !'()"['.includes(text.charAt(end))) {
    end++
  }
  end = from + text.slice(from, end).trimEnd().length
  scanner.at = end
  scanner.report.error("unclosed-bracket", colon + 1, end, 'This "[" is never closed', {
    expected: ["]"],
    mend: { message: 'Add the missing "]"', edits: [{ start: end, end, text: "]" }] }
  })
  scanner.push("operator", start, end, from, end, colon, "bracket")
}
