import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { tokens } from "../../../../core/syntax/x/tokens.ts"
import { sized } from "../../../long.ts"

describe("tokens", () => {
  it.each([
    { text: "", words: [] },
    { text: "Coca-Cola", words: ["coca", "cola"] },
    { text: "gnip's @gnip Gnip.", words: ["gnip", "s", "gnip", "gnip"] },
    { text: "#gniprocks snow_board", words: ["gniprocks", "snow", "board"] },
    { text: "http://x.com/Snow/a-snow-b", words: ["http", "x", "com", "snow", "a", "snow", "b"] },
    { text: "Diacrítica diacritica", words: ["diacrítica", "diacritica"] },
    { text: "I like 🍕", words: ["i", "like", "🍕"] },
    { text: "🍕🍕x", words: ["🍕", "🍕", "x"] },
    { text: "❤️ ❤", words: ["❤", "❤"] },
    { text: "👩‍👩‍👧‍👦 👍🏽 🇨🇭🇫🇷 🏴󠁧󠁢󠁥󠁮󠁧󠁿", words: ["👩‍👩‍👧‍👦", "👍🏽", "🇨🇭", "🇫🇷", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"] },
    { text: "1️⃣ 1", words: ["1⃣", "1"] },
    { text: "Acme® shoes ©️", words: ["acme", "shoes", "©"] },
    { text: "東京タワー、東京", words: ["東京タワー", "東京"] },
    { text: "«Été» — ¿qué?", words: ["été", "qué"] },
    { text: "e\u0301te\u0301", words: ["été"] },
    { text: "soft\u00adhyphen \u200fright", words: ["softhyphen", "right"] },
    { text: "می\u200cخواهم", words: ["می\u200cخواهم"] },
    { text: "a\u200bb\u3000c\u00a0d", words: ["a", "b", "c", "d"] },
    { text: "\ud83c x \udf55", words: ["x"] },
    { text: "ΟΔΟΣ οδός", words: ["οδοσ", "οδόσ"] },
    { text: "!!! ... ---", words: [] }
  ])("splits $text", ({ text, words }) => {
    assert.deepStrictEqual(tokens(text), words)
  })

  it("the ASCII path and the Unicode path agree on ASCII text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.deepStrictEqual(tokens(`${text} é`), [...tokens(text), "é"])
      }),
      { numRuns: sized(500, 2_000) }
    )
  })

  it("is idempotent: tokenizing its words gives the same words", () => {
    fc.assert(
      fc.property(fc.fullUnicodeString(), (text) => {
        const words = tokens(text)
        assert.isFalse(words.includes(""))
        assert.deepStrictEqual(tokens(words.join(" ")), words)
      }),
      { numRuns: sized(750, 3_000) }
    )
  })
})
