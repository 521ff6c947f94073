/** Maps a rule's number to the address of its program. */

const CHUNK_BITS = 14
const CHUNK = 1 << CHUNK_BITS

export class RuleTable {
  count = 0
  private readonly chunks: Array<Int32Array> = []
  /** Numbers from here on were never allocated. */
  private next = 0
  /** Head of the free list. A free entry holds ~ of the next free number. */
  private freeHead = -1

  get bytes(): number {
    return this.chunks.length * CHUNK * 4
  }

  allocate(): number {
    this.count++
    if (this.freeHead >= 0) {
      const rule = this.freeHead
      this.freeHead = ~this.at(rule)
      return rule
    }
    if (this.next === this.chunks.length * CHUNK) this.chunks.push(new Int32Array(CHUNK))
    return this.next++
  }

  free(rule: number): void {
    this.count--
    this.set(rule, ~this.freeHead)
    this.freeHead = rule
  }

  set(rule: number, program: number): void {
    const chunk = this.chunks[rule >>> CHUNK_BITS]
    if (chunk !== undefined) chunk[rule & (CHUNK - 1)] = program
  }

  /** 0 for an unknown rule. */
  programOf(rule: number): number {
    return Math.max(this.at(rule), 0)
  }

  private at(rule: number): number {
    return this.chunks[rule >>> CHUNK_BITS]?.[rule & (CHUNK - 1)] ?? 0
  }
}
