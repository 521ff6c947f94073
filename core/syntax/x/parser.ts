/**
 * Parses a rule by recursive descent, and continues after every error.
 *
 *   rule     := or END
 *   or       := and { "OR" and }
 *   and      := not { not }
 *   not      := { "-" } atom
 *   atom     := "(" or ")" | phrase | tag | operator | keyword
 */

import type { Report } from "../issues/Report.ts"
import { isLeaf, type XNode } from "./ast.ts"
import { parseKeyword, parseOperator } from "./clauses.ts"
import { Cursor } from "./cursor.ts"
import type { Dialect } from "./Dialect.ts"
import { limits } from "./operators.ts"
import { removal } from "./removal.ts"
import type { Token } from "./token.ts"

/** The AST of the readable clauses; `undefined` without any. */
export const parseRule = (report: Report, dialect: Dialect): XNode | undefined => new Parser(report, dialect).rule()

// ---- helpers ----

class Parser {
  private readonly text: string
  private readonly report: Report
  private readonly cursor: Cursor
  private depth = 0
  /** Offsets of parentheses that are still open at the end of the text, innermost first. */
  private readonly unclosed: Array<number> = []
  private stopped = false

  constructor(report: Report, dialect: Dialect) {
    this.text = report.text
    this.report = report
    this.cursor = new Cursor(report, dialect)
  }

  // rule := or END
  rule(): XNode | undefined {
    const node = this.or()
    const [innermost] = this.unclosed
    if (innermost !== undefined && !this.stopped) {
      const { length } = this.text
      const missing = ")".repeat(this.unclosed.length)
      const shown = this.unclosed.length === 1 ? '")"' : `${this.unclosed.length} ")"`
      const message = `Missing ${shown} at the end: "(" at position ${innermost + 1} is never closed`
      this.report.error("unclosed-group", length, length, message, {
        expected: [")"],
        fix: this.report.fix(`Add ${shown} at the end`, this.text.trimEnd().length, length, missing)
      })
    }
    if (node === undefined && this.report.errors === 0) {
      this.report.error("empty-rule", 0, this.text.length, "The rule is empty: write at least one word or operator", {
        expected: ["a keyword, phrase or operator"]
      })
    }
    return node
  }

  // or := and { "OR" and }
  private or(): XNode | undefined {
    const start = this.cursor.peek().start
    const first = this.and()
    if (this.cursor.peek().kind !== "or") {
      return first
    }
    const clauses: Array<XNode> = []
    add(clauses, first, "Or")
    let before = first
    while (this.cursor.peek().kind === "or") {
      const sign = this.cursor.take()
      this.checkSpacing(sign)
      const next = this.and()
      if (before === undefined || next === undefined) {
        this.misplacedOr(sign, before === undefined ? "before" : "after")
      }
      add(clauses, next, "Or")
      before = next ?? before
    }
    return join("Or", clauses, start, this.cursor.consumed())
  }

  private misplacedOr({ start, end }: Token, side: "before" | "after"): void {
    this.report.error("misplaced-or", start, end, `OR joins two clauses: there is none ${side} it`, {
      expected: ["a clause"],
      fix: removal(this.report, "Remove this OR", start, end)
    })
  }

  // and := not { not }
  private and(): XNode | undefined {
    const start = this.cursor.peek().start
    const clauses: Array<XNode> = []
    for (;;) {
      const token = this.cursor.peek()
      if (token.kind === "end" || token.kind === "or" || (token.kind === "close" && this.depth > 0)) {
        break
      }
      if (token.kind === "close") {
        this.cursor.at++
        this.extraParenthesis(token)
        continue
      }
      this.checkSpacing(token)
      if (token.kind === "word" && this.cursor.isWord(token, "and")) {
        this.cursor.at++
        this.ambiguousAnd(token)
        continue
      }
      add(clauses, this.not(), "And")
    }
    return join("And", clauses, start, this.cursor.consumed())
  }

  private extraParenthesis({ start, end }: Token): void {
    const separates = end < this.text.length && start > 0 && /\S\S/.test(this.text[start - 1] + this.text.charAt(end))
    this.report.error("extra-parenthesis", start, end, 'This ")" closes nothing', {
      fix: this.report.fix('Remove this ")"', start, end, separates ? " " : "")
    })
  }

  private ambiguousAnd(token: Token): void {
    const { report } = this
    const { start, end } = token
    const word = this.cursor.slice(token)
    const next = this.cursor.peek().kind
    const before = this.cursor.before(2)?.kind
    const joins = before !== undefined && before !== "or" && before !== "open" && next !== "end" && next !== "or"
    const message = `Ambiguous use of "${word}": a space already joins two clauses, and quotes search for the word`
    report.error("ambiguous-and", start, end, message, {
      expected: ["a space", `"${word}" in quotes`],
      fix: joins
        ? removal(report, `Remove "${word}": a space already joins two clauses`, start, end)
        : report.fix(`Put "${word}" in quotes to search for the word`, start, end, `"${word}"`)
    })
  }

