/** Parses a pattern in Lucene's regular-expression dialect. A pattern matches the whole value. */
import { readCharacter, readClass, readInterval, readString } from "./atoms.ts"
import { Cursor, escapeSign, type RegexIssue } from "./cursor.ts"
import { nfaLimits } from "./nfa.ts"
import { empty, type RegexNode, type Sized } from "./tree.ts"

export interface ParsedRegex {
  /** `undefined` if there is an error. */
  readonly tree: RegexNode | undefined
  readonly issues: ReadonlyArray<RegexIssue>
}

export const parseRegex = (pattern: string): ParsedRegex => new Parser(pattern).parse()

// ---- helpers ----

/** Limit on the nesting of groups. */
const MAX_DEPTH = 50

class Parser {
  private readonly cursor: Cursor
  private depth = 0

  constructor(pattern: string) {
    this.cursor = new Cursor(pattern)
  }

  parse(): ParsedRegex {
    const cursor = this.cursor
    const { length } = cursor.pattern
    if (length === 0) {
      cursor.error("regex-empty", 0, 0, "The pattern between the slashes is empty")
      return { tree: undefined, issues: cursor.issues }
    }
    const tree = this.union()
    if (!cursor.isAtEnd) {
      const message = 'This ")" has no matching "(" in the pattern; write \\) for the character'
      cursor.error("regex-syntax", cursor.at, cursor.at + 1, message, escapeSign(")"))
    }
    // Repeats make it larger than its text. Found here, before the automaton is built.
    const maxSize = nfaLimits.maxActive + length
    if (tree.size > maxSize) {
      const message = `The pattern needs ${tree.size} automaton states, and at most ${maxSize} are allowed: lower its repeat counts`
      cursor.error("regex-too-large", 0, length, message)
    }
    return { tree: cursor.failed ? undefined : tree.node, issues: cursor.issues }
  }

  /** Union := Intersection ( "|" Intersection )* */
  private union(): Sized {
    return this.list("|", "Union", () => this.intersection())
  }

  /** Intersection := Concat ( "&" Concat )* */
  private intersection(): Sized {
    return this.list("&", "Intersection", () => this.concat())
  }

  private list(sign: "|" | "&", _tag: "Union" | "Intersection", part: () => Sized): Sized {
    const cursor = this.cursor
    const first = part()
    if (cursor.failed || cursor.peek() !== sign) return first
    const parts = [first.node]
    let size = first.size
    while (!cursor.failed && cursor.peek() === sign) {
      if (sign === "&") cursor.unusualOperator("&", "both sides must match")
      cursor.at++
      const next = part()
      parts.push(next.node)
      size += next.size + 1
    }
    return { node: { _tag, parts }, size }
  }

  /** Concat := Repeat+ */
  private concat(): Sized {
    const cursor = this.cursor
    const parts: Array<RegexNode> = []
    let size = 0
    const start = cursor.at
    while (!cursor.failed && !cursor.isAtEnd && !")|&".includes(cursor.peek())) {
      const next = this.repeat()
      const last = parts.at(-1)
      if (next.node._tag === "Literal" && last?._tag === "Literal") {
        parts[parts.length - 1] = { _tag: "Literal", text: last.text + next.node.text }
      } else {
        parts.push(next.node)
      }
      size += next.size
    }
    const only = parts[0]
    if (only === undefined) {
      const end = Math.min(start + 1, cursor.pattern.length)
      return cursor.error("regex-syntax", start, end, 'One side of "|" or "&" is empty; write () for the empty string')
    }
    return { node: parts.length === 1 ? only : { _tag: "Concat", parts }, size }
  }

  /** Repeat := Complement ( "?" | "*" | "+" | "{" n [ "," [ m ] ] "}" )* */
  private repeat(): Sized {
    const cursor = this.cursor
    let part = this.complement()
    while (!cursor.failed && !cursor.isAtEnd && "?*+{".includes(cursor.peek())) {
      const bounds = this.bounds(cursor.peek())
      if (bounds === undefined) return empty
      const { min, max } = bounds
      part = {
        node: { _tag: "Repeat", part: part.node, min, max },
        size: Math.min(Number.MAX_SAFE_INTEGER, part.size * Math.max(1, max ?? min) + 1)
      }
    }
    return part
  }

