/** Reads what a clause holds when it is no group: a word, a wildcard, a phrase, a pattern or a range, with its suffix. */
import type { FieldRef, Query } from "./ast.ts"
import { resolve, wildcardParts } from "./escapes.ts"
import { type Field, fieldOf } from "./fields.ts"
import * as Lex from "./lexer.ts"
import { looseEdit, looseEnd } from "./loose.ts"
import { escapeTerm, quotePhrase } from "./printer.ts"
import { readRange } from "./ranges.ts"
import { quoted, type Report } from "./report.ts"
import { distanceOf, ignoreTilde, readSuffix, refuseTilde, slopOf } from "./suffixes.ts"

/** Where a clause begins, with its field, is `start`; where its value begins is `start0`. */
export class LeafReader {
  private readonly report: Report
  private readonly text: string
  private readonly lexer: Lex.Lexer

  constructor(report: Report, lexer: Lex.Lexer) {
    this.report = report
    this.text = report.text
    this.lexer = lexer
  }

  /** Leaf := ( TERM | WILDCARD | REGEX | BARE_OPERATOR | QUOTED ) [ Suffix ] | Range [ Boost ]. None when it is broken. */
  read(ref: FieldRef | undefined, field: Field | undefined, start: number): Query | undefined {
    const lexer = this.lexer
    switch (lexer.kind) {
      case Lex.TERM:
      case Lex.WILDCARD: {
        const { start: start0, end, kind, escaped } = lexer
        if (lexer.dangling) {
          this.report.error("dangling-escape", end - 1, end, "This backslash has nothing after it to act on", {
            fix: this.report.fix("Remove the backslash", end - 1, end, "")
          })
          lexer.advance()
          return term(ref, resolve(this.report, start0, end - 1, escaped), start0, end - 1, start, end)
        }
        const next = this.text.charCodeAt(end)
        if (next === 0x2f || (next === 0x3a && ref !== undefined)) {
          return this.looseWord(ref, field, start, start0)
        }
        lexer.advance()
        return this.word(ref, field, { start, start0, end, kind, escaped })
      }
      case Lex.BARE_OPERATOR: {
        const { start: start0, end } = lexer
        lexer.advance()
        const sign = this.text.slice(start0, end)
        this.report.warning(
          "stray-operator",
          start0,
          end,
          `A ${quoted(sign)} with a space after it is read as a word and has no effect`,
          {
            expected: [`${sign}word`],
            fix: this.report.fix("Remove the space", end, Math.min(lexer.start, this.text.length), "")
          }
        )
        return term(ref, sign, start0, end, start, end)
      }
      case Lex.QUOTED:
        return this.phrase(ref, start)
      case Lex.UNCLOSED_QUOTE: {
        this.report.error("unclosed-quote", lexer.start, lexer.start + 1, "This quote is never closed", {
          expected: ['"'],
          fix: lexer.dangling
            ? undefined
            : this.report.fix("Close the quote at the end", this.text.length, this.text.length, '"')
        })
        const { start: start0, end } = lexer
        lexer.advance()
        const value = { start: start0, end }
        return { _tag: "Phrase", field: ref, text: "", slop: 0, value, span: { start, end } }
      }
      case Lex.REGEX:
      case Lex.UNCLOSED_REGEX:
        return this.regex(ref, field, start)
      case Lex.RANGE:
        return this.range(ref, start)
      default:
        return this.missingValue(ref, start)
    }
  }

