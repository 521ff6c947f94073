/**
 * Reads a Firehose rule by the grammar of Lucene's classic query parser and reports what does not fit, going on after
 * it where it can. Recursion is as deep as the parentheses, which are bounded.
 */
import type { Clause, FieldRef, Group, Occur, Query, Spelling } from "./ast.ts"
import { resolve, wildcardParts } from "./escapes.ts"
import { defaultField, type Field, fieldOf, limits } from "./fields.ts"
import * as Lex from "./lexer.ts"
import { looseEdit, looseEnd } from "./loose.ts"
import { escapeTerm, quotePhrase } from "./printer.ts"
import { readRange } from "./ranges.ts"
import { quoted, type Report } from "./report.ts"
import { distanceOf, ignoreTilde, readSuffix, refuseTilde, slopOf } from "./suffixes.ts"
import { hasWords } from "./tokens.ts"

/** The tree of the whole text. It is good for printing and lowering only when the report has no error. */
export const parseRule = (report: Report): Group => new Parser(report).rule()

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

interface MutableClause extends Clause {
  occur: Occur
}

class Parser {
  private readonly report: Report
  private readonly text: string
  private readonly lexer: Lex.Lexer
  private leaves = 0
  private stopped = false

  constructor(report: Report) {
    this.report = report
    this.text = report.text
    this.lexer = new Lex.Lexer(report.text)
  }

  /** Rule := Clauses END */
  rule(): Group {
    const { clauses, dropped } = this.clauses(fieldOf(defaultField), 0)
    return { _tag: "Group", field: undefined, clauses, dropped, span: { start: 0, end: this.text.length } }
  }

  /** Clauses := [ Modifier ] Clause ( [ Conjunction ] [ Modifier ] Clause )* */
  private clauses(field: Field | undefined, depth: number): { clauses: Array<Clause>; dropped: Array<Clause> } {
    const lexer = this.lexer
    const clauses: Array<MutableClause> = []
    const dropped: Array<Clause> = []
    let isFirst = true
    let previousEnd = lexer.start
    while (lexer.kind !== Lex.END) {
      if (this.report.isFull) {
        this.stopped = true
        lexer.moveTo(this.text.length)
        break
      }
      if (lexer.kind === Lex.CLOSE) {
        if (depth > 0) {
          break
        }
        this.report.error("extra-parenthesis", lexer.start, lexer.end, 'This ")" closes nothing', {
          fix: this.report.fix('Remove the extra ")"', lexer.start, lexer.end, "")
        })
        lexer.advance()
        continue
      }
      const jointStart = lexer.start
      const conjunction = this.conjunction(isFirst)
      const joint = { start: jointStart, end: conjunction === undefined ? jointStart : lexer.end }
      if (conjunction !== undefined) {
        lexer.advance()
        this.repeatedConjunctions()
      }
      const start = lexer.start
      const modifier = this.modifier()
      if (this.danglingOperator(jointStart, previousEnd, conjunction !== undefined || modifier !== undefined)) {
        continue
      }
      isFirst = false
      const query = this.clause(field, depth)
      if (query === undefined) {
        previousEnd = Math.max(previousEnd, Math.min(lexer.start, this.text.length))
        continue
      }
      previousEnd = query.span.end
      const spelling: Spelling = { conjunction, modifier, joint }
      addClause(clauses, dropped, { query, spelling, span: { start, end: query.span.end } }, vanishes(query, field))
    }
    return { clauses, dropped }
  }

  /** Conjunction := "AND" | "&&" | "OR" | "||". Stays on the token. */
  private conjunction(isFirst: boolean): "and" | "or" | undefined {
    const lexer = this.lexer
    if (isFirst && (lexer.kind === Lex.AND || lexer.kind === Lex.OR)) {
      const { start } = lexer
      let { end } = lexer
      while (lexer.kind === Lex.AND || lexer.kind === Lex.OR) {
        end = lexer.end
        lexer.advance()
      }
      const word = this.text.slice(start, end)
      this.report.error("leading-operator", start, end, `Nothing stands before ${quoted(word)} for it to join`, {
        expected: ["a word", "a phrase", "a field", "("],
        fix: this.report.fix(`Remove ${quoted(word)}`, start, Math.min(lexer.start, this.text.length), "")
      })
    }
    return lexer.kind === Lex.AND ? "and" : lexer.kind === Lex.OR ? "or" : undefined
  }

  private repeatedConjunctions(): void {
    const lexer = this.lexer
    const start = lexer.start
    let end = start
    while (lexer.kind === Lex.AND || lexer.kind === Lex.OR) {
      end = lexer.end
      lexer.advance()
    }
    if (end > start) {
      this.report.error("doubled-operator", start, end, "Two operators follow each other: one clause is missing", {
        expected: ["a word", "a phrase", "a field", "NOT", "("],
        fix: this.report.fix("Keep the first operator", start, Math.min(lexer.start, this.text.length), "")
      })
    }
  }