  private bounds(sign: string): Bounds | undefined {
    const cursor = this.cursor
    const start = cursor.at
    if (sign !== "{") {
      cursor.at++
      return { min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : undefined }
    }
    const match = /^\{([0-9]{1,12})(?:(,)([0-9]{1,12})?)?\}/.exec(cursor.pattern.slice(start, start + 30))
    if (match === null) {
      const message = "Invalid repeat count: write {3}, {3,} or {3,5}, or \\{ for the character"
      cursor.error("regex-syntax", start, start + 1, message, escapeSign("{"))
      return undefined
    }
    cursor.at += match[0].length
    const min = Number(match[1])
    const max = match[2] === undefined ? min : match[3] === undefined ? undefined : Number(match[3])
    if (max !== undefined && max < min) {
      const swapped = { message: "Swap the two numbers", text: `{${max},${min}}` }
      cursor.error("regex-syntax", start, cursor.at, "The second number is smaller than the first", swapped)
      return undefined
    }
    return { min, max }
  }

  /** Complement := "~" Complement | Atom */
  private complement(): Sized {
    const cursor = this.cursor
    let count = 0
    while (cursor.peek() === "~") {
      cursor.unusualOperator("~", "it negates the next part")
      cursor.at++
      count++
    }
    if (cursor.isAtEnd) return cursor.unexpectedEnd()
    const part = this.atom()
    return count % 2 === 0 ? part : { node: { _tag: "Complement", part: part.node }, size: part.size + 1 }
  }

  /** Atom := Class | "." | "#" | "@" | String | Group | Interval | Character */
  private atom(): Sized {
    const cursor = this.cursor
    const sign = cursor.pattern.charAt(cursor.at)
    switch (sign) {
      case "[":
        return readClass(cursor)
      case ".":
        cursor.at++
        return { node: { _tag: "AnyCharacter" }, size: 1 }
      case "#":
        cursor.unusualOperator("#", "it matches nothing")
        cursor.at++
        return { node: { _tag: "None" }, size: 1 }
      case "@":
        cursor.unusualOperator("@", "it matches any text")
        cursor.at++
        return { node: { _tag: "AnyString" }, size: 1 }
      case '"':
        return readString(cursor)
      case "(":
        return this.group()
      case "<":
        return readInterval(cursor)
      case "?":
      case "*":
      case "+":
        return cursor.error(
          "regex-nothing-to-repeat",
          cursor.at,
          cursor.at + 1,
          `"${sign}" has nothing to repeat; write .* for any text`,
          sign === "*" ? { message: "Write .* for any text", text: ".*" } : escapeSign(sign)
        )
      case "^":
      case "$": {
        const message = `"${sign}" is an ordinary character here: a pattern always matches the whole value`
        cursor.warning("regex-anchor", cursor.at, cursor.at + 1, message, { message: `Remove "${sign}"`, text: "" })
        return readCharacter(cursor)
      }
      default:
        return readCharacter(cursor)
    }
  }

  /** Group := "(" [ Union ] ")" */
  private group(): Sized {
    const cursor = this.cursor
    const open = cursor.at
    if (cursor.pattern[open + 1] === "?") {
      const isPlain = cursor.pattern[open + 2] === ":"
      return cursor.error(
        "regex-group",
        open,
        open + (isPlain ? 3 : 2),
        'This dialect has no "(?" groups: no flags, no names, no lookaround',
        isPlain ? { message: "Write a plain group", text: "(" } : undefined
      )
    }
    if (this.depth >= MAX_DEPTH) {
      const message = `Groups in the pattern are nested ${depthOf(cursor.pattern)} levels deep, at most ${MAX_DEPTH} are allowed: remove those that are not needed`
      return cursor.error("regex-too-large", open, open + 1, message)
    }
    cursor.at++
    if (cursor.peek() === ")") {
      cursor.at++
      return empty
    }
    this.depth++
    const inner = cursor.isAtEnd ? empty : this.union()
    this.depth--
    if (cursor.peek() !== ")") {
      const message = 'This "(" is never closed in the pattern; write \\( for the character'
      return cursor.error("regex-syntax", open, open + 1, message)
    }
    cursor.at++
    return inner
  }
}

interface Bounds {
  readonly min: number
  readonly max: number | undefined
}

/** Of the groups in a pattern, for a message: parentheses in a class count too. */
const depthOf = (pattern: string): number => {
  let depth = 0
  let deepest = 0
  for (const [sign] of pattern.matchAll(/\\.|[()]/gsu)) {
    if (sign === "(") deepest = Math.max(deepest, ++depth)
    else if (sign === ")") depth = Math.max(0, depth - 1)
  }
  return deepest
}
