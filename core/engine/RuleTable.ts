/** From the number of a rule to the address of its program. */

const CHUNK_BITS = 14
const CHUNK = 1 << CHUNK_BITS

export class RuleTable {
  count = 0
  private readonly chunks: Array<Int32Array> = []
  /** Numbers never given yet begin here. */
  private next = 0
  /** The number given back last; its entry holds ~ of the one before it. */
  private unused = -1

  get bytes(): number {
    return this.chunks.length * CHUNK * 4
  }

  take(): number {
    this.count++
    if (this.unused >= 0) {
      const rule = this.unused
      this.unused = ~this.at(rule)
      return rule
    }
    if (this.next === this.chunks.length * CHUNK) this.chunks.push(new Int32Array(CHUNK))
    return this.next++
  }

  giveBack(rule: number): void {
    this.count--
    this.set(rule, ~this.unused)
    this.unused = rule
  }

  set(rule: number, program: number): void {
    const chunk = this.chunks[rule >>> CHUNK_BITS]
    if (chunk !== undefined) chunk[rule & (CHUNK - 1)] = program
  }

  /** 0 for a rule that is not there. */
  programOf(rule: number): number {
    return Math.max(this.at(rule), 0)
  }

  private at(rule: number): number {
    return this.chunks[rule >>> CHUNK_BITS]?.[rule & (CHUNK - 1)] ?? 0
  }
}
