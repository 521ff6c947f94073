/** A bitset with a counter behind each bit. Readers use only the bits, which fit into the L1/L2 cache. */
export class CountingBitset {
  readonly bits: Int32Array
  private readonly counts: Uint8Array

  /** Has `2 ** bits` cells. */
  constructor(bits: number) {
    this.bits = new Int32Array(1 << (bits - 5))
    this.counts = new Uint8Array(1 << bits)
  }

  get bytes(): number {
    return this.bits.byteLength + this.counts.byteLength
  }

  /** A saturated counter stays saturated: its bit becomes a permanent false positive, never a false negative. */
  count(cell: number, change: 1 | -1): void {
    const before = this.counts[cell] ?? 0
    const count = before === 0xff ? before : before + change
    this.counts[cell] = count
    setBit(this.bits, cell, count > 0)
  }
}

export const setBit = (bits: Int32Array, cell: number, isUsed: boolean): void => {
  const bit = 1 << (cell & 31)
  const word = bits[cell >>> 5] ?? 0
  bits[cell >>> 5] = isUsed ? word | bit : word & ~bit
}

/** 1 or 0. */
export const bitAt = (bits: Int32Array, cell: number): number => ((bits[cell >>> 5] ?? 0) >>> (cell & 31)) & 1
