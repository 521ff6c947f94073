/** Which cells are in use: a bit for each, so that many of them fit into the processor's near memory. */
export class Cells {
  /** 32 cells to a word. */
  readonly bits: Int32Array
  private readonly counts: Uint8Array

  /** 2 to the power of `bits` cells. */
  constructor(bits: number) {
    this.bits = new Int32Array(1 << (bits - 5))
    this.counts = new Uint8Array(1 << bits)
  }

  get bytes(): number {
    return this.bits.byteLength + this.counts.byteLength
  }

  /** A counter that is full stays so: what it stands for is looked at for nothing from then on, and never missed. */
  count(cell: number, change: 1 | -1): void {
    const before = this.counts[cell] ?? 0
    const count = before === 0xff ? before : before + change
    this.counts[cell] = count
    setInUse(this.bits, cell, count > 0)
  }
}

export const setInUse = (bits: Int32Array, cell: number, isUsed: boolean): void => {
  const bit = 1 << (cell & 31)
  const word = bits[cell >>> 5] ?? 0
  bits[cell >>> 5] = isUsed ? word | bit : word & ~bit
}

/** 1 if the bit of the cell is set, or 0. */
export const isInUse = (bits: Int32Array, cell: number): number => ((bits[cell >>> 5] ?? 0) >>> (cell & 31)) & 1
