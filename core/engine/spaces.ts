/** Term spaces, one per field and kind of term. Events are only read for the spaces that rules use. */
import type { Field } from "../syntax/expression/expression.ts"
import { GROUP } from "../syntax/words/wordBuffer.ts"
import { CountingBitset } from "./CountingBitset.ts"

/** Prefixes of the values of a space, and grams inside them. */
export const prefixSpace = (space: number): number => space + PREFIX_OFFSET
export const gramSpace = (space: number): number => space + GRAM_OFFSET
export const isPrefixSpace = (space: number): boolean => space >= PREFIX_OFFSET && space < GRAM_OFFSET
/** The space that a prefix space belongs to. */
export const valueSpace = (start: number): number => start - PREFIX_OFFSET

/** The single term that every event has, and the single term of events with a location. */
export const EVERY_EVENT = 254
export const GEO_EVENT = 255

/** Length of a gram, in bytes of the word buffer. */
export const GRAM_BYTES = 3

export const GRAM_CELLS = 1 << 13
const PREFIX_CELL_BITS = 16
/** Longer prefixes share this entry of `prefixLengths`. */
export const MAX_PREFIX_LENGTH = 1_023

/** Cell of a gram. Several grams may share a cell. */
export const gramCell = (group: number): number => scramble(group) >>> 19

/** Cell of a prefix: by its first group (up to four bytes), or by the high half of its fingerprint. */
export const prefixCell = (number: number): number => scramble(number) >>> (32 - PREFIX_CELL_BITS)

/** Which terms to read from one field. */
export interface FieldPlan {
  readonly field: Field
  readonly space: number
  readonly values: boolean
  readonly prefixes: boolean
  readonly grams: boolean
}

export class Spaces {
  textPlans: ReadonlyArray<FieldPlan> = []
  keywordPlans: ReadonlyArray<FieldPlan> = []
  private readonly textSpaces = new Map<Field, number>()
  private readonly keywordSpaces = new Map<Field, number>()
  private readonly uses = new Int32Array(256)
  // How many rules use a gram or prefix, by cell. An event contains far more of them than the rules ask for.
  readonly gramCounts = new Int32Array(GRAM_CELLS)
  /** By the first group of the prefix, and by its fingerprint. */
  readonly prefixGroups = new CountingBitset(PREFIX_CELL_BITS)
  readonly prefixHashes = new CountingBitset(PREFIX_CELL_BITS)
  /** 1 for each length in bytes that some prefix has. Only cleared when the last prefix is removed. */
  readonly prefixLengths = new Uint8Array(MAX_PREFIX_LENGTH + 1)
  longestPrefix = 0
  /** Shorter than a group. */
  hasShortPrefixes = false
  private prefixCount = 0

  /** Words of a text field. The same word in two fields is two terms. */
  textSpace(field: Field): number {
    return this.spaceIn(this.textSpaces, field)
  }

  /** Whole values of a keyword field. */
  keywordSpace(field: Field): number {
    return this.spaceIn(this.keywordSpaces, field)
  }

  usesOf(space: number): number {
    return this.uses[space] ?? 0
  }

  isUsed(space: number): boolean {
    return this.usesOf(space) > 0
  }

  count(space: number, change: 1 | -1): void {
    const uses = this.usesOf(space) + change
    this.uses[space] = uses
    if (uses === 0 || (uses === 1 && change === 1)) this.refresh()
  }

  /** `cell` by first group, `hashCell` by fingerprint. */
  countPrefix(cell: number, hashCell: number, change: 1 | -1): void {
    this.prefixGroups.count(cell, change)
    this.prefixHashes.count(hashCell, change)
    this.prefixCount += change
    if (this.prefixCount > 0) return
    this.prefixLengths.fill(0)
    this.longestPrefix = 0
    this.hasShortPrefixes = false
  }

  /** Makes events yield prefixes of this many bytes. */
  addPrefixLength(length: number): void {
    this.prefixLengths[Math.min(length, MAX_PREFIX_LENGTH)] = 1
    this.longestPrefix = Math.max(this.longestPrefix, length)
    this.hasShortPrefixes ||= length < GROUP
  }

  countGram(cell: number, change: 1 | -1): void {
    this.gramCounts[cell] = (this.gramCounts[cell] ?? 0) + change
  }

  private refresh(): void {
    this.textPlans = this.plansOf(this.textSpaces)
    this.keywordPlans = this.plansOf(this.keywordSpaces)
  }

  /** Fields get their space when a rule first uses them. */
  private spaceIn(spaces: Map<Field, number>, field: Field): number {
    const known = spaces.get(field)
    if (known !== undefined) return known
    const space = this.textSpaces.size + this.keywordSpaces.size
    if (space >= PREFIX_OFFSET) throw new RangeError(`The rules use more than ${PREFIX_OFFSET} fields`)
    spaces.set(field, space)
    return space
  }

  private plansOf(spaces: ReadonlyMap<Field, number>): ReadonlyArray<FieldPlan> {
    return Array.from(spaces, ([field, space]) => ({
      field,
      space,
      values: this.isUsed(space),
      prefixes: this.isUsed(prefixSpace(space)),
      grams: this.isUsed(gramSpace(space))
    })).filter(({ values, prefixes, grams }) => values || prefixes || grams)
  }
}

// ---- helpers ----

const scramble = (number: number): number => Math.imul(number, 0x9e3779b1 | 0)

const PREFIX_OFFSET = 64
const GRAM_OFFSET = 128
