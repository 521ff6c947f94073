/** What a well-formed rule can still get wrong: clauses that cannot stand alone, and combinations that match nothing. */
import type { AndNode, Leaf, OperatorNode, OrNode, XNode } from "./ast.ts"
import { checkLeaf } from "./leaves.ts"
import { choiceOf, operatorNamed } from "./operators.ts"
import { leafKey } from "./printer.ts"
import type { Edit, Report } from "./report.ts"
import { stopWords } from "./vocabulary.ts"

export const checkTree = (text: string, root: XNode, report: Report): void => {
  const checker = new Checker(text, report)
  checker.visit(root, true, undefined)
  checker.root(root)
}

// ---- helpers ----

class Checker {
  private readonly text: string
  private readonly report: Report

  constructor(text: string, report: Report) {
    this.text = text
    this.report = report
  }

  /** Checks every clause by itself. `or` is the outermost alternative that the node is part of. */
  visit(node: XNode, positive: boolean, or: OrNode | undefined): void {
    switch (node._tag) {
      case "Or":
        for (const clause of node.clauses) {
          this.visit(clause, positive, or ?? node)
          if (positive && !hasPositive(clause)) {
            this.negatedBranch(clause)
          }
        }
        this.repetitions(node)
        return
      case "And":
        for (const clause of node.clauses) {
          this.visit(clause, positive, or)
        }
        this.repetitions(node)
        this.impossible(node)
        return
      case "Not":
        this.visit(node.clause, false, or)
        return
      default:
        checkLeaf(this.text, node, this.report)
        if (node._tag === "Operator") {
          this.polarity(node, positive, or)
        }
    }
  }

  /** The rule as a whole needs something to search for. */
  root(node: XNode): void {
    const { start, end } = node.span
    if (!hasPositive(node)) {
      // In an OR every branch has been reported already.
      if (node._tag !== "Or") {
        this.report.error(
          "only-negations",
          start,
          end,
          "The rule only says what to leave out: add at least one clause to search for",
          { expected: ["a clause without -"] }
        )
      }
      return
    }
    this.anchored(node)
  }

  /** Reports the smallest parts that lack a clause which can stand alone. */
  private anchored(node: XNode): void {
    if (hasAnchor(node) || !hasPositive(node)) {
      return
    }
    if (node._tag === "Or") {
      for (const clause of node.clauses) {
        this.anchored(clause)
      }
      return
    }
    if (node._tag === "And") {
      const carrying = node.clauses.filter(hasPositive)
      const [only] = carrying
      if (carrying.length === 1 && only !== undefined && only._tag === "Or") {
        this.anchored(only)
        return
      }
    }
    const { start, end } = node.span
    const operator = firstOperator(node)
    if (operator === undefined) {
      const message = "These words are too common to search for alone: add a rarer word or put them in quotes"
      const words = this.text.slice(start, end)
      this.report.error("stop-words-only", start, end, message, {
        expected: ["a word that is not a stop word", "a phrase in quotes"],
        ...(isKeywords(node) && {
          mend: { message: "Search for the phrase", edits: [{ start, end, text: `"${words}"` }] }
        })
      })
    } else {
      const message = `"${operator.name}:" cannot stand alone: add a keyword, phrase, tag or account to it`
      this.report.error("needs-conjunction", start, end, message, {
        expected: ["a clause that can stand alone, such as a keyword or from:"]
      })
    }
  }

  private negatedBranch({ span }: XNode): void {
    const message = "Every side of OR needs something to search for: this one only says what to leave out"
    this.report.error("negated-or", span.start, span.end, message, { expected: ["a clause without -"] })
  }

