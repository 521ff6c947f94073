/**
 * Untrusted text on a terminal: makes control and invisible characters visible, and measures width in columns. Not
 * `string-width`, which measures only.
 */

export const ELLIPSIS = "…"

/** Replaces every character that moves the cursor, changes the text direction or is invisible. */
export function visible(text: string): string {
  return hidden.test(text) ? text.replace(everyHidden, placeholder) : text
}

/** `visible` for text of several lines. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n")
}

/** JSON with escapes for what `visible` would replace. `JSON.stringify` leaves some control characters as they are. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(unescaped, escaped)
}

/** `visible`, truncated to these columns with an ellipsis. */
export function fitted(text: string, columns: number): string {
  // Bounds the work for a very long line.
  const head = visible(text.slice(0, 8 * columns))
  const cells = cellsOf(head, 0, head.length)
  if (text.length <= 8 * columns && widthOf(cells) <= columns) return head
  let shown = ""
  let width = 0
  for (const cell of cells) {
    width += cell.width
    if (width > columns - 1) break
    shown += cell.shown
  }
  return `${shown}${ELLIPSIS}`
}

/** A grapheme: its offsets in the text, visible form and width in columns. */
export interface Cell {
  readonly start: number
  readonly end: number
  readonly shown: string
  readonly width: number
}

/** The graphemes between two offsets. */
export function cellsOf(text: string, from: number, to: number): ReadonlyArray<Cell> {
  const cells: Array<Cell> = []
  for (const { segment, index } of graphemes.segment(text.slice(from, to))) {
    const start = from + index
    const shown = visible(segment)
    cells.push({
      start,
      end: start + segment.length,
      shown,
      width: shown === segment ? widthOfCharacter(segment) : 1
    })
  }
  return cells
}

export function widthOf(cells: ReadonlyArray<Cell>): number {
  let width = 0
  for (const cell of cells) {
    width += cell.width
  }
  return width
}

// ---- helpers ----

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

function widthOfCharacter(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) {
    // Emoji presentation makes even a digit two columns wide.
    return character.length > 1 && /\ufe0f|\u20e3/.test(character) ? 2 : 1
  }
  if (/^\p{Emoji_Presentation}|^\p{Regional_Indicator}{2}|\ufe0f/u.test(character)) {
    return 2
  }
  return isWide(code) ? 2 : 1
}

/** East Asian characters that take two columns. */
function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0x303e) ||
    (code >= 0x3041 && code <= 0x33ff) ||
    (code >= 0x3400 && code <= 0x4dbf) ||
    (code >= 0x4e00 && code <= 0x9fff) ||
    (code >= 0xa000 && code <= 0xa4cf) ||
    (code >= 0xa960 && code <= 0xa97f) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff01 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1b000 && code <= 0x1b2ff) ||
    (code >= 0x1f200 && code <= 0x1f2ff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  )
}

const hidden =
  /\p{Cc}|\p{Surrogate}|\p{Zl}|\p{Zp}|^[\p{M}\u200c\u200d]|[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u
const everyHidden = new RegExp(hidden.source, "gu")

/** The line feeds are those of the indentation. */
const unescaped =
  /(?!\n)\p{Cc}|[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

function escaped(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

function placeholder(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code === 9 || code === 13) {
    return " "
  }
  if (code < 32) {
    return String.fromCharCode(0x2400 + code)
  }
  if (code === 127) {
    return "␡"
  }
  return code < 0xe0000 && /[\p{M}\u200c\u200d]/u.test(character) ? `◌${character}` : "�"
}
