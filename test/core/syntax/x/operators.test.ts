import { assert, describe, it } from "@effect/vitest"
import { check } from "../../../../core/syntax/x/language.ts"
import { missing, missingNamed } from "../../../../core/syntax/x/missing.ts"
import { forms, limits, operatorNamed, operators } from "../../../../core/syntax/x/operators.ts"
import { countries, languageCode, languages } from "../../../../core/syntax/x/vocabulary.ts"

const examples = [
  ...forms.flatMap((form) => form.examples.map((example) => ({ name: form.name, example }))),
  ...operators.flatMap((operator) => operator.examples.map((example) => ({ name: operator.name, example })))
]

describe("operators", () => {
  it.each(examples)("shows $name by a rule without issues: $example", ({ example }) => {
    assert.deepStrictEqual(check(example).issues, [])
  })

  it("describes and shows every entry", () => {
    for (const entry of [...forms, ...operators, ...operators.flatMap(({ choices }) => choices)]) {
      assert.isNotEmpty(entry.matches)
      assert.isNotEmpty(entry.examples)
    }
  })

  it("shows every operator and choice in its own examples", () => {
    for (const operator of operators) {
      assert.isTrue(operator.examples.every((example) => example.includes(`${operator.name}:`)))
      for (const choice of operator.choices) {
        assert.isTrue(choice.examples.every((example) => example.includes(`${operator.name}:${choice.value}`)))
      }
    }
  })

  it("has each name and alias once, in lower case, and none that is missing here", () => {
    const names = operators.flatMap(({ name, aliases }) => [name, ...aliases])
    assert.strictEqual(new Set(names).size, names.length)
    for (const name of names) {
      assert.strictEqual(name, name.toLowerCase())
      assert.isUndefined(missingNamed(name), name)
      assert.isDefined(operatorNamed(name))
    }
  })

  it("knows exactly the five families that cannot stand alone", () => {
    const needy = operators.filter(({ use }) => use === "conjunction-required").map(({ name }) => name)
    assert.sameMembers(needy, ["has", "is", "lang", "sample", "source"])
  })

  it.each(missing.map(({ name }) => ({ name: name.replace("*", "x") })))("refuses $name: with a reason", ({ name }) => {
    const [issue] = check(`cat ${name}:dog`).issues
    assert.strictEqual(issue?.code, "unavailable-operator")
    assert.include(issue?.message, `"${name}:" is not available here`)
  })

  it("accepts every language, in any case", () => {
    assert.strictEqual(languages.length, 71)
    for (const { code } of languages) {
      assert.deepStrictEqual(check(`cat lang:${code.toUpperCase()}`).issues, [], code)
      assert.strictEqual(languageCode(code.toUpperCase()), code)
    }
  })

  it("has the limits of the plans", () => {
    assert.strictEqual(limits.maxLength, 1024)
    assert.strictEqual(limits.maxLengthEnterprise, 2048)
    assert.strictEqual(countries.size, 250)
  })
})
