/** Reads a pattern in Lucene's regular-expression dialect to a tree that fits the whole value from end to end. */
import { limits } from "./fields.ts"

/** Characters are code points; ranges include both ends. */
export interface CharacterRange {
  readonly from: number
  readonly to: number
}

export type RegexNode =
  /** The empty string. */
  | { readonly _tag: "Empty" }
  /** `#`: no string at all. */
  | { readonly _tag: "None" }
  /** `@`: any string. */
  | { readonly _tag: "AnyString" }
  /** `.`: any one character. */
  | { readonly _tag: "AnyCharacter" }
  | { readonly _tag: "Literal"; readonly text: string }
  | { readonly _tag: "Class"; readonly negated: boolean; readonly ranges: ReadonlyArray<CharacterRange> }
  | { readonly _tag: "Concat"; readonly parts: ReadonlyArray<RegexNode> }
  | { readonly _tag: "Union"; readonly parts: ReadonlyArray<RegexNode> }
  /** `&`: fits every part. */
  | { readonly _tag: "Intersection"; readonly parts: ReadonlyArray<RegexNode> }
  /** `~`: any string that does not fit. */
  | { readonly _tag: "Complement"; readonly part: RegexNode }
  /** `max` is `undefined` when there is no upper bound. */
  | { readonly _tag: "Repeat"; readonly part: RegexNode; readonly min: number; readonly max: number | undefined }
  /** `<n-m>`: a whole number between the two; `digits` is its fixed width, 0 when the width is free. */
  | { readonly _tag: "Interval"; readonly from: number; readonly to: number; readonly digits: number }

export interface RegexProblem {
  readonly severity: "error" | "warning"
  readonly code: string
  /** Offsets in the pattern. */
  readonly start: number
  readonly end: number
  readonly message: string
  /** What to write in that place instead, when that is plain. */
  readonly replacement?: { readonly message: string; readonly text: string }
}

export interface ParsedRegex {
  /** Absent when there is an error. */
  readonly tree: RegexNode | undefined
  readonly problems: ReadonlyArray<RegexProblem>
}

export const parseRegex = (pattern: string): ParsedRegex => new RegexParser(pattern).whole()

// ---- helpers ----

const shorthands = new Map([
  ["d", "[0-9]"],
  ["D", "[^0-9]"],
  ["w", "[A-Za-z0-9_]"],
  ["W", "[^A-Za-z0-9_]"],
  ["s", "[ \t]"],
  ["S", "[^ \t]"]
])

const classShorthands = new Map([
  ["d", "0-9"],
  ["w", "A-Za-z0-9_"],
  ["s", " \t"]
])

const empty: RegexNode = { _tag: "Empty" }
const anyCharacter: RegexNode = { _tag: "AnyCharacter" }

/** A node with the number of automaton states that it unfolds to. */
interface Sized {
  readonly node: RegexNode
  readonly size: number
}

const nothing: Sized = { node: empty, size: 0 }

class RegexParser {
  private readonly pattern: string
  private at = 0
  private depth = 0
  private readonly problems: Array<RegexProblem> = []
  private failed = false

  constructor(pattern: string) {
    this.pattern = pattern
  }

  whole(): ParsedRegex {
    if (this.pattern === "") {
      this.error("regex-empty", 0, 0, "The pattern between the slashes is empty")
      return { tree: undefined, problems: this.problems }
    }
    const tree = this.union()
    if (!this.failed && this.at < this.pattern.length) {
      this.error(
        "regex-syntax",
        this.at,
        this.at + 1,
        'This ")" closes nothing in the pattern; write \\) for the character',
        {
          message: 'Put a backslash before ")"',
          text: "\\)"
        }
      )
    }
    if (!this.failed && tree.size > limits.maxRegexSize) {
      this.error(
        "regex-too-large",
        0,
        this.pattern.length,
        `The pattern unfolds to more than ${limits.maxRegexSize} steps: lower its repeat counts`
      )
    }
    return { tree: this.failed ? undefined : tree.node, problems: this.problems }
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
    const first = part()
    if (this.failed || this.pattern[this.at] !== sign) {
      return first
    }
    const parts = [first.node]
    let size = first.size
    while (!this.failed && this.pattern[this.at] === sign) {
      if (sign === "&") {
        this.special("&", "it means that both sides must fit")
      }
      this.at++
      const next = part()
      parts.push(next.node)
      size += next.size + 1
    }
    return { node: { _tag, parts }, size }
  }

  /** Concat := Repeat+ */
  private concat(): Sized {
    const parts: Array<RegexNode> = []
    let size = 0
    const start = this.at
    while (!this.failed && this.at < this.pattern.length && !")|&".includes(this.pattern.charAt(this.at))) {
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
      this.error(
        "regex-syntax",
        start,
        Math.min(start + 1, this.pattern.length),
        'One side of "|" or "&" is empty; write () for nothing at all'
      )
      return nothing
    }
    return { node: parts.length === 1 ? only : { _tag: "Concat", parts }, size }
  }

