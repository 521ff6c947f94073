import { assert, describe, it } from "@effect/vitest"
import { Pool } from "../../../core/engine/Pool.ts"
import { randomFrom } from "../../../fixtures/random.ts"

describe("Pool", () => {
  it("allocate never returns overlapping blocks, nor address 0", () => {
    const random = randomFrom(5)
    const pool = new Pool()
    const blocks = new Map<number, { readonly words: number; readonly mark: number }>()
    for (let step = 1; step <= 4_000; step++) {
      if (random() < 0.6) {
        const words = random() < 0.01 ? 100_000 + Math.floor(random() * 200_000) : 1 + Math.floor(random() ** 4 * 2_000)
        const address = pool.allocate(words)
        assert.isAbove(address, 0)
        const chunk = pool.chunkOf(address)
        const at = pool.offsetOf(address)
        assert.isAtMost(at + words, chunk.length)
        chunk.fill(step, at, at + words)
        blocks.set(address, { words, mark: step })
      } else {
        const [address, block] = [...blocks][Math.floor(random() * blocks.size)] ?? []
        if (address === undefined || block === undefined) continue
        const at = pool.offsetOf(address)
        const held = pool.chunkOf(address).subarray(at, at + block.words)
        assert.isTrue(held.every((word) => word === block.mark))
        pool.free(address, block.words)
        blocks.delete(address)
      }
    }
  })

  it("allocate reuses freed blocks", () => {
    const pool = new Pool()
    const sizes = Array.from({ length: 300 }, (_, number) => 1 + 7 * number)
    const round = () => {
      const taken = sizes.map((words) => ({ words, address: pool.allocate(words) }))
      for (const { words, address } of taken) pool.free(address, words)
      return pool.bytes
    }
    const first = round()
    for (let rounds = 0; rounds < 100; rounds++) assert.strictEqual(round(), first)
  })
})
