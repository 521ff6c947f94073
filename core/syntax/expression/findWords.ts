/** Finds where words are in the text that they were read from: the tokenizers keep no offsets. */
import { Pace, type Turns } from "../../work/turns.ts"
import type { Span } from "../issues/issue.ts"
import type { Tokens } from "../words/tokens.ts"

/** A range of the words of a text. */
export interface WordRange {
  readonly words: ReadonlyArray<string>
  readonly from: number
  readonly to: number
}

/** From the start of the first word to the end of the last one. `analyse` reads the words of a piece of the text. */
export function* findWords(
  text: string,
  { words, from, to }: WordRange,
  analyse: (piece: string) => Tokens
): Turns<Span | undefined> {
  const pace = new Pace()
  let start: number | undefined
  let count = 0
  // A space or line feed ends a word on both platforms, so that the pieces between them have the words of the text.
  const ends = /[ \n]/g
  for (let at = 0; at < text.length; ) {
    ends.lastIndex = at + PIECE
    const end = ends.exec(text)?.index ?? text.length
    if (end - at > MAX_PIECE) return undefined
    const piece = text.slice(at, end)
    const before = count
    count += analyse(piece).words.length
    if (start === undefined && from < count)
      start = startOf(piece, at, { index: from - before, word: words[from] ?? "" }, analyse)
    if (start !== undefined && to <= count) {
      return { start, end: at + endOf(piece, { index: to - 1 - before, word: words[to - 1] ?? "" }, analyse) }
    }
    at = end
    if (pace.endsTurn(STEPS_PER_CHARACTER * piece.length)) yield
  }
  return undefined
}

// ---- helpers ----

const PIECE = 500
/** A longer piece is not searched: it would take too long at once. */
const MAX_PIECE = 20_000
/** Longer than any word with the characters around it that tokenizers ignore. */
const MAX_WORD = 600
const STEPS_PER_CHARACTER = 100

interface IndexedWord {
  readonly index: number
  readonly word: string
}

/** The end of the shortest start of the piece that has the whole word. */
const endOf = (piece: string, { index, word }: IndexedWord, analyse: (piece: string) => Tokens): number => {
  let [low, high] = [1, piece.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (analyse(piece.slice(0, middle)).words[index] === word) high = middle
    else low = middle + 1
  }
  return high
}

const startOf = (piece: string, offset: number, indexed: IndexedWord, analyse: (piece: string) => Tokens): number => {
  const end = endOf(piece, indexed, analyse)
  const first = Math.max(0, end - MAX_WORD)
  let start = end - 1
  while (start > first && analyse(piece.slice(start, end)).words.at(-1) !== indexed.word) start--
  return offset + start
}
