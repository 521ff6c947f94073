/** The words of a text as one row of UTF-16 code units, each word ended by a 0: for those who compare words without keeping them. */
import type { Tokens } from "./firehose/tokens.ts"

export class WordRow {
  codes = new Uint16Array(1_024)
  length = 0

  /** Room for this many code units; what was there is gone. */
  begin(most: number): Uint16Array {
    if (most > this.codes.length) this.codes = new Uint16Array(2 * most)
    this.length = 0
    return this.codes
  }

  /** A place without a word has a 0 all the same. */
  writeTokens({ words, positions }: Tokens): void {
    const last = positions[words.length - 1] ?? 0
    this.begin(words.reduce((sum, word) => sum + word.length, last + 1))
    let place = 0
    for (let index = 0; index < words.length; index++) {
      for (const position = positions[index] ?? 0; place < position; place++) this.codes[this.length++] = 0
      this.append(words[index] ?? "")
      place++
    }
  }

  /** One word. */
  write(word: string): void {
    this.begin(word.length + 1)
    this.append(word)
  }

  private append(word: string): void {
    const { codes } = this
    let at = this.length
    for (let index = 0; index < word.length; index++) codes[at++] = word.charCodeAt(index)
    codes[at++] = 0
    this.length = at
  }
}
