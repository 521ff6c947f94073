import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { SyntaxHelp } from "../../../core/platforms/Platform.ts"
import { helpFor } from "../../../core/platforms/syntaxHelp.ts"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import { fields } from "../../../core/syntax/firehose/fields.ts"
import { firehoseHelp } from "../../../core/syntax/firehose/help.ts"
import * as Firehose from "../../../core/syntax/firehose/language.ts"
import { operators as firehoseOperators } from "../../../core/syntax/firehose/operators.ts"
import type { Mistake } from "../../../core/syntax/help/page.ts"
import type { Issue } from "../../../core/syntax/issues/issue.ts"
import { xHelp } from "../../../core/syntax/x/help.ts"
import * as X from "../../../core/syntax/x/language.ts"
import { forms as xForms, operators as xOperators } from "../../../core/syntax/x/operators.ts"
import { languageOf, PLATFORM_IDS, type PlatformId } from "../../../fixtures/languages.ts"

const check: Readonly<Record<PlatformId, (text: string) => ReadonlyArray<Issue>>> = {
  x: (text) => X.check(text).issues,
  firehose: (text) => Firehose.check(text).issues
}

const mistakes: Readonly<Record<PlatformId, ReadonlyArray<Mistake>>> = {
  x: xHelp.mistakes,
  firehose: firehoseHelp.mistakes
}

/** Filters that the example events match. */
const filters: Readonly<Record<PlatformId, string>> = {
  x: "comet #astronomy from:nasa lang:en",
  firehose:
    'comet AND title:comet AND removed:expected AND language:en AND domain:example.org AND page_category:"/Science"'
}

/** Forms that always get a warning. */
const discouraged = new Set(["x y", "x^2"])

