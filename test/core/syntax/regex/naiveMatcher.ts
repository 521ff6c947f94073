/** Naive reference matcher for the regex tests, with generators of trees and short texts. */
import fc from "fast-check"
import type { RegexNode } from "../../../../core/syntax/regex/tree.ts"

export const matchesNaively = (node: RegexNode, text: string): boolean => ends(node, text, 0).has(text.length)

const leaf: fc.Arbitrary<RegexNode> = fc.oneof(
  fc.constantFrom<RegexNode>(
    { _tag: "Empty" },
    { _tag: "None" },
    { _tag: "AnyString" },
    { _tag: "AnyCharacter" },
    { _tag: "Literal", text: "a" },
    { _tag: "Literal", text: "ab" },
    { _tag: "Literal", text: "1" },
    { _tag: "Interval", from: 1, to: 12, digits: 0 },
    { _tag: "Interval", from: 1, to: 12, digits: 2 },
    { _tag: "Interval", from: 0, to: 210, digits: 0 }
  ),
  fc.record({
    _tag: fc.constant("Class" as const),
    negated: fc.boolean(),
    ranges: fc.constantFrom(
      [{ from: 97, to: 97 }],
      [{ from: 49, to: 98 }],
      [
        { from: 98, to: 98 },
        { from: 48, to: 49 }
      ]
    )
  })
)
export const anyTree = fc.letrec<{ node: RegexNode }>((tie) => {
  const parts = fc.array(tie("node"), { minLength: 1, maxLength: 3 })
  return {
    node: fc.oneof(
      { depthSize: "small", maxDepth: 4, withCrossShrink: true },
      leaf,
      parts.map((found): RegexNode => ({ _tag: "Concat", parts: found })),
      parts.map((found): RegexNode => ({ _tag: "Union", parts: found })),
      parts.map((found): RegexNode => ({ _tag: "Intersection", parts: found })),
      tie("node").map((part): RegexNode => ({ _tag: "Complement", part })),
      fc.tuple(tie("node"), fc.nat(2), fc.option(fc.nat(2), { nil: undefined })).map(
        ([part, min, more]): RegexNode => ({
          _tag: "Repeat",
          part,
          min,
          max: more === undefined ? undefined : min + more
        })
      )
    )
  }
}).node

export const shortText = fc.string({ unit: fc.constantFrom("a", "b", "0", "1", "2"), maxLength: 5 })

// ---- helpers ----

/** Every end of a match of the node that begins at `start`. */
const ends = (node: RegexNode, text: string, start: number): ReadonlySet<number> => {
  const all = Array.from({ length: text.length - start + 1 }, (_, index) => start + index)
  const where = (test: (end: number) => boolean) => new Set(all.filter(test))
  const after = (starts: Iterable<number>, part: RegexNode) =>
    new Set([...starts].flatMap((at) => [...ends(part, text, at)]))
  switch (node._tag) {
    case "Empty":
      return new Set([start])
    case "None":
      return new Set()
    case "AnyString":
      return new Set(all)
    case "AnyCharacter":
      return where((end) => end === start + 1)
    case "Literal":
      return where((end) => text.slice(start, end) === node.text)
    case "Class": {
      const code = text.charCodeAt(start)
      const inside = node.ranges.some(({ from, to }) => from <= code && code <= to)
      return where((end) => end === start + 1 && inside !== node.negated)
    }
    case "Concat":
      return node.parts.reduce<ReadonlySet<number>>((starts, part) => after(starts, part), new Set([start]))
    case "Union":
      return new Set(node.parts.flatMap((part) => [...ends(part, text, start)]))
    case "Intersection":
      return where((end) => node.parts.every((part) => ends(part, text, start).has(end)))
    case "Complement": {
      const inner = ends(node.part, text, start)
      return where((end) => !inner.has(end))
    }
    case "Repeat": {
      let reached: ReadonlySet<number> = new Set([start])
      for (let count = 0; count < node.min; count++) {
        reached = after(reached, node.part)
      }
      const found = new Set(reached)
      for (let count = node.min; count < (node.max ?? node.min + text.length + 1); count++) {
        reached = after(reached, node.part)
        for (const end of reached) found.add(end)
      }
      return found
    }
    case "Interval":
      return where((end) => {
        const digits = text.slice(start, end)
        const hasWidth = node.digits === 0 || digits.length === node.digits
        return /^[0-9]+$/.test(digits) && hasWidth && Number(digits) >= node.from && Number(digits) <= node.to
      })
  }
}
