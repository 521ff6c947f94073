/**
 * Parses a Firehose rule with the grammar of Lucene's classic query parser. Reports errors and recovers where it can.
 * `limits.maxDepth` bounds the recursion.
 */

import { Report } from "../issues/Report.ts"
import type { Clause, FieldRef, Group, Occur, Query, Spelling } from "./ast.ts"
import { readConjunction, readModifier, rejectDangling, rejectRepeats } from "./connectives.ts"
import { resolve } from "./escapes.ts"
import type { Field, FieldSet } from "./fieldSet.ts"
import { limits } from "./fields.ts"
import { LeafParser } from "./leaves.ts"
import * as Lex from "./lexer.ts"
import { readSuffix, rejectTilde } from "./suffixes.ts"
import { hasWords } from "./tokens.ts"

/** The AST is valid only if the report has no error. */
export const parseRule = (report: Report, fields: FieldSet): Group => new Parser(report, fields).rule()

// ---- helpers ----

interface MutableClause extends Clause {
  occur: Occur
}

class Parser {
  private readonly report: Report
  private readonly text: string
  private readonly lexer: Lex.Lexer
  private readonly leaves: LeafParser
  private readonly fields: FieldSet
  private readonly maxLeaves: number
  leafCount = 0
  private stopped = false

  constructor(report: Report, fields: FieldSet, maxLeaves: number = limits.maxClauses) {
    this.report = report
    this.fields = fields
    this.maxLeaves = maxLeaves
    this.text = report.text
    this.lexer = new Lex.Lexer(report.text)
    this.leaves = new LeafParser(report, this.lexer)
  }

