/** Parses the leaves of a rule: words, wildcards, phrases, patterns and ranges, with their suffixes. */

import type { Report } from "../issues/Report.ts"
import { nfaLimits } from "../regex/nfa.ts"
import type { FieldRef, Query } from "./ast.ts"
import { costOfPhrase } from "./cost.ts"
import { resolve, wildcardParts } from "./escapes.ts"
import type { Field, KeywordFieldInfo } from "./fieldSet.ts"
import * as Lex from "./lexer.ts"
import { escapeTerm, quotePhrase } from "./printer.ts"
import { quoted } from "./quoted.ts"
import { readRange } from "./ranges.ts"
import { distanceOf, ignoreTilde, readSuffix, rejectTilde, slopOf } from "./suffixes.ts"
import { unescapedEdit, unescapedEnd } from "./unescaped.ts"

/** `start` is the offset of the clause, with its field; `valueStart` is the offset of its value. */
export class LeafParser {
  private readonly report: Report
  private readonly text: string
  private readonly lexer: Lex.Lexer

  constructor(report: Report, lexer: Lex.Lexer) {
    this.report = report
    this.text = report.text
    this.lexer = lexer
  }

  /** Leaf := ( TERM | WILDCARD | REGEX | BARE_OPERATOR | QUOTED ) [ Suffix ] | Range [ Boost ]. */
  read(ref: FieldRef | undefined, field: Field | undefined, start: number): Query | undefined {
    const lexer = this.lexer
    switch (lexer.kind) {
      case Lex.TERM:
      case Lex.WILDCARD: {
        const { start: valueStart, end, kind, escaped } = lexer
        if (lexer.dangling) {
          this.report.error("dangling-escape", end - 1, end, "There is no character after this backslash", {
            fix: this.report.fix("Remove the backslash", end - 1, end, "")
          })
          lexer.advance()
          return term(ref, resolve(this.report, valueStart, end - 1, escaped), valueStart, end - 1, start, end)
        }
        const next = this.text.charCodeAt(end)
        if (next === 0x2f || (next === 0x3a && ref !== undefined)) {
          return this.unescapedWord(ref, field, start, valueStart)
        }
        lexer.advance()
        return this.word(ref, field, { start, valueStart, end, kind, escaped })
      }
      case Lex.BARE_OPERATOR: {
        const { start: valueStart, end } = lexer
        lexer.advance()
        const sign = this.text.slice(valueStart, end)
        this.report.warning(
          "stray-operator",
          valueStart,
          end,
          `${quoted(sign)} before a space is read as a word and has no effect`,
          {
            expected: [`${sign}word`],
            fix: this.report.fix("Remove the space", end, Math.min(lexer.start, this.text.length), "")
          }
        )
        return term(ref, sign, valueStart, end, start, end)
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
        const { start: valueStart, end } = lexer
        lexer.advance()
        const value = { start: valueStart, end }
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

  /** A term or wildcard that the lexer has already passed. */
  word(
    ref: FieldRef | undefined,
    field: Field | undefined,
    token: { start: number; valueStart: number; end: number; kind: number; escaped: boolean }
  ): Query | undefined {
    const { start, valueStart, end, kind, escaped } = token
    const suffix = readSuffix(this.lexer, this.report, end)
    const value = { start: valueStart, end }
    const span = { start, end: suffix.end }
    if (kind === Lex.WILDCARD) {
      ignoreTilde(this.report, suffix)
      return { _tag: "Wildcard", field: ref, parts: wildcardParts(this.report, valueStart, end), value, span }
    }
    const text = resolve(this.report, valueStart, end, escaped)
    if (suffix.tilde !== undefined) {
      return { _tag: "Fuzzy", field: ref, text, distance: distanceOf(this.report, suffix.tilde, text), value, span }
    }
    const age = field?.kind === "filter" ? parseAge(text) : undefined
    return age === undefined
      ? { _tag: "Term", field: ref, text, value, span }
      : { _tag: "Recent", field: ref, ...age, value, span }
  }

  /** Everything := "*" ":" "*". The lexer is at the second "*". */
  everything(start: number): Query {
    const { start: valueStart, end } = this.lexer
    this.lexer.advance()
    const suffix = readSuffix(this.lexer, this.report, end)
    ignoreTilde(this.report, suffix)
    return { _tag: "Everything", field: undefined, value: { start: valueStart, end }, span: { start, end: suffix.end } }
  }

  /** An address without a field; `start` is the offset of its scheme. */
  bareUrl(start: number): Query | undefined {
    const end = unescapedEnd(this.text, start)
    const raw = this.text.slice(start, end)
    const edit = unescapedEdit(raw, { isKeyword: true })
    this.report.error(
      "bare-url",
      start,
      end,
      "An address needs url: before it, and double quotes or a backslash before each / and :",
      {
        expected: ['url:"https://…"', "domain:example.com"],
        fix: this.report.fix("Search for the address in url", start, end, `url:${edit.text}`)
      }
    )
    this.lexer.moveTo(end)
    return term(undefined, raw, start, end, start, end)
  }

  /** Phrase := QUOTED [ Suffix ] */
  private phrase(ref: FieldRef | undefined, start: number): Query | undefined {
    const lexer = this.lexer
    const { start: valueStart, end, escaped } = lexer
    const text = resolve(this.report, valueStart + 1, end - 1, escaped)
    lexer.advance()
    const suffix = readSuffix(this.lexer, this.report, end)
    const slop = suffix.tilde === undefined ? 0 : slopOf(this.report, suffix.tilde)
    const value = { start: valueStart, end }
    return { _tag: "Phrase", field: ref, text, slop, value, span: { start, end: suffix.end } }
  }

  /** Regex := REGEX [ Boost ]. The context shows whether a slash is a pattern or unescaped text. */
  private regex(ref: FieldRef | undefined, field: Field | undefined, start: number): Query | undefined {
    const lexer = this.lexer
    const { start: valueStart, end } = lexer
    if (lexer.kind === Lex.UNCLOSED_REGEX) {
      const wordEnd = unescapedEnd(this.text, valueStart)
      const word = this.text.slice(valueStart, wordEnd)
      if (/[.*+[(|\\{]/.test(word) || ref === undefined) {
        const message = 'This "/" opens a pattern that is never closed'
        this.report.error("unclosed-regex", valueStart, valueStart + 1, message, {
          expected: ["/", "\\/"],
          fix:
            ref === undefined || word === "/"
              ? this.report.fix("Quote the word", valueStart, wordEnd, quotePhrase(word))
              : this.report.fix("Close the pattern", wordEnd, wordEnd, "/")
        })
        lexer.moveTo(wordEnd)
        return term(ref, word, valueStart, wordEnd, start, wordEnd)
      }
      return this.unescapedWord(ref, field, start, valueStart)
    }
    const pattern = this.text.slice(valueStart + 1, end - 1)
    const next = this.text.charCodeAt(end)
    const isGlued =
      end < this.text.length && !Lex.isSpace(next) && next !== 0x29 && next !== 0x28 && next !== 0x5e && next !== 0x7e
    const isLabel = ref !== undefined && field?.kind === "keyword" && isLabelField(field) && /^[\w&]*$/.test(pattern)
    if (isGlued || isLabel || (ref !== undefined && field?.kind === "keyword" && /[ \t\r\n]/.test(pattern))) {
      return this.unescapedWord(ref, field, start, valueStart)
    }
    lexer.advance()
    const suffix = readSuffix(this.lexer, this.report, end)
    ignoreTilde(this.report, suffix)
    const value = { start: valueStart, end }
    return { _tag: "Regex", field: ref, pattern, value, span: { start, end: suffix.end } }
  }

  private range(ref: FieldRef | undefined, start: number): Query | undefined {
    const open = this.lexer.start
    const { ends, includesFrom, includesTo, end } = readRange(this.report, ref, open)
    this.lexer.moveTo(end)
    if (ends === undefined) return undefined
    const suffix = readSuffix(this.lexer, this.report, end)
    rejectTilde(this.report, suffix)
    const value = { start: open, end }
    return { _tag: "Range", field: ref, ...ends, includesFrom, includesTo, value, span: { start, end: suffix.end } }
  }

  /** A word with an unescaped `/` or `:`. All of it becomes one value. */
  private unescapedWord(
    ref: FieldRef | undefined,
    field: Field | undefined,
    start: number,
    valueStart: number
  ): Query | undefined {
    const end = unescapedEnd(this.text, valueStart)
    const raw = this.text.slice(valueStart, end)
    const isKeyword = field?.kind === "keyword"
    const hasDomainField = ref !== undefined && isKeyword && field.format === "domain"
    const edit = unescapedEdit(raw, { hasDomainField, isKeyword })
    const isPhrase = field === undefined || costOfPhrase({ text: raw, slop: 0 }, field) <= nfaLimits.maxActive
    const advice = `put ${isPhrase ? "the value in double quotes, or " : ""}a backslash before each of them`
    this.report.error("unescaped-special", valueStart, end, `${quoted(raw)} has an unescaped "/" or ":": ${advice}`, {
      expected: [...(isPhrase ? [quotePhrase(raw)] : []), escapeTerm(raw)],
      fix: this.report.fix(edit.message, edit.wholeClause ? start : valueStart, end, edit.text)
    })
    this.lexer.moveTo(end)
    return term(ref, raw, valueStart, end, start, end)
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
        Math.max(ref.span.end, Lex.trimEnd(this.text, at)),
        `The field ${quoted(ref.name)} has no value`,
        { expected: ["a word", "a phrase", "("] }
      )
      if (kind === Lex.COLON) lexer.advance()
      return undefined
    }
    const found = this.text.slice(at, end)
    const message =
      kind === Lex.COLON
        ? 'A ":" needs a field name before it; write \\: for a literal colon'
        : `${quoted(found)} is not valid here; put a backslash before it for the character`
    lexer.advance()
    this.report.error("unexpected-character", at, end, message, {
      fix: this.report.fix(`Remove ${quoted(found)}`, at, end, "")
    })
    return undefined
  }
}

/** Parses the value of `recent:`. */
export const parseAge = (text: string): { readonly amount: number; readonly unit: "h" | "d" | "mo" } | undefined => {
  const match = /^([0-9]{1,9})(h|d|mo)$/.exec(text)
  const amount = Number(match?.[1])
  const unit = match?.[2]
  if (!(amount > 0) || (unit !== "h" && unit !== "d" && unit !== "mo")) return undefined
  return { amount, unit }
}

// ---- helpers ----

const isLabelField = ({ format }: KeywordFieldInfo): boolean => format === "page_type" || format === "page_category"

const term = (
  field: FieldRef | undefined,
  text: string,
  valueStart: number,
  valueEnd: number,
  start: number,
  end: number
): Query => ({ _tag: "Term", field, text, value: { start: valueStart, end: valueEnd }, span: { start, end } })
