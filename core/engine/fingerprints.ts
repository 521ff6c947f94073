/** A term is a 64-bit keyed hash (fingerprint) of a word and its space. */
import { GROUP, groupAt, writeWord } from "../syntax/words/wordBuffer.ts"
import { isPrefixSpace, valueSpace } from "./spaces.ts"

/** One space per field and kind of term. See `spaces.ts`. */
const SPACES = 256

/**
 * Rules and events hold fingerprints, so no dictionary is needed. The keys differ per engine, so callers cannot
 * construct collisions. With a million rules, expect one false match in about 10^12 events.
 */
export class Fingerprints {
  /** The last fingerprint computed. `high` is never 0. */
  high = 0
  low = 0
  /** Initial state of the hash, by space. A prefix space uses the keys of its value space. */
  readonly highKeys = new Int32Array(SPACES)
  readonly lowKeys = new Int32Array(SPACES)
  /** Mixed in at the end: distinguishes a prefix from the word that has the same bytes. */
  readonly endKeys = new Int32Array(SPACES)

  constructor(seed: number) {
    let state = seed | 0
    const next = () => {
      state = (state + 0x9e3779b9) | 0
      return avalanche(state)
    }
    for (let space = 0; space < SPACES; space++) {
      this.highKeys[space] = next()
      this.lowKeys[space] = next()
      this.endKeys[space] = next()
    }
    for (let space = 0; space < SPACES; space++) {
      if (!isPrefixSpace(space)) continue
      this.highKeys[space] = this.highKeys[valueSpace(space)] ?? 0
      this.lowKeys[space] = this.lowKeys[valueSpace(space)] ?? 0
    }
  }

  hashText(space: number, text: string): void {
    let high = this.highKeys[space] ?? 0
    let low = this.lowKeys[space] ?? 0
    let group = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 0 || code > 0x7f) {
        this.hashBuffer(space, writeWord(text))
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
    this.finish(space, high, nextLow(low, high))
  }

  /** Hashes a word of at most three bytes. */
  hashGroup(space: number, group: number): void {
    const high = nextHigh(this.highKeys[space] ?? 0, group)
    this.finish(space, high, nextLow(this.lowKeys[space] ?? 0, high))
  }

  /** Hashes the first word of the word buffer. `end`: where it ends. */
  private hashBuffer(space: number, end: number): void {
    let high = this.highKeys[space] ?? 0
    let low = this.lowKeys[space] ?? 0
    for (let at = 0; at <= end; at += GROUP) {
      high = nextHigh(high, groupAt(at, end))
      low = nextLow(low, high)
    }
    this.finish(space, high, low)
  }

  private finish(space: number, high: number, low: number): void {
    this.low = finalLow(low, this.endKeys[space] ?? 0)
    this.high = finalHigh(high, this.low)
  }
}

// The hash reads the word buffer in 4-byte groups, then the remaining 0 to 3 bytes as a last group. Each group goes
// through `mixHigh`, then `mixLow`. `finalLow`, then `finalHigh` produce the fingerprint.

const nextHigh = (high: number, group: number): number => {
  const step = Math.imul(high ^ group, HIGH_STEP)
  return step ^ (step >>> 15)
}
export const mixHigh = nextHigh
const nextLow = (low: number, high: number): number => Math.imul(low, LOW_STEP) ^ high
export const mixLow = nextLow

export const finalLow = (low: number, key: number): number => {
  const keyed = low ^ key
  const end = Math.imul(keyed ^ (keyed >>> 15), LOW_END)
  return end ^ (end >>> 13)
}

/** `low` is already final and well mixed, so one step is enough. */
export const finalHigh = (high: number, low: number): number => {
  const end = nextHigh(high, low)
  return end === 0 ? 1 : end
}

// ---- helpers ----

/** Odd multipliers with well-distributed bits. */
const HIGH_STEP = 0x9e3779b1 | 0
const LOW_STEP = 0x85ebca6b | 0
const LOW_END = 0xc2b2ae35 | 0

/** The MurmurHash3 finalizer: every input bit affects every output bit. */
const avalanche = (number: number): number => {
  let value = Math.imul(number ^ (number >>> 16), LOW_STEP)
  value = Math.imul(value ^ (value >>> 13), LOW_END)
  return value ^ (value >>> 16)
}
