/** Memory for programs and lists: blocks of 32-bit words that are taken and given back without ever moving the rest. */

/** Words of one chunk. Growing by chunks never copies what is there. */
const CHUNK_BITS = 18
const CHUNK_WORDS = 1 << CHUNK_BITS
const OFFSET_MASK = CHUNK_WORDS - 1

/** An address is a chunk's number and an offset in it; 0 is no address. */
export class Pool {
  private readonly chunks: Array<Int32Array> = []
  /** Chunks that were given back whole. */
  private readonly spare: Array<number> = []
  /** For each size the block given back last; its first word leads to the one before. */
  private readonly free = new Int32Array(SIZES)
  private current = -1
  private next = CHUNK_WORDS
  private words = 0

  get bytes(): number {
    return this.words * 4
  }

  chunkOf(address: number): Int32Array {
    return this.chunks[address >>> CHUNK_BITS] ?? nothing
  }

  offsetOf(address: number): number {
    return address & OFFSET_MASK
  }

  /** Writes the words at so many addresses, from a place on. Nothing else is done in the loop, so that those far away are fetched side by side. */
  fetch(addresses: Int32Array, count: number, words: Int32Array, from: number): void {
    const { chunks } = this
    for (let index = 0; index < (count | 0); index++) {
      const address = addresses[index] ?? 0
      words[(from | 0) + index] = (chunks[address >>> CHUNK_BITS] ?? nothing)[address & OFFSET_MASK] ?? 0
    }
  }

  /**
   * Begins to fetch the block: it is written to, as the processor would wait for what it reads. So the first word of a
   * block is not for its owner.
   */
  touchOne(address: number): void {
    this.chunkOf(address)[this.offsetOf(address)] = 0
  }

  /** Those at the addresses from one place up to another. */
  touch(addresses: Int32Array, from: number, to: number): void {
    for (let index = from; index < to; index++) this.touchOne(addresses[index] ?? 0)
  }

  /** Whether this was asked before since the block was touched. */
  isDone(address: number): boolean {
    const words = this.chunkOf(address)
    const at = this.offsetOf(address)
    if (words[at] === DONE) return true
    words[at] = DONE
    return false
  }

  take(words: number): number {
    if (words > CHUNK_WORDS >> 1) {
      return this.addChunk(words) << CHUNK_BITS
    }
    const size = sizeOf(words)
    const known = this.free[size] ?? 0
    if (known !== 0) {
      this.free[size] = this.chunkOf(known)[this.offsetOf(known)] ?? 0
      return known
    }
    const whole = wordsOf(size)
    if (this.next + whole > CHUNK_WORDS) {
      this.current = this.addChunk(CHUNK_WORDS)
      // The very first word of all stays unused, so that no block has address 0.
      this.next = this.current === 0 ? 2 : 0
    }
    const address = (this.current << CHUNK_BITS) | this.next
    this.next += whole
    return address
  }

  /** `words` as they were asked for. */
  giveBack(address: number, words: number): void {
    if (words > CHUNK_WORDS >> 1) {
      const chunk = address >>> CHUNK_BITS
      this.words -= this.chunkOf(address).length
      this.chunks[chunk] = nothing
      this.spare.push(chunk)
      return
    }
    const size = sizeOf(words)
    this.chunkOf(address)[this.offsetOf(address)] = this.free[size] ?? 0
    this.free[size] = address
  }

  private addChunk(words: number): number {
    const chunk = this.spare.pop() ?? this.chunks.length
    this.chunks[chunk] = new Int32Array(words)
    this.words += words
    return chunk
  }
}

// ---- helpers ----

const nothing = new Int32Array(0)

const DONE = 1

/** Every second number of words up to 64, then four sizes for each doubling: little is wasted, blocks are found again. */
const SIZES = 33 + 4 * 26

function sizeOf(words: number): number {
  if (words <= 64) {
    return (words + 1) >> 1
  }
  const octave = 31 - Math.clz32(words - 1)
  const quarter = ((words - 1) >>> (octave - 2)) & 3
  return 33 + (octave - 6) * 4 + quarter
}

function wordsOf(size: number): number {
  if (size <= 32) {
    return size * 2
  }
  const octave = ((size - 33) >> 2) + 6
  return (5 + ((size - 33) & 3)) << (octave - 2)
}
