/** A string that a pattern matches, for example events. */
import type { RegexNode } from "./tree.ts"

/** `any` replaces the first part that may be any string. May not match if the pattern has intersections or complements. */
export const exampleOf = (node: RegexNode, any: string): string => {
  let left = any
  const take = (): string => {
    const taken = left
    left = ""
    return taken
  }
  const visit = (node: RegexNode): string => {
    switch (node._tag) {
      case "Literal":
        return node.text
      case "AnyString":
        return take()
      case "AnyCharacter":
        return "a"
      case "Class":
        return characterOf(node)
      case "Concat":
        return node.parts.map(visit).join("")
      case "Union":
      case "Intersection":
        return node.parts[0] === undefined ? "" : visit(node.parts[0])
      case "Repeat":
        return node.part._tag === "AnyCharacter" && node.max === undefined && left.length >= node.min
          ? take()
          : visit(node.part).repeat(node.min)
      case "Interval":
        return String(node.from).padStart(node.digits, "0")
      default:
        return ""
    }
  }
  return visit(node)
}

// ---- helpers ----

function characterOf({ negated, ranges }: RegexNode & { readonly _tag: "Class" }): string {
  const isIn = (code: number) => ranges.some(({ from, to }) => from <= code && code <= to) !== negated
  const usual = [..."ae15-/. Z"].find((character) => isIn(character.charCodeAt(0)))
  return usual ?? String.fromCodePoint(ranges[0]?.from ?? 97)
}
