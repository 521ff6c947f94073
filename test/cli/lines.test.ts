/** Splitting bytes into lines: independent of the chunk size, and with bounded memory. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { bodyOf, eventLines } from "../../cli/lines.ts"
import { MAX_EVENT_BYTES } from "../../core/platforms/LocalFeed.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const split = (bytes: Uint8Array, size: number) => {
  const splitter = eventLines()
  const lines = []
  for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.push(bytes.subarray(at, at + size)))
  return [...lines, ...splitter.end()]
}

describe("eventLines", () => {
  it("returns the lines that are not blank, with their number and end offset", () => {
    const lines = split(bytesOf("a\n\n b \r\n\t\r\nč\nlast"), 3)
    assert.deepStrictEqual(
      lines.map(({ number, bytes, end }) => [number, new TextDecoder().decode(bytes), end]),
      [
        [1, "a", 2],
        [3, " b \r", 8],
        [5, "č", 14],
        [6, "last", 18]
      ]
    )
  })

  it("returns the same lines for any chunk size, and bodyOf joins them again", () => {
    const text = fc.stringOf(fc.constantFrom("a", "č", "💥", " ", "\r", "\n"), { maxLength: 60 })
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (written, size) => {
        const lines = split(bytesOf(written), size)
        const expected = written
          .split("\n")
          .map((line, index) => [index + 1, line] as const)
          .filter(([, line]) => /[^ \t\r]/.test(line))
        assert.deepStrictEqual(
          lines.map(({ number, bytes }) => [number, new TextDecoder().decode(bytes)] as const),
          expected
        )
        assert.strictEqual(new TextDecoder().decode(bodyOf(lines)), expected.map(([, line]) => `${line}\n`).join(""))
      })
    )
  })

  it("keeps a line of the maximum size, and only the number of a longer one", () => {
    const longest = "x".repeat(MAX_EVENT_BYTES)
    const lines = split(bytesOf(`${longest}\n${longest}x\n${longest}xyz\nshort`), 65_536)
    assert.deepStrictEqual(
      lines.map(({ number, bytes, isTooLong }) => [number, bytes.length, isTooLong]),
      [
        [1, MAX_EVENT_BYTES, false],
        [2, 0, true],
        [3, 0, true],
        [4, 5, false]
      ]
    )
  })
})