  /** Modifier := "+" | "-" | "!" | "NOT" */
  private modifier(): "not" | "plus" | undefined {
    const lexer = this.lexer
    let modifier: "not" | "plus" | undefined
    let extraStart = -1
    let extraEnd = -1
    while (lexer.kind === Lex.NOT || lexer.kind === Lex.MINUS || lexer.kind === Lex.PLUS) {
      if (modifier === undefined) {
        modifier = lexer.kind === Lex.PLUS ? "plus" : "not"
      } else {
        extraStart = extraStart === -1 ? lexer.start : extraStart
        extraEnd = lexer.end
      }
      lexer.advance()
    }
    if (extraStart !== -1) {
      this.report.error(
        "doubled-modifier",
        extraStart,
        extraEnd,
        "A clause takes one of NOT, !, + and -: here are more",
        { fix: this.report.fix("Keep the first one", extraStart, Math.min(lexer.start, this.text.length), "") }
      )
    }
    return modifier
  }

  /** An operator with no clause after it. True when the clause is missing. */
  private danglingOperator(start: number, previousEnd: number, hasOperator: boolean): boolean {
    const lexer = this.lexer
    const { kind } = lexer
    if (!hasOperator || (kind !== Lex.END && kind !== Lex.CLOSE && kind !== Lex.AND && kind !== Lex.OR)) {
      return false
    }
    const end = Math.max(start, lastNonSpace(this.text, lexer.start))
    const word = this.text.slice(start, end)
    this.report.error("dangling-operator", start, end, `Nothing stands after ${quoted(word)} for it to act on`, {
      expected: ["a word", "a phrase", "a field", "("],
      fix: this.report.fix(`Remove ${quoted(word)}`, Math.min(previousEnd, start), end, "")
    })
    return true
  }

  /** Clause := [ ( TERM | "*" ) ":" ] ( Value | "(" Clauses ")" [ Boost ] ) */
  private clause(outer: Field | undefined, depth: number): Query | undefined {
    const lexer = this.lexer
    const { start, end, kind, escaped, dangling } = lexer
    if (kind !== Lex.TERM && kind !== Lex.WILDCARD) {
      return this.value(undefined, outer, start, depth)
    }
    const isStar = kind === Lex.WILDCARD && end - start === 1 && this.text.charCodeAt(start) === 0x2a
    if (dangling || this.text.charCodeAt(end) === 0x2f) {
      return this.value(undefined, outer, start, depth)
    }
    lexer.advance()
    if (lexer.kind !== Lex.COLON || (kind !== Lex.TERM && !isStar)) {
      return this.word(undefined, outer, { start, start0: start, end, kind, escaped })
    }
    const colonEnd = lexer.end
    const name = resolve(this.report, start, end, escaped)
    if (this.text.startsWith("//", colonEnd) && /^(https?|ftp)$/i.test(name)) {
      return this.bareUrl(start)
    }
    lexer.advance()
    const ref: FieldRef = { name, span: { start, end } }
    if (isStar) {
      return this.everything(start, ref)
    }
    return this.value(ref, fieldOf(name), start, depth)
  }

  /** Everything := "*" ":" "*" */
  private everything(start: number, ref: FieldRef): Query | undefined {
    const lexer = this.lexer
    if (lexer.kind === Lex.WILDCARD && lexer.end - lexer.start === 1 && this.text.charCodeAt(lexer.start) === 0x2a) {
      const value = { start: lexer.start, end: lexer.end }
      lexer.advance()
      const suffix = readSuffix(this.lexer, this.report, value.end)
      ignoreTilde(this.report, suffix)
      return this.leaf({ _tag: "Everything", field: undefined, value, span: { start, end: suffix.end } })
    }
    this.report.error("unknown-field", ref.span.start, ref.span.end, 'A "*" before ":" only stands in *:*', {
      expected: ["*:*"]
    })
    return this.value(undefined, undefined, start, 0)
  }

