/**
 * Reads tokens into a tree by recursive descent, going on after every mistake.
 *
 *   rule     := or END
 *   or       := and { "OR" and }
 *   and      := not { not }
 *   not      := { "-" } atom
 *   atom     := "(" or ")" | phrase | tag | operator | keyword
 */

import type { XNode } from "./ast.ts"
import { quoted, readKeyword, readOperator } from "./clauses.ts"
import { Cursor } from "./cursor.ts"
import { limits } from "./operators.ts"
import type { Edit, Report } from "./report.ts"
import { removal, type Token } from "./scanner.ts"

/** The tree of what could be read; `undefined` where there is no clause at all. */
export const parseTokens = (text: string, report: Report): XNode | undefined => new Parser(text, report).rule()

// ---- helpers ----

class Parser {
  private readonly text: string
  private readonly report: Report
  private readonly cursor: Cursor
  private depth = 0
  /** Open parentheses that the end of the text left open, outermost last. */
  private readonly unclosed: Array<number> = []
  private stopped = false

  constructor(text: string, report: Report) {
    this.text = text
    this.report = report
    this.cursor = new Cursor(text, report)
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
        mend: {
          message: `Add ${shown} at the end`,
          edits: [{ start: this.text.trimEnd().length, end: length, text: missing }]
        }
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
        this.misplacedOr(sign, before === undefined)
      }
      add(clauses, next, "Or")
      before = next ?? before
    }
    return joined("Or", clauses, start, this.cursor.consumed())
  }

  private misplacedOr(sign: Token, noLeft: boolean): void {
    const side = noLeft ? "before" : "after"
    this.report.error("misplaced-or", sign.start, sign.end, `OR joins two clauses: there is none ${side} it`, {
      expected: ["a clause"],
      mend: { message: "Remove this OR", edits: [removal(this.text, sign.start, sign.end)] }
    })
  }

  // and := not { not }
  private and(): XNode | undefined {
    const start = this.cursor.peek().start
    const clauses: Array<XNode> = []
    for (;;) {
      const token = this.cursor.peek()
      if (token.kind === "end" || token.kind === "or") {
        break
      }
      if (token.kind === "close") {
        if (this.depth > 0) {
          break
        }
        this.cursor.at++
        this.report.error("extra-parenthesis", token.start, token.end, 'This ")" closes nothing', {
          mend: { message: 'Remove this ")"', edits: [this.withoutParenthesis(token)] }
        })
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
    return joined("And", clauses, start, this.cursor.consumed())
  }

  private withoutParenthesis({ start, end }: Token): Edit {
    const touches = end < this.text.length && start > 0 && /\S\S/.test(this.text[start - 1] + this.text.charAt(end))
    return { start, end, text: touches ? " " : "" }
  }

  private ambiguousAnd(token: Token): void {
    const word = this.cursor.slice(token)
    const next = this.cursor.peek().kind
    const before = this.cursor.before(2)?.kind
    const joins = before !== undefined && before !== "or" && before !== "open" && next !== "end" && next !== "or"
    const message = `Ambiguous use of "${word}": a space already joins two clauses, and quotes search for the word`
    this.report.error("ambiguous-and", token.start, token.end, message, {
      expected: ["a space", `"${word}" in quotes`],
      mend: joins
        ? {
            message: `Remove "${word}": a space already joins two clauses`,
            edits: [removal(this.text, token.start, token.end)]
          }
        : { message: `Put "${word}" in quotes to search for the word`, edits: [quoted(token.start, token.end, word)] }
    })
  }

  // not := { "-" } atom
  private not(): XNode | undefined {
    const first = this.cursor.peek()
    if (first.kind !== "minus") {
      return this.atom()
    }
    let last = first
    let next = first
    while (next.kind === "minus") {
      last = this.cursor.take()
      next = this.cursor.peek()
    }
    if (next.kind === "end" || next.kind === "close" || next.kind === "or") {
      this.report.error("lone-minus", first.start, last.end, '"-" needs a clause right after it', {
        expected: ["a clause"],
        mend: { message: 'Remove "-"', edits: [removal(this.text, first.start, last.end)] }
      })
      return undefined
    }
    if (next.start > last.end) {
      this.report.error("detached-minus", first.start, last.end, '"-" must touch the clause that it negates', {
        mend: { message: 'Remove the space after "-"', edits: [{ start: last.end, end: next.start, text: "" }] }
      })
    }
    if (last !== first) {
      const message = "One minus negates: more of them mean the same"
      this.report.warn("repeated-minus", first.start, last.end, message, {
        mend: { message: 'Write one "-"', edits: [{ start: first.start, end: last.end, text: "-" }] }
      })
    }
    const clause = this.atom()
    if (clause === undefined) {
      return undefined
    }
    if (next.kind === "open") {
      this.negatedGroup(first, clause)
    }
    return { _tag: "Not", clause, span: { start: first.start, end: this.cursor.consumed() } }
  }

  private negatedGroup(minus: Token, clause: XNode): void {
    const close = this.cursor.before(1)
    if (close === undefined || close.kind !== "close") {
      return
    }
    const parts = clause._tag === "Or" ? clause.clauses : [clause]
    const simple = parts.every((part) => part._tag !== "And" && part._tag !== "Or" && part._tag !== "Not")
    const text = parts.map((part) => `-${this.text.slice(part.span.start, part.span.end)}`).join(" ")
    const message = "X advises against negated groups: negate single clauses instead"
    this.report.warn("negated-group", minus.start, close.end, message, {
      expected: ["-a -b"],
      ...(simple && {
        mend: { message: "Negate each clause", edits: [{ start: minus.start, end: close.end, text }] }
      })
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
        return this.phrase(token)
      case "tag": {
        const sign = this.text[token.start]
        const text = this.text.slice(token.valueStart, token.valueEnd)
        return { _tag: "Tag", sign: sign === "@" || sign === "$" ? sign : "#", text, span }
      }
      case "operator":
        return readOperator(this.cursor, token)
      default:
        return readKeyword(this.cursor, token)
    }
  }

  private group(open: Token): XNode | undefined {
    if (this.depth >= limits.maxDepth) {
      this.stopped = true
      this.cursor.at = this.cursor.tokens.length - 1
      const message = `Parentheses are nested too deep: at most ${limits.maxDepth} levels`
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
          mend: { message: "Remove the parentheses", edits: [removal(this.text, open.start, close.end)] }
        })
      }
      return undefined
    }
    return node._tag === "And" || node._tag === "Or" ? { ...node, span: { start: open.start, end: close.end } } : node
  }

  private phrase(token: Token): XNode | undefined {
    const text = this.cursor.content(token)
    if (text.trim() === "") {
      // Quotes that are not closed, or not double, have been reported already.
      if (token.form === "quoted") {
        this.report.error("empty-phrase", token.start, token.end, "There is nothing between these quotes", {
          expected: ["words"],
          mend: { message: "Remove the quotes", edits: [removal(this.text, token.start, token.end)] }
        })
      }
      return undefined
    }
    const distance = token.distance < 0 ? undefined : token.distance
    return { _tag: "Phrase", text, distance, span: { start: token.start, end: token.end } }
  }

  /** Two clauses without a space between them are read as two, but are easily misread. */
  private checkSpacing(token: Token): void {
    const before = this.cursor.before(token === this.cursor.peek() ? 1 : 2)
    if (before === undefined || before.end !== token.start || before.kind === "open" || before.kind === "minus") {
      return
    }
    // A value that is missing, and a quote that is never closed, have been reported already.
    if ((before.kind === "operator" && before.form === "none") || (token.kind === "phrase" && token.form === "none")) {
      return
    }
    this.report.warn("missing-space", token.start, token.end, "Put a space between two clauses", {
      mend: { message: "Insert a space", edits: [{ start: token.start, end: token.start, text: " " }] }
    })
  }
}

/** Keeps `And` out of `And` and `Or` out of `Or`: the parentheses between them mean nothing. */
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

function joined(tag: "And" | "Or", clauses: ReadonlyArray<XNode>, start: number, end: number): XNode | undefined {
  return clauses.length > 1 ? { _tag: tag, clauses, span: { start, end } } : clauses[0]
}
