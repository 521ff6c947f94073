/** A text split into words, as both platforms' tokenizers return it. */

export interface Tokens {
  readonly words: ReadonlyArray<string>
  /** Position of each word, ascending. A removed stop word leaves a gap. May be longer than `words`. */
  readonly positions: ReadonlyArray<number>
}
