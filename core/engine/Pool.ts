/** Allocator for programs and posting lists: blocks of 32-bit words with size-class free lists. Blocks never move. */

/** Growing by whole chunks never copies existing blocks. */
const CHUNK_BITS = 18
const CHUNK_WORDS = 1 << CHUNK_BITS
const OFFSET_MASK = CHUNK_WORDS - 1

/** An address is a chunk number and an offset into the chunk. 0 is not a valid address. */
export class Pool {
  private readonly chunks: Array<Int32Array> = []
  /** Numbers of released chunks. */
  private readonly freeChunks: Array<number> = []
  /** Head of the free list for each size class. The first word of a free block points to the next. */
  private readonly freeLists = new Int32Array(SIZE_CLASSES)
  private current = -1
  private next = CHUNK_WORDS
  private words = 0

  get bytes(): number {
    return this.words * 4
  }

  chunkOf(address: number): Int32Array {
    return this.chunks[address >>> CHUNK_BITS] ?? emptyChunk
  }

  offsetOf(address: number): number {
    return address & OFFSET_MASK
  }

  /** Reads the words at `count` addresses. The loop does nothing else, so that the CPU overlaps the cache misses. */
  readAll(addresses: Int32Array, count: number, words: Int32Array, from: number): void {
    const { chunks } = this
    for (let index = 0; index < (count | 0); index++) {
      const address = addresses[index] ?? 0
      words[(from | 0) + index] = (chunks[address >>> CHUNK_BITS] ?? emptyChunk)[address & OFFSET_MASK] ?? 0
    }
  }

  /**
   * Prefetches the block by writing to its first word: a store does not stall the CPU, a load would. Owners must not
   * store data in the first word. This also clears the mark of `markSeen`.
   */
  prefetch(address: number): void {
    this.chunkOf(address)[this.offsetOf(address)] = 0
  }

  /** Prefetches the blocks at `addresses[from]` up to `addresses[to]`, exclusive. */
  prefetchAll(addresses: Int32Array, from: number, to: number): void {
    for (let index = from; index < to; index++) this.prefetch(addresses[index] ?? 0)
  }

  /** Marks the block. Returns whether it was marked already since its last `prefetch`. */
  markSeen(address: number): boolean {
    const words = this.chunkOf(address)
    const at = this.offsetOf(address)
    if (words[at] === SEEN) return true
    words[at] = SEEN
    return false
  }

  allocate(words: number): number {
    if (words > CHUNK_WORDS >> 1) {
      return this.addChunk(words) << CHUNK_BITS
    }
    const size = sizeClassOf(words)
    const freed = this.freeLists[size] ?? 0
    if (freed !== 0) {
      this.freeLists[size] = this.chunkOf(freed)[this.offsetOf(freed)] ?? 0
      return freed
    }
    const blockWords = wordsOf(size)
    if (this.next + blockWords > CHUNK_WORDS) {
      this.current = this.addChunk(CHUNK_WORDS)
      // Offset 0 of chunk 0 stays unused, so that no block has address 0.
      this.next = this.current === 0 ? 2 : 0
    }
    const address = (this.current << CHUNK_BITS) | this.next
    this.next += blockWords
    return address
  }

  /** `words`: the size passed to `allocate`. */
  free(address: number, words: number): void {
    if (words > CHUNK_WORDS >> 1) {
      const chunk = address >>> CHUNK_BITS
      this.words -= this.chunkOf(address).length
      this.chunks[chunk] = emptyChunk
      this.freeChunks.push(chunk)
      return
    }
    const size = sizeClassOf(words)
    this.chunkOf(address)[this.offsetOf(address)] = this.freeLists[size] ?? 0
    this.freeLists[size] = address
  }

  private addChunk(words: number): number {
    const chunk = this.freeChunks.pop() ?? this.chunks.length
    this.chunks[chunk] = new Int32Array(words)
    this.words += words
    return chunk
  }
}

// ---- helpers ----

const emptyChunk = new Int32Array(0)

const SEEN = 1

/** Steps of 2 words up to 64, then four size classes per doubling. This limits waste and makes blocks reusable. */
const SIZE_CLASSES = 33 + 4 * 26

function sizeClassOf(words: number): number {
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
