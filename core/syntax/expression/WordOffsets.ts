/** Finds where words are in the text that they were read from: the tokenizers keep no offsets. */
import { type Pace, STEPS_PER_TURN, type Turns } from "../../work/turns.ts"
import type { Span } from "../issues/issue.ts"
import type { Tokens } from "../words/tokens.ts"

/** The offsets of the words of one text, found as far as they are asked for. */
export class WordOffsets {
  private readonly text: string
  private readonly analyse: (piece: string) => Tokens
  private readonly pieces: Array<Piece> = []
  /** By the numbers of the words. */
  private readonly found = new Map<string, Span>()
  private read = 0
  private words = 0

  /** `analyse` reads the words of a piece of the text. */
  constructor(text: string, analyse: (piece: string) => Tokens) {
    this.text = text
    this.analyse = analyse
  }

  /** From the start of word `from` to the end of the word before `to`; `undefined` if it takes too much work. */
  *find({ words }: Tokens, [from, to]: readonly [number, number], pace: Pace): Turns<Span | undefined> {
    const key = `${from} ${to}`
    const known = this.found.get(key)
    if (known !== undefined) return known
    const first = yield* this.pieceOf(from, pace)
    const last = yield* this.pieceOf(to - 1, pace)
    if (first === undefined || last === undefined) return undefined
    const sought = { index: from - first.before, word: words[from] ?? "" }
    const firstEnd = yield* this.endIn(first, sought, pace)
    const start = first.start + (yield* this.startIn(first, sought, firstEnd, pace))
    const lastWord = { index: to - 1 - last.before, word: words[to - 1] ?? "" }
    const end = last.start + (to === from + 1 ? firstEnd : yield* this.endIn(last, lastWord, pace))
    const span = { start, end }
    this.found.set(key, span)
    return span
  }

  private *pieceOf(word: number, pace: Pace): Turns<Piece | undefined> {
    // A space or line feed ends a word on both platforms, so that the pieces between them have the words of the text.
    const ends = /[ \n]/g
    while (word >= this.words && this.read < this.text.length) {
      ends.lastIndex = this.read + PIECE
      const end = ends.exec(this.text)?.index ?? this.text.length
      if (end - this.read > MAX_PIECE) return undefined
      const text = this.text.slice(this.read, end)
      this.pieces.push({ text, start: this.read, before: this.words })
      this.words += (yield* this.wordsOf(text, pace)).length
      this.read = end
    }
    return this.pieces.findLast(({ before }) => before <= word)
  }

  /** The end of the shortest start of the piece that has the whole word. */
  private *endIn({ text }: Piece, { index, word }: PieceWord, pace: Pace): Turns<number> {
    let [low, high] = [1, text.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((yield* this.wordsOf(text.slice(0, middle), pace))[index] === word) high = middle
      else low = middle + 1
    }
    return high
  }

  /** The start of the word that ends at `end`. */
  private *startIn({ text }: Piece, { word }: PieceWord, end: number, pace: Pace): Turns<number> {
    const first = Math.max(0, end - MAX_WORD)
    let start = end - 1
    while (start > first && (yield* this.wordsOf(text.slice(start, end), pace)).at(-1) !== word) start--
    return start
  }

  private *wordsOf(piece: string, pace: Pace): Turns<ReadonlyArray<string>> {
    const { words } = this.analyse(piece)
    // As many turns as it took: the search for places has a limit of turns.
    let steps = STEPS_PER_WORD * words.length + STEPS_PER_CHARACTER * piece.length
    for (; steps > 0; steps -= STEPS_PER_TURN) if (pace.endsTurn(Math.min(steps, STEPS_PER_TURN))) yield
    return words
  }
}

// ---- helpers ----

interface Piece {
  readonly text: string
  readonly start: number
  /** The number of words before it. */
  readonly before: number
}

/** The word at an index in a piece. */
interface PieceWord {
  readonly index: number
  readonly word: string
}

const PIECE = 500
/** A longer piece is not searched: it would take too long at once. */
const MAX_PIECE = 20_000
/** Longer than any word with the characters around it that tokenizers ignore. */
const MAX_WORD = 600
const STEPS_PER_WORD = 200
const STEPS_PER_CHARACTER = 10
