/** A growing list of entries of the table in `eventTerms.ts`, four numbers each. */
export class Entries {
  private readonly limit: number
  private numbers = new Int32Array(1 << 12)
  private length = 0

  /** Ignores entries beyond `limit`. */
  constructor(limit: number) {
    this.limit = 4 * limit
  }

  get all(): Int32Array {
    return this.numbers.subarray(0, this.length)
  }

  append(entries: Int32Array): void {
    const end = this.reserve(entries.length)
    this.numbers.set(entries.subarray(0, end - this.length), this.length)
    this.length = end
  }

  /** Appends empty entries: no phrase matches across them. */
  skip(entries: number): void {
    const end = this.reserve(4 * entries)
    this.numbers.fill(0, this.length, end)
    this.length = end
  }

  /** Returns the end. */
  private reserve(more: number): number {
    const end = Math.min(this.length + more, this.limit)
    if (end > this.numbers.length) {
      const larger = new Int32Array(Math.min(2 * end, this.limit))
      larger.set(this.all)
      this.numbers = larger
    }
    return end
  }
}