  /** Repeat := Complement ( "?" | "*" | "+" | "{" n [ "," [ m ] ] "}" )* */
  private repeat(): Sized {
    let part = this.complement()
    while (!this.failed && this.at < this.pattern.length && "?*+{".includes(this.pattern.charAt(this.at))) {
      const sign = this.pattern.charAt(this.at)
      const bounds = sign === "{" ? this.bounds() : simpleBounds(sign)
      if (sign !== "{") {
        this.at++
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
    const match = /^\{([0-9]{1,6})(?:(,)([0-9]{1,6})?)?\}/.exec(this.pattern.slice(this.at, this.at + 20))
    const start = this.at
    if (match === null) {
      this.error(
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
    this.at += match[0].length
    const min = Number(match[1])
    const max = match[2] === undefined ? min : match[3] === undefined ? undefined : Number(match[3])
    if (max !== undefined && max < min) {
      this.error("regex-syntax", start, this.at, "The second number is smaller than the first", {
        message: "Swap the two numbers",
        text: `{${max},${min}}`
      })
      return undefined
    }
    return { min, max }
  }

  /** Complement := "~" Complement | Atom */
  private complement(): Sized {
    let count = 0
    while (this.pattern[this.at] === "~") {
      this.special("~", "it turns the next part around")
      this.at++
      count++
    }
    const part = this.at < this.pattern.length ? this.atom() : this.endOfPattern()
    return count % 2 === 0 ? part : { node: { _tag: "Complement", part: part.node }, size: part.size + 1 }
  }

  /** Atom := Class | "." | "#" | "@" | String | "(" [ Union ] ")" | Interval | "\" any | any */
  private atom(): Sized {
    const start = this.at
    const sign = this.pattern.charAt(start)
    switch (sign) {
      case "[":
        return this.characterClass()
      case ".":
        this.at++
        return { node: anyCharacter, size: 1 }
      case "#":
        this.special("#", "it fits no text at all")
        this.at++
        return { node: { _tag: "None" }, size: 1 }
      case "@":
        this.special("@", "it fits any text")
        this.at++
        return { node: { _tag: "AnyString" }, size: 1 }
      case '"':
        return this.string()
      case "(":
        return this.group()
      case "<":
        return this.interval()
      case "?":
      case "*":
      case "+":
        this.error(
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
        return this.character()
      default:
        return this.character()
    }
  }

  private character(): Sized {
    const text = this.oneCharacter(false)
    return text === undefined ? nothing : { node: { _tag: "Literal", text }, size: 1 }
  }

  /** One character, escaped or not. */
  private oneCharacter(inClass: boolean): string | undefined {
    const start = this.at
    const isEscaped = this.pattern[start] === "\\"
    if (isEscaped) {
      this.at++
    }
    const point = this.pattern.codePointAt(this.at)
    if (point === undefined) {
      this.endOfPattern()
      return undefined
    }
    const text = String.fromCodePoint(point)
    this.at += text.length
    if (isEscaped && /[A-Za-z]/.test(text)) {
      const replacement = inClass ? classShorthands.get(text) : shorthands.get(text)
      this.error(
        replacement === undefined && !shorthands.has(text) ? "regex-escape" : "regex-shorthand",
        start,
        this.at,
        `"\\${text}" is not part of this dialect: list the characters in brackets`,
        replacement === undefined ? undefined : { message: `Write ${replacement}`, text: replacement }
      )
      return undefined
    }
    return text
  }

  /** Class := "[" [ "^" ] ( character [ "-" character ] )+ "]" */
  private characterClass(): Sized {
    const open = this.at
    this.at++
    const negated = this.pattern[this.at] === "^"
    if (negated) {
      this.at++
    }
    const ranges: Array<CharacterRange> = []
    while (!this.failed && this.at < this.pattern.length && this.pattern[this.at] !== "]") {
      const start = this.at
      const from = this.oneCharacter(true)?.codePointAt(0)
      let to = from
      if (!this.failed && this.pattern[this.at] === "-") {
        this.at++
        to = this.pattern[this.at] === "]" ? undefined : this.oneCharacter(true)?.codePointAt(0)
        if (!this.failed && to === undefined) {
          this.error(
            "regex-syntax",
            this.at - 1,
            this.at,
            'A "-" in brackets stands between two characters; write \\- for the character',
            {
              message: 'Put a backslash before "-"',
              text: "\\-"
            }
          )
        }
      }
      if (from === undefined || to === undefined) {
        return nothing
      }
      if (from > to) {
        this.error("regex-syntax", start, this.at, "The first character of this range comes after the second", {
          message: "Swap the two",
          text: `${String.fromCodePoint(to)}-${String.fromCodePoint(from)}`
        })
      }
      ranges.push({ from, to })
    }
    if (this.failed) {
      return nothing
    }
    if (this.at >= this.pattern.length) {
      this.error("regex-syntax", open, open + 1, 'This "[" is never closed; write \\[ for the character')
      return nothing
    }
    if (ranges.length === 0) {
      this.error("regex-syntax", open, this.at + 1, "These brackets hold no character")
      return nothing
    }
    this.at++
    return { node: { _tag: "Class", negated, ranges }, size: 1 }
  }

  /** String := `"` any but `"` `"` */
  private string(): Sized {
    const close = this.pattern.indexOf('"', this.at + 1)
    if (close === -1) {
      this.error(
        "regex-syntax",
        this.at,
        this.at + 1,
        'This quote is never closed in the pattern; write \\" for the character'
      )
      return nothing
    }
    const text = this.pattern.slice(this.at + 1, close)
    this.at = close + 1
    return text === "" ? nothing : { node: { _tag: "Literal", text }, size: text.length }
  }

  private group(): Sized {
    const open = this.at
    if (this.pattern[open + 1] === "?") {
      const isPlain = this.pattern[open + 2] === ":"
      this.error(
        "regex-group",
        open,
        open + (isPlain ? 3 : 2),
        'A group here is only "(" and ")": this dialect has no options, names or look-around',
        isPlain ? { message: "Write a plain group", text: "(" } : undefined
      )
      return nothing
    }
    if (this.depth >= limits.maxRegexDepth) {
      this.error("regex-too-large", open, open + 1, `Groups in the pattern are more than ${limits.maxRegexDepth} deep`)
      return nothing
    }
    this.at++
    if (this.pattern[this.at] === ")") {
      this.at++
      return nothing
    }
    this.depth++
    const inner = this.at < this.pattern.length ? this.union() : nothing
    this.depth--
    if (this.failed) {
      return nothing
    }
    if (this.pattern[this.at] !== ")") {
      this.error("regex-syntax", open, open + 1, 'This "(" is never closed in the pattern; write \\( for the character')
      return nothing
    }
    this.at++
    return inner
  }

  /** Interval := "<" n "-" m ">" */
  private interval(): Sized {
    const match = /^<([0-9]{1,9})-([0-9]{1,9})>/.exec(this.pattern.slice(this.at, this.at + 22))
    if (match === null) {
      this.error(
        "regex-syntax",
        this.at,
        this.at + 1,
        'A "<" opens a span of numbers such as <1-31>; write \\< for the character',
        {
          message: 'Put a backslash before "<"',
          text: "\\<"
        }
      )
      return nothing
    }
    this.at += match[0].length
    const low = match[1] ?? ""
    const high = match[2] ?? ""
    const from = Math.min(Number(low), Number(high))
    const to = Math.max(Number(low), Number(high))
    const digits = low.length === high.length ? low.length : 0
    return { node: { _tag: "Interval", from, to, digits }, size: 2 * Math.max(low.length, high.length) }
  }

  private anchor(sign: string): void {
    this.warn(
      "regex-anchor",
      this.at,
      this.at + 1,
      `"${sign}" is an ordinary character here: a pattern always runs from the start of the value to its end`,
      {
        message: `Remove "${sign}"`,
        text: ""
      }
    )
  }

  private special(sign: string, meaning: string): void {
    this.warn(
      "regex-special",
      this.at,
      this.at + 1,
      `"${sign}" is a sign of this dialect: ${meaning}; write \\${sign} for the character`,
      {
        message: `Put a backslash before "${sign}"`,
        text: `\\${sign}`
      }
    )
  }

  private endOfPattern(): Sized {
    this.error(
      "regex-syntax",
      Math.max(0, this.pattern.length - 1),
      this.pattern.length,
      "The pattern ends where a character must follow"
    )
    return nothing
  }

  private warn(
    code: string,
    start: number,
    end: number,
    message: string,
    replacement?: { message: string; text: string }
  ): void {
    if (this.problems.length < maxProblems) {
      this.problems.push({
        severity: "warning",
        code,
        start,
        end,
        message,
        ...(replacement === undefined ? {} : { replacement })
      })
    }
  }

  /** The first error ends the reading: after it the pattern could mean anything. */
  private error(
    code: string,
    start: number,
    end: number,
    message: string,
    replacement?: { message: string; text: string }
  ): void {
    if (!this.failed) {
      this.failed = true
      this.problems.push({
        severity: "error",
        code,
        start,
        end,
        message,
        ...(replacement === undefined ? {} : { replacement })
      })
    }
  }
}

const maxProblems = 5

const simpleBounds = (sign: string): { min: number; max: number | undefined } =>
  sign === "?" ? { min: 0, max: 1 } : { min: sign === "+" ? 1 : 0, max: undefined }