  /** Rule := Clauses END */
  rule(): Group {
    const { clauses, dropped } = this.clauses(this.fields.default, 0)
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
      if (lexer.kind === Lex.CLOSE) {
        if (depth > 0) break
        this.report.error("extra-parenthesis", lexer.start, lexer.end, 'This ")" has no matching "("', {
          fix: this.report.fix('Remove the extra ")"', lexer.start, lexer.end, "")
        })
        lexer.advance()
        continue
      }
      const operatorStart = lexer.start
      const conjunction = readConjunction(lexer, this.report, isFirst)
      const conjunctionSpan = { start: operatorStart, end: conjunction === undefined ? operatorStart : lexer.end }
      if (conjunction !== undefined) {
        lexer.advance()
        rejectRepeats(lexer, this.report)
      }
      const start = lexer.start
      const modifier = readModifier(lexer, this.report)
      const hasOperator = conjunction !== undefined || modifier !== undefined
      if (hasOperator && rejectDangling(lexer, this.report, operatorStart, previousEnd)) continue
      isFirst = false
      const query = this.clause(field, depth)
      if (query === undefined) {
        previousEnd = Math.max(previousEnd, Math.min(lexer.start, this.text.length))
        continue
      }
      previousEnd = query.span.end
      const spelling: Spelling = { conjunction, modifier, conjunctionSpan }
      addClause(
        clauses,
        dropped,
        { query, spelling, span: { start, end: query.span.end } },
        this.isDroppedByAnalysis(query, field)
      )
    }
    return { clauses, dropped }
  }

  /** Clause := [ ( TERM | "*" ) ":" ] Value */
  private clause(outer: Field | undefined, depth: number): Query | undefined {
    const lexer = this.lexer
    const { start, end, kind, escaped, dangling } = lexer
    if (kind !== Lex.TERM && kind !== Lex.WILDCARD) return this.value(undefined, outer, start, depth)
    const isStar = this.isStar()
    if (dangling || this.text.charCodeAt(end) === 0x2f) return this.value(undefined, outer, start, depth)
    lexer.advance()
    if (lexer.kind !== Lex.COLON || (kind !== Lex.TERM && !isStar)) {
      return this.counted(this.leaves.word(undefined, outer, { start, valueStart: start, end, kind, escaped }))
    }
    const colonEnd = lexer.end
    const name = resolve(this.report, start, end, escaped)
    if (this.text.startsWith("//", colonEnd) && /^(https?|ftp)$/i.test(name)) {
      return this.counted(this.leaves.bareUrl(start))
    }
    lexer.advance()
    const ref: FieldRef = { name, span: { start, end } }
    if (isStar) return this.everything(start, ref)
    return this.value(ref, this.fields.of(name), start, depth)
  }

  /** Everything := "*" ":" "*" */
  private everything(start: number, ref: FieldRef): Query | undefined {
    if (this.isStar()) return this.counted(this.leaves.everything(start))
    this.report.error("unknown-field", ref.span.start, ref.span.end, 'A "*" before ":" is only valid in *:*', {
      expected: ["*:*"]
    })
    return this.value(undefined, undefined, start, 0)
  }

  private isStar(): boolean {
    const lexer = this.lexer
    return lexer.kind === Lex.WILDCARD && lexer.end - lexer.start === 1 && this.text.charCodeAt(lexer.start) === 0x2a
  }

  /** Value := Leaf | Group */
  private value(ref: FieldRef | undefined, field: Field | undefined, start: number, depth: number): Query | undefined {
    return this.lexer.kind === Lex.OPEN
      ? this.group(ref, field, start, depth)
      : this.counted(this.leaves.read(ref, field, start))
  }

  /** Group := "(" Clauses ")" [ Boost ] */
  private group(ref: FieldRef | undefined, field: Field | undefined, start: number, depth: number): Query | undefined {
    const lexer = this.lexer
    const open = lexer.start
    if (depth >= limits.maxDepth) {
      const message = `Parentheses are nested ${depthOf(this.text)} levels deep, at most ${limits.maxDepth} are allowed: remove those that are not needed, or split the rule into several`
      this.stop("too-deep", open, open + 1, message)
      return undefined
    }
    lexer.advance()
    if (lexer.kind === Lex.CLOSE) {
      const end = lexer.end
      lexer.advance()
      this.report.error("empty-group", open, end, "These parentheses are empty", {
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
    rejectTilde(this.report, suffix)
    return { _tag: "Group", field: ref, clauses, dropped, span: { start, end: suffix.end } }
  }

  /** Enforces the limit on the number of leaves. */
  private counted(leaf: Query | undefined): Query | undefined {
    if (leaf === undefined) return undefined
    this.leafCount++
    if (this.leafCount > this.maxLeaves && !this.stopped) {
      const { start, end } = leaf.span
      const count = this.leafCount + leavesIn(this.text.slice(end), this.fields)
      const message = `A rule has at most ${limits.maxClauses} clauses, this one has ${count}: split it into several rules`
      this.stop("too-many-clauses", start, end, message)
    }
    return leaf
  }

  /** Lucene drops a clause if text analysis leaves no words in it. */
  private isDroppedByAnalysis(query: Query, outer: Field | undefined): boolean {
    switch (query._tag) {
      case "Group":
        return query.clauses.length === 0
      case "Term":
      case "Phrase": {
        const field = query.field === undefined ? outer : this.fields.of(query.field.name)
        return field?.kind === "text" && query.text !== "" && !hasWords(query.text, field.keepsStopWords)
      }
      default:
        return false
    }
  }

  /** Reports an error and skips the rest of the text. */
  private stop(code: string, start: number, end: number, message: string): void {
    this.report.error(code, start, end, message)
    this.stopped = true
    this.lexer.moveTo(this.text.length)
  }
}

/** For an error message. */
const leavesIn = (text: string, fields: FieldSet): number => {
  const parser = new Parser(new Report(text, { hasSuggestions: false }), fields, Number.POSITIVE_INFINITY)
  parser.rule()
  return parser.leafCount
}

/** For an error message. */
const depthOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  for (const lexer = new Lex.Lexer(text); lexer.kind !== Lex.END; lexer.advance()) {
    if (lexer.kind === Lex.OPEN) deepest = Math.max(deepest, ++depth)
    else if (lexer.kind === Lex.CLOSE) depth = Math.max(0, depth - 1)
  }
  return deepest
}

/** Adds a clause with its occurrence. OR is the default operator; AND also makes the previous clause required. */
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
  const list: Array<Clause> = isDropped ? dropped : clauses
  list.push({ occur, query: clause.query, spelling: clause.spelling, span: clause.span })
}