  /** A term or a wildcard term that the lexer has passed already. */
  word(
    ref: FieldRef | undefined,
    field: Field | undefined,
    token: { start: number; start0: number; end: number; kind: number; escaped: boolean }
  ): Query | undefined {
    const { start, start0, end, kind, escaped } = token
    const suffix = readSuffix(this.lexer, this.report, end)
    if (kind === Lex.WILDCARD) {
      ignoreTilde(this.report, suffix)
      const value = { start: start0, end }
      const parts = wildcardParts(this.report, start0, end)
      return { _tag: "Wildcard", field: ref, parts, value, span: { start, end: suffix.end } }
    }
    const text = resolve(this.report, start0, end, escaped)
    if (suffix.tilde !== undefined) {
      const distance = distanceOf(this.report, suffix.tilde, text)
      const value = { start: start0, end }
      return { _tag: "Fuzzy", field: ref, text, distance, value, span: { start, end: suffix.end } }
    }
    if (field?.kind === "filter") {
      const age = parseAge(text)
      if (age !== undefined) {
        const value = { start: start0, end }
        return { _tag: "Recent", field: ref, ...age, value, span: { start, end: suffix.end } }
      }
    }
    return term(ref, text, start0, end, start, suffix.end)
  }

  /** Everything := "*" ":" "*", from the second "*" on. */
  everything(start: number): Query {
    const { start: start0, end } = this.lexer
    this.lexer.advance()
    const suffix = readSuffix(this.lexer, this.report, end)
    ignoreTilde(this.report, suffix)
    return { _tag: "Everything", field: undefined, value: { start: start0, end }, span: { start, end: suffix.end } }
  }

  /** An address with no field before it; `start` is where its scheme begins. */
  bareUrl(start: number): Query | undefined {
    const end = looseEnd(this.text, start)
    const raw = this.text.slice(start, end)
    const edit = looseEdit(undefined, fieldOf("url"), raw)
    this.report.error(
      "bare-url",
      start,
      end,
      "An address is looked up with url: before it, in double quotes or with its / and : escaped",
      {
        expected: ['url:"https://…"', "domain:example.com"],
        fix: this.report.fix("Look the address up in url", start, end, `url:${edit.text}`)
      }
    )
    this.lexer.moveTo(end)
    return term(undefined, raw, start, end, start, end)
  }

  /** Phrase := QUOTED [ Suffix ] */
  private phrase(ref: FieldRef | undefined, start: number): Query | undefined {
    const lexer = this.lexer
    const { start: start0, end, escaped } = lexer
    const text = resolve(this.report, start0 + 1, end - 1, escaped)
    lexer.advance()
    const suffix = readSuffix(this.lexer, this.report, end)
    const slop = suffix.tilde === undefined ? 0 : slopOf(this.report, suffix.tilde)
    const value = { start: start0, end }
    return { _tag: "Phrase", field: ref, text, slop, value, span: { start, end: suffix.end } }
  }