  private polarity(node: OperatorNode, positive: boolean, or: OrNode | undefined): void {
    const { start, end } = node.span
    const operator = operatorNamed(node.name)
    if (operator === undefined) {
      return
    }
    if (
      operator.value === "choice" &&
      positive &&
      choiceOf(operator, node.value.toLowerCase())?.negation === "always"
    ) {
      const clause = this.text.slice(start, end)
      this.report.error("only-negated", start, end, `"${clause}" can only be excluded: write -${clause}`, {
        expected: [`-${clause}`],
        mend: { message: "Negate it", edits: [{ start, end: start, text: "-" }] }
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

  private sampleInOr(node: OperatorNode, or: OrNode): void {
    const { start, end } = node.span
    const clause = this.text.slice(start, end)
    const message = '"sample:" counts for the whole rule: put the clauses joined by OR in parentheses before it'
    let from = start
    while (from > or.span.start && /\s/.test(this.text.charAt(from - 1))) {
      from--
    }
    const inner = applyWithin(this.text, or.span.start, or.span.end, { start: from, end, text: "" })
    this.report.error("sample-with-or", start, end, message, {
      expected: [`(a OR b) ${clause}`],
      mend: {
        message: "Group the alternatives",
        edits: [{ start: or.span.start, end: or.span.end, text: `${grouped(inner)} ${clause}` }]
      }
    })
  }

  /** The same clause twice says nothing new; a clause and its negation exclude each other. */
  private repetitions(node: AndNode | OrNode): void {
    if (!mayRepeat(node.clauses)) {
      return
    }
    const seen = new Set<string>()
    let previous = 0
    for (const clause of node.clauses) {
      const gap = previous
      previous = clause.span.end
      const negated = clause._tag === "Not"
      const leaf = negated ? clause.clause : clause
      if (leaf._tag === "And" || leaf._tag === "Or" || leaf._tag === "Not") {
        continue
      }
      const key = leafKey(leaf)
      const own = negated ? `-${key}` : key
      const opposite = negated ? key : `-${key}`
      const { start, end } = clause.span
      if (seen.has(own)) {
        this.report.warn("duplicate-clause", start, end, "This clause stands here already", {
          mend: { message: "Remove the repetition", edits: [{ start: gap, end, text: "" }] }
        })
      } else if (node._tag === "And" && seen.has(opposite)) {
        this.report.warn(
          "contradiction",
          start,
          end,
          "This clause excludes what another one asks for: nothing can match"
        )
      }
      seen.add(own)
    }
  }

  /** A post has one author, one language and so on: two of them at once match nothing. */
  private impossible(node: AndNode): void {
    let singles: Map<string, OperatorNode> | undefined
    for (const clause of node.clauses) {
      if (clause._tag !== "Operator" || operatorNamed(clause.name)?.single !== true) {
        continue
      }
      singles ??= new Map()
      const other = singles.get(clause.name)
      if (other === undefined) {
        singles.set(clause.name, clause)
      } else if (leafKey(other) !== leafKey(clause)) {
        const { start, end } = clause.span
        const first = this.text.slice(other.span.start, other.span.end)
        const second = this.text.slice(start, end)
        const message = `No post has both "${first}" and "${second}": nothing can match. Did you mean OR?`
        this.report.warn("never-both", start, end, message, {
          expected: [`(${first} OR ${second})`],
          mend: {
            message: "Join them with OR",
            edits: [
              { start: other.span.start, end: other.span.end, text: `(${first} OR ${second})` },
              { start: gapBefore(this.text, start), end, text: "" }
            ]
          }
        })
        return
      }
    }
  }
}

/** Whether two clauses look alike at a glance: only then is it worth writing all of them out to compare. */
function mayRepeat(clauses: ReadonlyArray<XNode>): boolean {
  const seen = new Set<number>()
  for (const clause of clauses) {
    const leaf = clause._tag === "Not" ? clause.clause : clause
    if (leaf._tag === "And" || leaf._tag === "Or" || leaf._tag === "Not") {
      continue
    }
    const look = glance(leaf)
    if (seen.has(look)) {
      return true
    }
    seen.add(look)
  }
  return false
}

/** A number that is the same for clauses that differ in case only: first character, last character and length. */
function glance(leaf: Leaf): number {
  const text = leaf._tag === "Operator" ? leaf.value : leaf.text
  const name = leaf._tag === "Operator" ? leaf.name.length : 0
  // Modulo 32 an ASCII letter is the same in both cases.
  const first = text.charCodeAt(0) & 31
  const last = text.charCodeAt(text.length - 1) & 31
  return ((text.length * 32 + first) * 32 + last) * 32 + name
}

/** Whether something is asked for at all, in every alternative. */
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

/** Whether every alternative has a clause that can stand alone. */
function hasAnchor(node: XNode): boolean {
  switch (node._tag) {
    case "Not":
      return false
    case "And":
      return node.clauses.some(hasAnchor)
    case "Or":
      return node.clauses.every(hasAnchor)
    case "Keyword":
      return node.text.length > longestStopWord || !stopWords.has(node.text.toLowerCase())
    case "Operator":
      return operatorNamed(node.name)?.use !== "conjunction-required"
    default:
      return true
  }
}

const longestStopWord = Math.max(...[...stopWords].map((word) => word.length))

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
  const clauses: ReadonlyArray<XNode | Leaf> = node._tag === "And" ? node.clauses : [node]
  return clauses.every((clause) => clause._tag === "Keyword")
}

function gapBefore(text: string, start: number): number {
  let from = start
  while (from > 0 && /\s/.test(text.charAt(from - 1))) {
    from--
  }
  return from
}

function applyWithin(text: string, start: number, end: number, edit: Edit): string {
  return text.slice(start, edit.start) + edit.text + text.slice(edit.end, end)
}

/** Parenthesised, unless one pair of parentheses holds it all already. */
function grouped(text: string): string {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    depth += text[i] === "(" ? 1 : text[i] === ")" ? -1 : 0
    if (depth === 0 && i < text.length - 1) {
      return `(${text})`
    }
  }
  return depth === 0 ? text : `(${text})`
}