for (const platform of PLATFORM_IDS) {
  const help = helpFor(languageOf(platform), { rules_per_account: 25 })

  describe(`helpFor ${platform}`, () => {
    it("has operators with unique names and valid examples", () => {
      for (const { name, description, example } of help.operators) {
        const issues = check[platform](example).filter(({ severity }) => severity === "error" || !discouraged.has(name))
        assert.deepStrictEqual(issues, [], `${name}: ${example}`)
        assert.isAbove(description.length, 5, name)
      }
      assert.strictEqual(new Set(help.operators.map(({ name }) => name)).size, help.operators.length)
    })

    it("has at least ten examples without issues", () => {
      assert.isAtLeast(help.examples.length, 10)
      for (const { rule } of help.examples) {
        assert.deepStrictEqual(check[platform](rule), [], rule)
      }
    })

    for (const { wrong, right } of mistakes[platform]) {
      it(`${wrong} has an issue, ${right} has none`, () => {
        assert.isAbove(check[platform](wrong).length, 0)
        assert.deepStrictEqual(check[platform](right), [])
        assert.include(help.syntax, `\`${right.replaceAll("|", "\\|")}\``)
      })
    }

    it("is a page of at most 12 kB with all sections and examples", () => {
      assert.isAtMost(new TextEncoder().encode(help.syntax).length, 12_288)
      for (const part of ["combine", "compared", "Values", "Not possible", "Limits", "Examples", "Common mistakes"]) {
        assert.match(help.syntax, new RegExp(`^## .*${part}`, "m"))
      }
      for (const { rule } of help.examples) {
        assert.include(help.syntax, `\`${rule}\``)
      }
      assert.notMatch(help.syntax, /undefined|\[object|NaN/)
    })

    it("has an example event that the filters of the platform can match", () => {
      const event: unknown = JSON.parse(/^`(\{.*\})`$/m.exec(help.syntax)?.[1] ?? "")
      const { events, check } = languageOf(platform)
      const expression = check(filters[platform]).rule?.expression ?? assert.fail("not a filter")
      assert.isTrue(Schema.is(events.schema)(event))
      assert.isTrue(evaluate(expression, Either.getOrThrow(events.read(event, 0))))
    })

    it("has tables with the same number of cells in each row", () => {
      let columns = 0
      for (const line of help.syntax.split("\n")) {
        const cells = line.startsWith("|") ? line.replaceAll("\\|", "").split("|").length : 0
        assert.isTrue(columns === 0 || cells === 0 || cells === columns, line)
        columns = cells
      }
    })

    it("has backslashes and angle brackets only in code spans", () => {
      const prose = help.syntax.replaceAll(/`[^`\n]+`/g, "").replaceAll("\\|", "")
      assert.notMatch(prose, /\\[!-~]|<[a-z]/)
    })

    it("conforms to the schema of the API", () => {
      assert.isTrue(Schema.is(SyntaxHelp)(help))
      assert.strictEqual(help.platform, platform)
      assert.strictEqual(help.limits["rules_per_account"], 25)
      assert.include(help.syntax, "Rules per account: 25")
    })

    it("has the rule type of the platform, and its rule limit only if there is one", () => {
      assert.strictEqual(help.rule_type, platform === "x" ? "premium" : "regular")
      assert.isUndefined(helpFor(languageOf(platform), {}).limits["rules_per_account"])
    })

    it("prefers a limit of the deployment to the language's", () => {
      const { limits, syntax } = helpFor(languageOf(platform), { rule_length: 4321 })
      assert.strictEqual(limits["rule_length"], 4321)
      assert.include(syntax, "4,321")
    })
  })
}

describe("helpFor", () => {
  it("describes precedence as the parsers implement it", () => {
    const x = (text: string) => {
      const { rule } = X.check(text)
      return rule && X.print(rule.ast)
    }
    assert.include(helpFor(languageOf("x"), {}).syntax, "`cat OR dog bird` means `cat OR (dog bird)`")
    assert.strictEqual(x("cat OR dog bird"), x("cat OR (dog bird)"))
    assert.notStrictEqual(x("cat OR dog bird"), x("(cat OR dog) bird"))

    const required = (text: string) =>
      Firehose.check(text).rule?.ast.clauses.map(({ occur, query }) =>
        query._tag === "Term" ? `${occur} ${query.text}` : ""
      )
    assert.include(helpFor(languageOf("firehose"), {}).syntax, "`a AND b OR c` means `a AND b`")
    assert.deepStrictEqual(required("cat AND dog OR bird"), ["must cat", "must dog", "should bird"])
    assert.deepStrictEqual(required("cat dog"), required("cat OR dog"))
  })

  it("describes required clauses as the checkers implement them", () => {
    for (const rule of ["cat OR -dog", "cat OR lang:en"]) {
      assert.include(helpFor(languageOf("x"), {}).syntax, `\`${rule}\``)
      assert.isUndefined(X.check(rule).rule)
    }
    assert.deepStrictEqual(X.check("cat OR (dog -puppy)").issues, [])
    assert.deepStrictEqual(Firehose.check("cat OR (*:* AND NOT dog)").issues, [])
    assert.deepStrictEqual(Firehose.check("(cat OR dog) AND recent:24h").issues, [])
  })

  it("has every operator of X on the page and in the list", () => {
    const { syntax, operators } = helpFor(languageOf("x"), {})
    const names = operators.map(({ name }) => name)
    for (const operator of xOperators) {
      const forms =
        operator.choices.length > 0 ? operator.choices.map(({ value }) => `${operator.name}:${value}`) : [operator.form]
      for (const form of forms) {
        assert.include(names, form)
        assert.include(syntax, `\`${form}\``)
      }
    }
    for (const { form } of xForms) {
      assert.include(names, form)
    }
  })

  it("has every field of Firehose on the page, and every field and operator in the list", () => {
    const { syntax, operators } = helpFor(languageOf("firehose"), {})
    const names = operators.map(({ name }) => name)
    for (const { name } of fields) {
      assert.include(names, `${name}:`)
      assert.include(syntax, `| \`${name}\` |`)
    }
    for (const { form } of firehoseOperators) {
      assert.include(names, form)
    }
  })
})