  // not := { "-" } atom
  private not(): XNode | undefined {
    const { report } = this
    const first = this.cursor.peek()
    if (first.kind !== "minus") {
      return this.atom()
    }
    const { start } = first
    let last = first
    let next = first
    while (next.kind === "minus") {
      last = this.cursor.take()
      next = this.cursor.peek()
    }
    if (next.kind === "end" || next.kind === "close" || next.kind === "or") {
      report.error("lone-minus", start, last.end, '"-" needs a clause right after it', {
        expected: ["a clause"],
        fix: removal(report, 'Remove "-"', start, last.end)
      })
      return undefined
    }
    if (next.start > last.end) {
      report.error("detached-minus", start, last.end, '"-" must touch the clause that it negates', {
        fix: report.fix('Remove the space after "-"', last.end, next.start, "")
      })
    }
    if (last !== first) {
      report.warning("repeated-minus", start, last.end, 'Several "-" mean the same as one', {
        fix: report.fix('Write one "-"', start, last.end, "-")
      })
    }
    const clause = this.atom()
    if (clause === undefined) {
      return undefined
    }
    if (next.kind === "open") {
      this.negatedGroup(first, clause)
    }
    return { _tag: "Not", clause, span: { start, end: this.cursor.consumed() } }
  }

  private negatedGroup(minus: Token, clause: XNode): void {
    const close = this.cursor.before(1)
    if (close === undefined || close.kind !== "close") {
      return
    }
    const parts = clause._tag === "Or" ? clause.clauses : [clause]
    const text = parts.map((part) => `-${this.text.slice(part.span.start, part.span.end)}`).join(" ")
    const message = `${this.cursor.dialect.name} advises against negated groups: negate single clauses instead`
    this.report.warning("negated-group", minus.start, close.end, message, {
      expected: ["-a -b"],
      fix: parts.every(isLeaf) ? this.report.fix("Negate each clause", minus.start, close.end, text) : undefined
    })
  }

  // atom := "(" or ")" | phrase | tag | operator | keyword
  private atom(): XNode | undefined {
    const token = this.cursor.take()
    const span = { start: token.start, end: token.end }
    switch (token.kind) {
      case "open":
        return this.group(token)
      case "phrase":
        return this.phrase(token, this.cursor.content(token))
      case "tag": {
        const sign = this.text[token.start]
        const text = this.text.slice(token.valueStart, token.valueEnd)
        return { _tag: "Tag", sign: sign === "@" || sign === "$" ? sign : "#", text, span }
      }
      case "operator":
        return parseOperator(this.cursor, token)
      default:
        return parseKeyword(this.cursor, token)
    }
  }

  private group(open: Token): XNode | undefined {
    if (this.depth >= limits.maxDepth) {
      this.stopped = true
      this.cursor.at = this.cursor.tokens.length - 1
      const message = `Parentheses are nested ${depthOf(this.cursor.tokens)} levels deep, at most ${limits.maxDepth} are allowed: remove those that are not needed, or split the rule into several`
      this.report.error("too-deep", open.start, open.end, message)
      return undefined
    }
    const errors = this.report.errors
    this.depth++
    const node = this.or()
    this.depth--
    const close = this.cursor.peek()
    if (close.kind !== "close") {
      this.unclosed.push(open.start)
      return node
    }
    this.cursor.at++
    if (node === undefined) {
      if (this.report.errors === errors) {
        this.report.error("empty-group", open.start, close.end, "There is nothing between these parentheses", {
          expected: ["a clause"],
          fix: removal(this.report, "Remove the parentheses", open.start, close.end)
        })
      }
      return undefined
    }
    return node._tag === "And" || node._tag === "Or" ? { ...node, span: { start: open.start, end: close.end } } : node
  }

  private phrase({ start, end, form, distance }: Token, text: string): XNode | undefined {
    if (text.trim() === "") {
      // The lexer has reported unclosed and wrong quotes.
      if (form === "quoted") {
        this.report.error("empty-phrase", start, end, "There is nothing between these quotes", {
          expected: ["words"],
          fix: removal(this.report, "Remove the quotes", start, end)
        })
      }
      return undefined
    }
    return { _tag: "Phrase", text, distance: distance < 0 ? undefined : distance, span: { start, end } }
  }

  /** Clauses without a space between them are parsed as two, but are easily misread. */
  private checkSpacing(token: Token): void {
    const before = this.cursor.before(token === this.cursor.peek() ? 1 : 2)
    if (before === undefined || before.end !== token.start || before.kind === "open" || before.kind === "minus") {
      return
    }
    // Missing values and unclosed quotes are reported elsewhere.
    if ((before.kind === "operator" && before.form === "none") || (token.kind === "phrase" && token.form === "none")) {
      return
    }
    this.report.warning("missing-space", token.start, token.end, "Put a space between two clauses", {
      fix: this.report.fix("Insert a space", token.start, token.start, " ")
    })
  }
}

/** Flattens `And` in `And` and `Or` in `Or`: parentheses between them have no effect. */
function add(clauses: Array<XNode>, node: XNode | undefined, tag: "And" | "Or"): void {
  if (node === undefined) {
    return
  }
  if (node._tag === tag) {
    for (const clause of node.clauses) {
      clauses.push(clause)
    }
  } else {
    clauses.push(node)
  }
}

function join(tag: "And" | "Or", clauses: ReadonlyArray<XNode>, start: number, end: number): XNode | undefined {
  return clauses.length > 1 ? { _tag: tag, clauses, span: { start, end } } : clauses[0]
}

/** Levels of parentheses, for an error message. */
function depthOf(tokens: ReadonlyArray<Token>): number {
  let depth = 0
  let deepest = 0
  for (const { kind } of tokens) {
    if (kind === "open") deepest = Math.max(deepest, ++depth)
    else if (kind === "close") depth = Math.max(0, depth - 1)
  }
  return deepest
}
