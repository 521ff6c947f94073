import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SyntaxHelp } from "../../../core/platforms/Platform.ts"
import { helpFor } from "../../../core/platforms/syntaxHelp.ts"
import { fields } from "../../../core/syntax/firehose/fields.ts"
import { firehoseHelp } from "../../../core/syntax/firehose/help.ts"
import * as Firehose from "../../../core/syntax/firehose/language.ts"
import { operators as firehoseOperators } from "../../../core/syntax/firehose/operators.ts"
import type { Mistake } from "../../../core/syntax/helpPage.ts"
import type { Issue } from "../../../core/syntax/issue.ts"
import { xHelp } from "../../../core/syntax/x/help.ts"
import * as X from "../../../core/syntax/x/language.ts"
import { forms, operators as xOperators } from "../../../core/syntax/x/operators.ts"
import { languageOf, PLATFORM_IDS, type PlatformId } from "../../platforms.ts"

const check: Readonly<Record<PlatformId, (text: string) => ReadonlyArray<Issue>>> = {
  x: (text) => X.check(text).issues,
  firehose: (text) => Firehose.check(text).issues
}

const mistakes: Readonly<Record<PlatformId, ReadonlyArray<Mistake>>> = {
  x: xHelp.mistakes,
  firehose: firehoseHelp.mistakes
}

/** Forms whose very use gets a warning: the help shows them so that a reader knows them. */
const warnedAbout = new Set(["x y", "x^2"])

for (const platform of PLATFORM_IDS) {
  const help = helpFor(languageOf(platform), { rules_per_account: 25 })

  describe(`helpFor ${platform}`, () => {
    it("has operators whose examples are rules", () => {
      for (const { name, description, example } of help.operators) {
        const issues = check[platform](example).filter(({ severity }) => severity === "error" || !warnedAbout.has(name))
        assert.deepStrictEqual(issues, [], `${name}: ${example}`)
        assert.isAbove(description.length, 5, name)
      }
      assert.strictEqual(new Set(help.operators.map(({ name }) => name)).size, help.operators.length)
    })

    it("has ten examples or more, all without fault", () => {
      assert.isAtLeast(help.examples.length, 10)
      for (const { rule } of help.examples) {
        assert.deepStrictEqual(check[platform](rule), [], rule)
      }
    })

    for (const { wrong, right } of mistakes[platform]) {
      it(`finds fault with ${wrong}, and none with ${right}`, () => {
        assert.isAbove(check[platform](wrong).length, 0)
        assert.deepStrictEqual(check[platform](right), [])
        assert.include(help.syntax, `\`${right.replaceAll("|", "\\|")}\``)
      })
    }

    it("is a page of at most 12 kB that holds everything it needs", () => {
      assert.isAtMost(new TextEncoder().encode(help.syntax).length, 12_288)
      for (const part of ["combine", "compared", "Values", "Not possible", "Limits", "Examples", "Common mistakes"]) {
        assert.match(help.syntax, new RegExp(`^## .*${part}`, "m"))
      }
      for (const { rule } of help.examples) {
        assert.include(help.syntax, `\`${rule}\``)
      }
      assert.notMatch(help.syntax, /undefined|\[object|NaN/)
    })

    it("has tables that are tables: as many cells in each row as in the head", () => {
      let columns = 0
      for (const line of help.syntax.split("\n")) {
        const cells = line.startsWith("|") ? line.replaceAll("\\|", "").split("|").length : 0
        assert.isTrue(columns === 0 || cells === 0 || cells === columns, line)
        columns = cells
      }
    })

    it("keeps what Markdown would take as its own in code", () => {
      const prose = help.syntax.replaceAll(/`[^`\n]+`/g, "").replaceAll("\\|", "")
      assert.notMatch(prose, /\\[!-~]|<[a-z]/)
    })

    it("is what the API promises", () => {
      assert.isTrue(Schema.is(SyntaxHelp)(help))
      assert.strictEqual(help.platform, platform)
      assert.strictEqual(help.limits["rules_per_account"], 25)
      assert.include(help.syntax, "Rules of one account: 25")
    })

    it("calls a platform with a limit on rules premium, and one without regular", () => {
      assert.strictEqual(help.rule_type, "premium")
      assert.strictEqual(helpFor(languageOf(platform), {}).rule_type, "regular")
      assert.isUndefined(helpFor(languageOf(platform), {}).limits["rules_per_account"])
    })

    it("shows a limit of the deployment in place of the language's own", () => {
      const { limits, syntax } = helpFor(languageOf(platform), { rule_length: 4321 })
      assert.strictEqual(limits["rule_length"], 4321)
      assert.include(syntax, "4,321")
    })
  })
}

describe("helpFor", () => {
  it("tells the truth about precedence", () => {
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

  it("tells the truth about what must be asked for", () => {
    for (const rule of ["cat OR -dog", "cat OR lang:en"]) {
      assert.include(helpFor(languageOf("x"), {}).syntax, `\`${rule}\``)
      assert.isUndefined(X.check(rule).rule)
    }
    assert.deepStrictEqual(X.check("cat OR (dog -puppy)").issues, [])
    assert.deepStrictEqual(Firehose.check("cat OR (*:* AND NOT dog)").issues, [])
    assert.deepStrictEqual(Firehose.check("(cat OR dog) AND recent:24h").issues, [])
  })

  it("names every operator of X, on the page and in the list", () => {
    const { syntax, operators } = helpFor(languageOf("x"), {})
    const names = operators.map(({ name }) => name)
    for (const operator of xOperators) {
      const written =
        operator.choices.length > 0 ? operator.choices.map(({ value }) => `${operator.name}:${value}`) : [operator.form]
      for (const one of written) {
        assert.include(names, one)
        assert.include(syntax, `\`${one}\``)
      }
    }
    for (const { form } of forms) {
      assert.include(names, form)
    }
  })

  it("names every field and sign of Firehose, on the page and in the list", () => {
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
