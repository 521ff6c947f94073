/** Checks a parsed rule: clauses that cannot stand alone, and combinations that match nothing. */

import type { Report } from "../issues/Report.ts"
import { type AndNode, isLeaf, type Leaf, type OperatorNode, type OrNode, type XNode } from "./ast.ts"
import type { Dialect } from "./Dialect.ts"
import { checkLeaf } from "./leaves.ts"
import { choiceOf } from "./operators.ts"
import { printLeaf } from "./printer.ts"
import { stopWords } from "./vocabulary.ts"

export const checkRule = (report: Report, root: XNode, dialect: Dialect): void => {
  const checker = new Checker(report, dialect)
  checker.visit(root, true, undefined)
  checker.root(root)
}

// ---- helpers ----

class Checker {
  private readonly text: string
  private readonly report: Report
  private readonly dialect: Dialect

  constructor(report: Report, dialect: Dialect) {
    this.text = report.text
    this.report = report
    this.dialect = dialect
  }

  /** `or` is the outermost `Or` around the node. */
  visit(node: XNode, positive: boolean, or: OrNode | undefined): void {
    switch (node._tag) {
      case "Or":
        for (const clause of node.clauses) {
          this.visit(clause, positive, or ?? node)
          if (positive && !hasPositive(clause)) {
            this.negatedBranch(clause)
          }
        }
        this.checkDuplicates(node)
        return
      case "And":
        for (const clause of node.clauses) {
          this.visit(clause, positive, or)
        }
        this.checkDuplicates(node)
        this.checkSingleValues(node)
        return
      case "Not":
        this.visit(node.clause, false, or)
        return
      default:
        checkLeaf(this.report, node, this.dialect)
        if (node._tag === "Operator") {
          this.checkOperator(node, positive, or)
        }
    }
  }

  root(node: XNode): void {
    const { start, end } = node.span
    if (hasPositive(node)) {
      this.requireStandalone(node)
    } else if (node._tag !== "Or") {
      // `visit` reports the branches of an OR.
      const message = "The rule only excludes: add at least one clause to search for"
      this.report.error("only-negations", start, end, message, { expected: ["a clause without -"] })
    }
  }

  /** Reports the smallest parts without a clause that can stand alone. */
  private requireStandalone(node: XNode): void {
    if (hasStandalone(node) || !hasPositive(node)) {
      return
    }
    if (node._tag === "Or") {
      for (const clause of node.clauses) {
        this.requireStandalone(clause)
      }
      return
    }
    if (node._tag === "And") {
      const positive = node.clauses.filter(hasPositive)
      const [only] = positive
      if (positive.length === 1 && only !== undefined && only._tag === "Or") {
        this.requireStandalone(only)
        return
      }
    }
    const { start, end } = node.span
    const operator = firstOperator(node)
    if (operator === undefined) {
      const message = "These words are too common to search for alone: add a rarer word or put them in quotes"
      const phrase = `"${this.text.slice(start, end)}"`
      this.report.error("stop-words-only", start, end, message, {
        expected: ["a word that is not a stop word", "a phrase in quotes"],
        fix: isKeywords(node) ? this.report.fix("Search for the phrase", start, end, phrase) : undefined
      })
    } else {
      const message = `"${operator.name}:" cannot stand alone: add a keyword, phrase, tag or account to it`
      this.report.error("needs-conjunction", start, end, message, {
        expected: ["a clause that can stand alone, such as a keyword or from:"]
      })
    }
  }

  private negatedBranch({ span }: XNode): void {
    const message = "Every side of OR needs a clause to search for: this one only excludes"
    this.report.error("negated-or", span.start, span.end, message, { expected: ["a clause without -"] })
  }

  private checkOperator(node: OperatorNode, positive: boolean, or: OrNode | undefined): void {
    const { start, end } = node.span
    const { operator } = node
    const choice = operator.value === "choice" ? choiceOf(operator.choices, node.value.toLowerCase()) : undefined
    if (positive && choice?.negation === "always") {
      const clause = this.text.slice(start, end)
      this.report.error("only-negated", start, end, `"${clause}" can only be excluded: write -${clause}`, {
        expected: [`-${clause}`],
        fix: this.report.fix("Negate it", start, start, "-")
      })
    }
    if (operator.negation === "never" && !positive) {
      this.report.error("cannot-negate", start, end, `"${node.name}:" cannot be negated`, {
        expected: [operator.form]
      })
    }
    if (operator.target.test === "sample" && or !== undefined) {
      this.sampleInOr(node, or)
    }
  }

  private sampleInOr({ span: { start, end } }: OperatorNode, { span: or }: OrNode): void {
    const clause = this.text.slice(start, end)
    const message = '"sample:" applies to the whole rule: put the clauses joined by OR in parentheses before it'
    const from = Math.max(or.start, gapBefore(this.text, start))
    const others = this.text.slice(or.start, from) + this.text.slice(end, or.end)
    this.report.error("sample-with-or", start, end, message, {
      expected: [`(a OR b) ${clause}`],
      fix: this.report.fix("Group the alternatives", or.start, or.end, `${parenthesized(others)} ${clause}`)
    })
  }