  /** Value := ( TERM | WILDCARD | REGEX | BARE_OPERATOR | QUOTED ) [ Suffix ] | Range [ Boost ] | Group */
  private value(ref: FieldRef | undefined, field: Field | undefined, start: number, depth: number): Query | undefined {
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
          return this.leaf(this.term(ref, resolve(this.report, start0, end - 1, escaped), start0, end - 1, start, end))
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
        return this.leaf(this.term(ref, sign, start0, end, start, end))
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
        return this.leaf({ _tag: "Phrase", field: ref, text: "", slop: 0, value, span: { start, end } })
      }
      case Lex.REGEX:
      case Lex.UNCLOSED_REGEX:
        return this.regex(ref, field, start)
      case Lex.RANGE:
        return this.range(ref, start)
      case Lex.OPEN:
        return this.group(ref, field, start, depth)
      default:
        return this.missingValue(ref, start)
    }
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
        Math.max(ref.span.end, lastNonSpace(this.text, at)),
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

  /** A term or a wildcard term that the lexer has passed already. */
  private word(
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
      return this.leaf({ _tag: "Wildcard", field: ref, parts, value, span: { start, end: suffix.end } })
    }
    const text = resolve(this.report, start0, end, escaped)
    if (suffix.tilde !== undefined) {
      const distance = distanceOf(this.report, suffix.tilde, text)
      const value = { start: start0, end }
      return this.leaf({ _tag: "Fuzzy", field: ref, text, distance, value, span: { start, end: suffix.end } })
    }
    if (field?.kind === "filter") {
      const age = parseAge(text)
      if (age !== undefined) {
        const value = { start: start0, end }
        return this.leaf({ _tag: "Recent", field: ref, ...age, value, span: { start, end: suffix.end } })
      }
    }
    return this.leaf(this.term(ref, text, start0, end, start, suffix.end))
  }

  private term(
    field: FieldRef | undefined,
    text: string,
    valueStart: number,
    valueEnd: number,
    start: number,
    end: number
  ): Query {
    return { _tag: "Term", field, text, value: { start: valueStart, end: valueEnd }, span: { start, end } }
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
    return this.leaf({ _tag: "Phrase", field: ref, text, slop, value, span: { start, end: suffix.end } })
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
        return this.leaf(this.term(ref, this.text.slice(start0, wordEnd), start0, wordEnd, start, wordEnd))
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
    return this.leaf({ _tag: "Regex", field: ref, pattern, value, span: { start, end: suffix.end } })
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
    return this.leaf({
      _tag: "Range",
      field: ref,
      ...ends,
      includesFrom,
      includesTo,
      value,
      span: { start, end: suffix.end }
    })
  }

  /** Group := "(" Clauses ")" [ Boost ] */
  private group(ref: FieldRef | undefined, field: Field | undefined, start: number, depth: number): Query | undefined {
    const lexer = this.lexer
    const open = lexer.start
    if (depth >= limits.maxDepth) {
      this.stop("too-deep", open, open + 1, `Parentheses are more than ${limits.maxDepth} deep`)
      return undefined
    }
    lexer.advance()
    if (lexer.kind === Lex.CLOSE) {
      const end = lexer.end
      lexer.advance()
      this.report.error("empty-group", open, end, "Nothing stands between these parentheses", {
        expected: ["a word", "a phrase", "a field"]
      })
      return undefined
    }
    const { clauses, dropped } = this.clauses(field, depth + 1)
    if (lexer.kind !== Lex.CLOSE) {
      if (!this.stopped) {
        this.report.error("unclosed-group", open, open + 1, 'This "(" is never closed', {
          expected: [")"],
          fix: this.report.fix('Add ")" at the end', this.text.length, this.text.length, ")")
        })
      }
      return { _tag: "Group", field: ref, clauses, dropped, span: { start, end: this.text.length } }
    }
    const end = lexer.end
    lexer.advance()
    const suffix = readSuffix(this.lexer, this.report, end)
    refuseTilde(this.report, suffix)
    return { _tag: "Group", field: ref, clauses, dropped, span: { start, end: suffix.end } }
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
    return this.leaf(this.term(ref, raw, start0, end, start, end))
  }

  private bareUrl(start: number): Query | undefined {
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
    return this.leaf(this.term(undefined, raw, start, end, start, end))
  }

  private leaf(query: Query): Query {
    this.leaves++
    if (this.leaves > limits.maxClauses && !this.stopped) {
      this.stop(
        "too-many-clauses",
        query.span.start,
        query.span.end,
        `A rule takes ${limits.maxClauses} clauses at most`
      )
    }
    return query
  }

  /** Gives up on the rest of the text. */
  private stop(code: string, start: number, end: number, message: string): void {
    this.report.error(code, start, end, message)
    this.stopped = true
    this.lexer.moveTo(this.text.length)
  }
}

/** Occurrence by conjunction and modifier, with OR as the default: AND also makes the clause before it required. */
const addClause = (
  clauses: Array<MutableClause>,
  dropped: Array<Clause>,
  clause: Omit<Clause, "occur">,
  isDropped: boolean
): void => {
  const { conjunction, modifier } = clause.spelling
  const previous = clauses.at(-1)
  if (conjunction === "and" && previous !== undefined && previous.occur === "should") {
    previous.occur = "must"
  }
  const occur = modifier === "not" ? "must_not" : modifier === "plus" || conjunction === "and" ? "must" : "should"
  if (isDropped) {
    dropped.push({ occur, query: clause.query, spelling: clause.spelling, span: clause.span })
  } else {
    clauses.push({ occur, query: clause.query, spelling: clause.spelling, span: clause.span })
  }
}

/** The analysis leaves nothing of it, and Lucene then forgets the clause. */
const vanishes = (query: Query, outer: Field | undefined): boolean => {
  switch (query._tag) {
    case "Group":
      return query.clauses.length === 0
    case "Term":
    case "Phrase": {
      const field = query.field === undefined ? outer : fieldOf(query.field.name)
      return field?.kind === "text" && query.text !== "" && !hasWords(query.text, field.keepsStopWords)
    }
    default:
      return false
  }
}

const lastNonSpace = (text: string, from: number): number => {
  let at = Math.min(from, text.length)
  while (at > 0 && Lex.isSpace(text.charCodeAt(at - 1))) at--
  return at
}
