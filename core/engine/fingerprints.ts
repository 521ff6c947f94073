/** Terms as the engine knows them: 64 bits of a keyed hash over a word and the space it belongs to. */
import { WordRow } from "../syntax/WordRow.ts"

/** Most spaces there can be: one for each field and way of looking at it. */
const SPACES = 256

/**
 * Rules and events hold fingerprints in place of words, so nothing is looked up in a dictionary. The keys are drawn anew
 * for each engine: nobody can prepare words that collide. At a million rules, a wrong match is to be expected once in
 * about 10^12 events.
 */
export class Fingerprints {
  /** The fingerprint read last. `high` is never 0. */
  high = 0
  low = 0
  private readonly row = new WordRow()
  private readonly highKeys = new Int32Array(SPACES)
  private readonly lowKeys = new Int32Array(SPACES)

  constructor(seed: number) {
    let state = seed | 0
    const next = () => {
      state = (state + 0x9e3779b9) | 0
      return mixed(state)
    }
    for (let space = 0; space < SPACES; space++) {
      this.highKeys[space] = next()
      this.lowKeys[space] = next()
    }
  }

  /** Reads the code units from `start` up to `end`. */
  read(space: number, codes: Uint16Array, start: number, end: number): void {
    let high = this.highKeys[space] ?? 0
    let low = this.lowKeys[space] ?? 0
    for (let at = start; at < end; at++) {
      high = Math.imul(high ^ (codes[at] ?? 0), 0x9e3779b1)
      low = Math.imul(low ^ high, 0x85ebca6b)
    }
    low = mixed(low)
    high = mixed(high ^ low)
    this.high = high === 0 ? 1 : high
    this.low = low
  }

  readText(space: number, text: string): void {
    this.row.write(text)
    this.read(space, this.row.codes, 0, text.length)
  }
}

// ---- helpers ----

/** Every bit of the number has its say in every bit of the result. */
const mixed = (number: number): number => {
  let value = Math.imul(number ^ (number >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return value ^ (value >>> 16)
}