  /** Regex := REGEX [ Boost ]. A slash that was meant as text is told apart by what stands around it. */
  private regex(ref: FieldRef | undefined, field: Field | undefined, start: number): Query | undefined {
    const lexer = this.lexer
    const { start: start0, end } = lexer
    if (lexer.kind === Lex.UNCLOSED_REGEX) {
      const wordEnd = looseEnd(this.text, start0)
      if (/[.*+[(|\\{]/.test(this.text.slice(start0, wordEnd)) || ref === undefined) {
        this.report.error("unclosed-regex", start0, start0 + 1, 'This "/" opens a pattern that is never closed', {
          expected: ["/", "\\/"],
          fix:
            ref === undefined || wordEnd === start0 + 1
              ? this.report.fix("Quote the word", start0, wordEnd, quotePhrase(this.text.slice(start0, wordEnd)))
              : this.report.fix("Close the pattern", wordEnd, wordEnd, "/")
        })
        lexer.moveTo(wordEnd)
        return term(ref, this.text.slice(start0, wordEnd), start0, wordEnd, start, wordEnd)
      }
      return this.looseWord(ref, field, start, start0)
    }
    const pattern = this.text.slice(start0 + 1, end - 1)
    const next = this.text.charCodeAt(end)
    const isGlued =
      end < this.text.length && !Lex.isSpace(next) && next !== 0x29 && next !== 0x28 && next !== 0x5e && next !== 0x7e
    const isLabel = (ref?.name === "page_type" || ref?.name === "page_category") && /^[\w&]*$/.test(pattern)
    if (isGlued || isLabel || (ref !== undefined && field?.kind === "keyword" && /[ \t\r\n]/.test(pattern))) {
      return this.looseWord(ref, field, start, start0)
    }
    lexer.advance()
    const suffix = readSuffix(this.lexer, this.report, end)
    ignoreTilde(this.report, suffix)
    const value = { start: start0, end }
    return { _tag: "Regex", field: ref, pattern, value, span: { start, end: suffix.end } }
  }

  private range(ref: FieldRef | undefined, start: number): Query | undefined {
    const open = this.lexer.start
    const { ends, includesFrom, includesTo, end } = readRange(this.report, ref, open)
    this.lexer.moveTo(end)
    if (ends === undefined) {
      return undefined
    }
    const suffix = readSuffix(this.lexer, this.report, end)
    refuseTilde(this.report, suffix)
    const value = { start: open, end }
    return {
      _tag: "Range",
      field: ref,
      ...ends,
      includesFrom,
      includesTo,
      value,
      span: { start, end: suffix.end }
    }
  }

  /** A word with `/` or `:` in it that should have been quoted or escaped; the whole of it is taken as one value. */
  private looseWord(
    ref: FieldRef | undefined,
    field: Field | undefined,
    start: number,
    start0: number
  ): Query | undefined {
    const end = looseEnd(this.text, start0)
    const raw = this.text.slice(start0, end)
    const edit = looseEdit(ref, field, raw)
    this.report.error(
      "unescaped-special",
      start0,
      end,
      `${quoted(raw)} has a "/" or ":" that the parser takes as syntax: put the value in double quotes, or a backslash before each of them`,
      {
        expected: [quotePhrase(raw), escapeTerm(raw)],
        fix: this.report.fix(edit.message, edit.wholeClause ? start : start0, end, edit.text)
      }
    )
    this.lexer.moveTo(end)
    return term(ref, raw, start0, end, start, end)
  }

  private missingValue(ref: FieldRef | undefined, start: number): undefined {
    const lexer = this.lexer
    const { kind, start: at, end } = lexer
    if (ref !== undefined) {
      if (kind === Lex.MINUS || kind === Lex.NOT || kind === Lex.PLUS) {
        lexer.advance()
        const sign = this.text.slice(at, end)
        this.report.error("misplaced-modifier", at, end, `Put ${quoted(sign)} before the field, not after the colon`, {
          fix: {
            message: `Move ${quoted(sign)} before the field`,
            text: `${this.text.slice(0, start)}${sign === "NOT" ? "NOT " : sign}${this.text.slice(start, at)}${this.text.slice(Math.min(lexer.start, this.text.length))}`
          }
        })
        return undefined
      }
      this.report.error(
        "missing-value",
        ref.span.start,
        Math.max(ref.span.end, Lex.lastNonSpace(this.text, at)),
        `The field ${quoted(ref.name)} has no value`,
        { expected: ["a word", "a phrase", "("] }
      )
      if (kind === Lex.COLON) {
        lexer.advance()
      }
      return undefined
    }
    const found = this.text.slice(at, end)
    const message =
      kind === Lex.COLON
        ? 'A ":" needs a field name before it; write \\: for a colon as text'
        : `${quoted(found)} has nothing to act on here; put a backslash before it to mean the character`
    lexer.advance()
    this.report.error("unexpected-character", at, end, message, {
      fix: this.report.fix(`Remove ${quoted(found)}`, at, end, "")
    })
    return undefined
  }
}

/** The age that a `recent:` value stands for. */
export const parseAge = (text: string): { readonly amount: number; readonly unit: "h" | "d" | "mo" } | undefined => {
  const match = /^([0-9]{1,9})(h|d|mo)$/.exec(text)
  const amount = Number(match?.[1])
  const unit = match?.[2]
  if (!(amount > 0) || (unit !== "h" && unit !== "d" && unit !== "mo")) {
    return undefined
  }
  return { amount, unit }
}

// ---- helpers ----

const term = (
  field: FieldRef | undefined,
  text: string,
  valueStart: number,
  valueEnd: number,
  start: number,
  end: number
): Query => ({ _tag: "Term", field, text, value: { start: valueStart, end: valueEnd }, span: { start, end } })
