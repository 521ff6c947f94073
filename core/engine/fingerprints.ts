/** Terms as the engine knows them: 64 bits of a keyed hash over a word and the space it belongs to. */
import { GROUP, groupAt, writeWord } from "../syntax/words/wordRow.ts"
import { isStartSpace, valueSpace } from "./spaces.ts"

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
  /** Where reading a word of a space begins: see `stepHigh`. */
  readonly highKeys = new Int32Array(SPACES)
  readonly lowKeys = new Int32Array(SPACES)
  /** What it ends with: see `endLow`. A start begins like the word it is the start of, and only ends in another way. */
  readonly endKeys = new Int32Array(SPACES)

  constructor(seed: number) {
    let state = seed | 0
    const next = () => {
      state = (state + 0x9e3779b9) | 0
      return mixed(state)
    }
    for (let space = 0; space < SPACES; space++) {
      this.highKeys[space] = next()
      this.lowKeys[space] = next()
      this.endKeys[space] = next()
    }
    for (let space = 0; space < SPACES; space++) {
      if (!isStartSpace(space)) continue
      this.highKeys[space] = this.highKeys[valueSpace(space)] ?? 0
      this.lowKeys[space] = this.lowKeys[valueSpace(space)] ?? 0
    }
  }

  readText(space: number, text: string): void {
    let high = this.highKeys[space] ?? 0
    let low = this.lowKeys[space] ?? 0
    let group = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 0 || code > 0x7f) {
        this.readRow(space, writeWord(text))
        return
      }
      group |= code << (at << 3)
      if ((at & 3) === 3) {
        high = nextHigh(high, group)
        low = nextLow(low, high)
        group = 0
      }
    }
    high = nextHigh(high, group)
    this.end(space, high, nextLow(low, high))
  }

  /** Reads a word of three bytes or less. */
  readGroup(space: number, group: number): void {
    const high = nextHigh(this.highKeys[space] ?? 0, group)
    this.end(space, high, nextLow(this.lowKeys[space] ?? 0, high))
  }

  /** Reads the first word of the row, which ends there. */
  private readRow(space: number, end: number): void {
    let high = this.highKeys[space] ?? 0
    let low = this.lowKeys[space] ?? 0
    for (let at = 0; at <= end; at += GROUP) {
      high = nextHigh(high, groupAt(at, end))
      low = nextLow(low, high)
    }
    this.end(space, high, low)
  }

  private end(space: number, high: number, low: number): void {
    this.low = endLow(low, this.endKeys[space] ?? 0)
    this.high = endHigh(high, this.low)
  }
}

// A word is read as `wordRow` writes it, four bytes at a time and at last what is left of it, which may be nothing. Each
// four are taken in by `stepHigh`, then `stepLow`; `endLow`, then `endHigh` give the fingerprint.

const nextHigh = (high: number, group: number): number => {
  const step = Math.imul(high ^ group, HIGH_STEP)
  return step ^ (step >>> 15)
}
export const stepHigh = nextHigh
const nextLow = (low: number, high: number): number => Math.imul(low, LOW_STEP) ^ high
export const stepLow = nextLow

export const endLow = (low: number, key: number): number => {
  const keyed = low ^ key
  const end = Math.imul(keyed ^ (keyed >>> 15), LOW_END)
  return end ^ (end >>> 13)
}

/** `low` has had its end: what looks like chance already need not be mixed much more. */
export const endHigh = (high: number, low: number): number => {
  const end = nextHigh(high, low)
  return end === 0 ? 1 : end
}

// ---- helpers ----

/** Odd numbers whose bits look like chance. */
const HIGH_STEP = 0x9e3779b1 | 0
const LOW_STEP = 0x85ebca6b | 0
const LOW_END = 0xc2b2ae35 | 0

/** Every bit of the number has its say in every bit of the result. */
const mixed = (number: number): number => {
  let value = Math.imul(number ^ (number >>> 16), LOW_STEP)
  value = Math.imul(value ^ (value >>> 13), LOW_END)
  return value ^ (value >>> 16)
}
