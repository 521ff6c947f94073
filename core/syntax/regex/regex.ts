/** Reads a pattern in Lucene's regular-expression dialect to a tree that fits the whole value from end to end. */
import { limits } from "../firehose/fields.ts"
import { readCharacter, readClass, readInterval, readString } from "./regexAtoms.ts"
import { RegexCursor, type RegexProblem } from "./regexCursor.ts"
import { nothing, type RegexNode, type Sized } from "./regexTree.ts"

export interface ParsedRegex {
  /** Absent when there is an error. */
  readonly tree: RegexNode | undefined
  readonly problems: ReadonlyArray<RegexProblem>
}

export const parseRegex = (pattern: string): ParsedRegex => new RegexParser(pattern).whole()

// ---- helpers ----

class RegexParser {
  private readonly cursor: RegexCursor
  private depth = 0

  constructor(pattern: string) {
    this.cursor = new RegexCursor(pattern)
  }

  whole(): ParsedRegex {
    const cursor = this.cursor
    if (cursor.pattern === "") {
      cursor.error("regex-empty", 0, 0, "The pattern between the slashes is empty")
      return { tree: undefined, problems: cursor.problems }
    }
    const tree = this.union()
    if (!cursor.failed && cursor.at < cursor.pattern.length) {
      cursor.error(
        "regex-syntax",
        cursor.at,
        cursor.at + 1,
        'This ")" closes nothing in the pattern; write \\) for the character',
        {
          message: 'Put a backslash before ")"',
          text: "\\)"
        }
      )
    }
    if (!cursor.failed && tree.size > limits.maxRegexSize) {
      cursor.error(
        "regex-too-large",
        0,
        cursor.pattern.length,
        `The pattern unfolds to more than ${limits.maxRegexSize} steps: lower its repeat counts`
      )
    }
    return { tree: cursor.failed ? undefined : tree.node, problems: cursor.problems }
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
    if (cursor.failed || cursor.pattern[cursor.at] !== sign) {
      return first
    }
    const parts = [first.node]
    let size = first.size
    while (!cursor.failed && cursor.pattern[cursor.at] === sign) {
      if (sign === "&") {
        cursor.special("&", "it means that both sides must fit")
      }
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
    while (!cursor.failed && cursor.at < cursor.pattern.length && !")|&".includes(cursor.pattern.charAt(cursor.at))) {
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
      cursor.error(
        "regex-syntax",
        start,
        Math.min(start + 1, cursor.pattern.length),
        'One side of "|" or "&" is empty; write () for nothing at all'
      )
      return nothing
    }
    return { node: parts.length === 1 ? only : { _tag: "Concat", parts }, size }
  }

  /** Repeat := Complement ( "?" | "*" | "+" | "{" n [ "," [ m ] ] "}" )* */
  private repeat(): Sized {
    const cursor = this.cursor
    let part = this.complement()
    while (!cursor.failed && cursor.at < cursor.pattern.length && "?*+{".includes(cursor.pattern.charAt(cursor.at))) {
      const sign = cursor.pattern.charAt(cursor.at)
      const bounds = sign === "{" ? this.bounds() : simpleBounds(sign)
      if (sign !== "{") {
        cursor.at++
      }
      if (bounds === undefined) {
        return nothing
      }
      const { min, max } = bounds
      part = {
        node: { _tag: "Repeat", part: part.node, min, max },
        size: Math.min(Number.MAX_SAFE_INTEGER, part.size * Math.max(1, max ?? min) + 1)
      }
    }
    return part
  }

  private bounds(): { min: number; max: number | undefined } | undefined {
    const cursor = this.cursor
    const match = /^\{([0-9]{1,6})(?:(,)([0-9]{1,6})?)?\}/.exec(cursor.pattern.slice(cursor.at, cursor.at + 20))
    const start = cursor.at
    if (match === null) {
      cursor.error(
        "regex-syntax",
        start,
        start + 1,
        'After "{" stand one or two numbers and "}": {3}, {3,} or {3,5}; write \\{ for the character',
        {
          message: 'Put a backslash before "{"',
          text: "\\{"
        }
      )
      return undefined
    }
    cursor.at += match[0].length
    const min = Number(match[1])
    const max = match[2] === undefined ? min : match[3] === undefined ? undefined : Number(match[3])
    if (max !== undefined && max < min) {
      cursor.error("regex-syntax", start, cursor.at, "The second number is smaller than the first", {
        message: "Swap the two numbers",
        text: `{${max},${min}}`
      })
      return undefined
    }
    return { min, max }
  }

  /** Complement := "~" Complement | Atom */
  private complement(): Sized {
    const cursor = this.cursor
    let count = 0
    while (cursor.pattern[cursor.at] === "~") {
      cursor.special("~", "it turns the next part around")
      cursor.at++
      count++
    }
    if (cursor.at >= cursor.pattern.length) {
      cursor.endOfPattern()
      return nothing
    }
    const part = this.atom()
    return count % 2 === 0 ? part : { node: { _tag: "Complement", part: part.node }, size: part.size + 1 }
  }

  /** Atom := Class | "." | "#" | "@" | String | Group | Interval | Character */
  private atom(): Sized {
    const cursor = this.cursor
    const start = cursor.at
    const sign = cursor.pattern.charAt(start)
    switch (sign) {
      case "[":
        return readClass(cursor)
      case ".":
        cursor.at++
        return { node: anyCharacter, size: 1 }
      case "#":
        cursor.special("#", "it fits no text at all")
        cursor.at++
        return { node: { _tag: "None" }, size: 1 }
      case "@":
        cursor.special("@", "it fits any text")
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
        cursor.error(
          "regex-nothing-to-repeat",
          start,
          start + 1,
          `Nothing stands before ${JSON.stringify(sign)} for it to repeat; .* stands for any text`,
          {
            message: sign === "*" ? "Write .* for any text" : `Put a backslash before "${sign}"`,
            text: sign === "*" ? ".*" : `\\${sign}`
          }
        )
        return nothing
      case "^":
      case "$":
        this.anchor(sign)
        return readCharacter(cursor)
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
      cursor.error(
        "regex-group",
        open,
        open + (isPlain ? 3 : 2),
        'A group here is only "(" and ")": this dialect has no options, names or look-around',
        isPlain ? { message: "Write a plain group", text: "(" } : undefined
      )
      return nothing
    }
    if (this.depth >= limits.maxRegexDepth) {
      cursor.error(
        "regex-too-large",
        open,
        open + 1,
        `Groups in the pattern are more than ${limits.maxRegexDepth} deep`
      )
      return nothing
    }
    cursor.at++
    if (cursor.pattern[cursor.at] === ")") {
      cursor.at++
      return nothing
    }
    this.depth++
    const inner = cursor.at < cursor.pattern.length ? this.union() : nothing
    this.depth--
    if (cursor.failed) {
      return nothing
    }
    if (cursor.pattern[cursor.at] !== ")") {
      cursor.error(
        "regex-syntax",
        open,
        open + 1,
        'This "(" is never closed in the pattern; write \\( for the character'
      )
      return nothing
    }
    cursor.at++
    return inner
  }

  private anchor(sign: string): void {
    const cursor = this.cursor
    cursor.warn(
      "regex-anchor",
      cursor.at,
      cursor.at + 1,
      `"${sign}" is an ordinary character here: a pattern always runs from the start of the value to its end`,
      {
        message: `Remove "${sign}"`,
        text: ""
      }
    )
  }
}

const simpleBounds = (sign: string): { min: number; max: number | undefined } =>
  sign === "?" ? { min: 0, max: 1 } : { min: sign === "+" ? 1 : 0, max: undefined }

const anyCharacter: RegexNode = { _tag: "AnyCharacter" }
