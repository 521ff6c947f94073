/** Rules as search queries: what is left out, and that nothing that the rule matches is lost. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { XNode } from "../../../../core/syntax/x/ast.ts"
import { parse, print } from "../../../../core/syntax/x/language.ts"
import { printLeaf } from "../../../../core/syntax/x/printer.ts"
import { excludesRetweets, toSearch, unknownToSearch } from "../../../../core/syntax/x/search.ts"
import { trees } from "./trees.ts"

describe("toSearch", () => {
  for (const [rule, query, without] of [
    ["nasa lang:en", "nasa lang:en", []],
    ["nasa bio:teacher", "nasa", ["bio"]],
    ["nasa user_bio:teacher -bio_name:bot sample:10", "nasa", ["bio", "bio_name", "sample"]],
    ["nasa -(moon OR bio:teacher)", "nasa", ["bio"]],
    ["(nasa bio_location:paris) OR (esa -bio:bot)", "nasa OR esa", ["bio_location", "bio"]],
    ["nasa (bio:teacher OR bio:pilot)", "nasa", ["bio"]],
    ["nasa OR bio:teacher", undefined, ["bio"]],
    ["bio:teacher", undefined, ["bio"]]
  ] as const) {
    it(`turns ${rule} into ${query ?? "nothing"}`, () => {
      const found = toSearch(astOf(rule))
      assert.deepStrictEqual(
        [found.ast === undefined ? undefined : print(found.ast), found.without],
        [query, [...without]]
      )
    })
  }

  it("never uses an unknown operator and never loses a post", () => {
    fc.assert(
      fc.property(trees, fc.func(fc.boolean()), (rule, holds) => {
        const { ast, without } = toSearch(rule)
        const truth = (node: XNode) => isTrue(node, (leaf) => holds(leaf))
        if (truth(rule)) assert.isTrue(ast === undefined || truth(ast))
        const text = ast === undefined ? "" : print(ast)
        if (without.length > 0) for (const name of unknownToSearch) assert.notInclude(text, ` ${name}:`)
        else assert.strictEqual(ast, rule)
      })
    )
  })
})

describe("excludesRetweets", () => {
  it("is true only for a rule that cannot match a retweet", () => {
    assert.deepStrictEqual(
      ["nasa -is:retweet", "nasa", "nasa is:retweet", "(nasa -is:retweet) OR esa", "nasa -is:reply"].map((rule) =>
        excludesRetweets(astOf(rule))
      ),
      [true, false, false, false, false]
    )
  })
})

// ---- helpers ----

const astOf = (text: string): XNode => {
  const { rule } = parse(text)
  if (rule === undefined) throw new Error(`"${text}" is no rule`)
  return rule.ast
}

const isTrue = (node: XNode, holds: (leaf: string) => boolean): boolean => {
  switch (node._tag) {
    case "And":
      return node.clauses.every((clause) => isTrue(clause, holds))
    case "Or":
      return node.clauses.some((clause) => isTrue(clause, holds))
    case "Not":
      return !isTrue(node.clause, holds)
    default:
      return holds(printLeaf(node))
  }
}