  /** Warns about duplicate clauses, and in an AND about a clause beside its negation. */
  private checkDuplicates(node: AndNode | OrNode): void {
    if (!mayHaveDuplicates(node.clauses)) {
      return
    }
    const seen = new Set<string>()
    let previousEnd = 0
    for (const clause of node.clauses) {
      const from = previousEnd
      previousEnd = clause.span.end
      const negated = clause._tag === "Not"
      const leaf = negated ? clause.clause : clause
      if (!isLeaf(leaf)) {
        continue
      }
      const text = printLeaf(leaf)
      const own = negated ? `-${text}` : text
      const opposite = negated ? text : `-${text}`
      const { start, end } = clause.span
      if (seen.has(own)) {
        this.report.warning("duplicate-clause", start, end, "This clause is a duplicate", {
          fix: this.report.fix("Remove the duplicate", from, end, "")
        })
      } else if (node._tag === "And" && seen.has(opposite)) {
        const message = "This clause excludes what another one asks for: nothing can match"
        this.report.warning("contradiction", start, end, message)
      }
      seen.add(own)
    }
  }

  /** A post has one author, one language and so on: two different values match nothing. */
  private checkSingleValues(node: AndNode): void {
    let singles: Map<string, OperatorNode> | undefined
    for (const clause of node.clauses) {
      if (clause._tag !== "Operator" || !clause.operator.single) {
        continue
      }
      singles ??= new Map()
      const other = singles.get(clause.name)
      if (other === undefined) {
        singles.set(clause.name, clause)
      } else if (printLeaf(other) !== printLeaf(clause)) {
        this.neverBoth(other, clause)
        return
      }
    }
  }

  private neverBoth({ span: other }: OperatorNode, { span: { start, end } }: OperatorNode): void {
    const first = this.text.slice(other.start, other.end)
    const second = this.text.slice(start, end)
    const text = `(${first} OR ${second})`
    const message = `No post has both "${first}" and "${second}": nothing can match. Did you mean OR?`
    const edits = [
      { start: other.start, end: other.end, text },
      { start: gapBefore(this.text, start), end, text: "" }
    ]
    this.report.warning("never-both", start, end, message, {
      expected: [text],
      fix: this.report.fixAll("Join them with OR", edits)
    })
  }
}

/** A cheap test without false negatives, which avoids printing every clause. */
function mayHaveDuplicates(clauses: ReadonlyArray<XNode>): boolean {
  const seen = new Set<number>()
  for (const clause of clauses) {
    const leaf = clause._tag === "Not" ? clause.clause : clause
    if (!isLeaf(leaf)) {
      continue
    }
    const hash = hashOf(leaf)
    if (seen.has(hash)) {
      return true
    }
    seen.add(hash)
  }
  return false
}

/** Equal for clauses that differ in case only. Uses the first character, the last character and the length. */
function hashOf(leaf: Leaf): number {
  const text = leaf._tag === "Operator" ? leaf.value : leaf.text
  const name = leaf._tag === "Operator" ? leaf.name.length : 0
  // Modulo 32 an ASCII letter is the same in both cases.
  const first = text.charCodeAt(0) & 31
  const last = text.charCodeAt(text.length - 1) & 31
  return ((text.length * 32 + first) * 32 + last) * 32 + name
}

/** Every alternative has a clause that is not negated. */
function hasPositive(node: XNode): boolean {
  switch (node._tag) {
    case "Not":
      return false
    case "And":
      return node.clauses.some(hasPositive)
    case "Or":
      return node.clauses.every(hasPositive)
    default:
      return true
  }
}

/** Every alternative has a clause that can stand alone. */
function hasStandalone(node: XNode): boolean {
  switch (node._tag) {
    case "Not":
      return false
    case "And":
      return node.clauses.some(hasStandalone)
    case "Or":
      return node.clauses.every(hasStandalone)
    case "Keyword":
      return node.text.length > MAX_STOP_WORD_LENGTH || !stopWords.has(node.text.toLowerCase())
    case "Operator":
      return node.operator.use !== "conjunction-required"
    default:
      return true
  }
}

const MAX_STOP_WORD_LENGTH = Math.max(...[...stopWords].map((word) => word.length))

function firstOperator(node: XNode): OperatorNode | undefined {
  if (node._tag === "Operator") {
    return node
  }
  if (node._tag === "And" || node._tag === "Or") {
    for (const clause of node.clauses) {
      const found = firstOperator(clause)
      if (found !== undefined) {
        return found
      }
    }
  }
  return undefined
}

function isKeywords(node: XNode): boolean {
  const clauses = node._tag === "And" ? node.clauses : [node]
  return clauses.every((clause) => clause._tag === "Keyword")
}

/** Start of the white space before `start`. */
function gapBefore(text: string, start: number): number {
  let from = start
  while (from > 0 && /\s/.test(text.charAt(from - 1))) {
    from--
  }
  return from
}

/** Adds parentheses unless one pair already encloses the whole text. */
function parenthesized(text: string): string {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    depth += text[i] === "(" ? 1 : text[i] === ")" ? -1 : 0
    if (depth === 0 && i < text.length - 1) {
      return `(${text})`
    }
  }
  return depth === 0 ? text : `(${text})`
}
