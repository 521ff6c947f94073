import { assert, describe, it } from "@effect/vitest"
import { check } from "../../../../core/syntax/x/language.ts"
import { forms, limits, operatorNamed, operators } from "../../../../core/syntax/x/operators.ts"
import { unavailableOperator, unavailableOperators } from "../../../../core/syntax/x/unavailable.ts"
import { countries, languageCode, languages } from "../../../../core/syntax/x/vocabulary.ts"

const examples = [
  ...forms.flatMap((form) => form.examples.map((example) => ({ name: form.name, example }))),
  ...operators.flatMap((operator) => operator.examples.map((example) => ({ name: operator.name, example })))
]

describe("operators", () => {
  it.each(examples)("the example of $name has no issues: $example", ({ example }) => {
    assert.deepStrictEqual(check(example).issues, [])
  })

  it("every entry has a description and an example", () => {
    for (const entry of [...forms, ...operators, ...operators.flatMap(({ choices }) => choices)]) {
      assert.isNotEmpty(entry.matches)
      assert.isNotEmpty(entry.examples)
    }
  })

  it("every example uses its own operator or choice", () => {
    for (const operator of operators) {
      assert.isTrue(operator.examples.every((example) => example.includes(`${operator.name}:`)))
      for (const choice of operator.choices) {
        assert.isTrue(choice.examples.every((example) => example.includes(`${operator.name}:${choice.value}`)))
      }
    }
  })

  it("names and aliases are unique, in lower case and available", () => {
    const names = operators.flatMap(({ name, aliases }) => [name, ...aliases])
    assert.strictEqual(new Set(names).size, names.length)
    for (const name of names) {
      assert.strictEqual(name, name.toLowerCase())
      assert.isUndefined(unavailableOperator(name), name)
      assert.isDefined(operatorNamed(name))
    }
  })

  it("exactly five operators cannot stand alone", () => {
    const dependent = operators.filter(({ use }) => use === "conjunction-required").map(({ name }) => name)
    assert.sameMembers(dependent, ["has", "is", "lang", "sample", "source"])
  })

  const unavailable = unavailableOperators.map(({ name }) => ({ name: name.replace("*", "x") }))
  it.each(unavailable)("check refuses $name: with a reason", ({ name }) => {
    const [issue] = check(`cat ${name}:dog`).issues
    assert.strictEqual(issue?.code, "unavailable-operator")
    assert.include(issue?.message, `"${name}:" is not available here`)
  })

  it("check accepts every language in any case", () => {
    assert.strictEqual(languages.length, 71)
    for (const { code } of languages) {
      assert.deepStrictEqual(check(`cat lang:${code.toUpperCase()}`).issues, [], code)
      assert.strictEqual(languageCode(code.toUpperCase()), code)
    }
  })

  it("limits match the plans of the X API", () => {
    assert.strictEqual(limits.maxLength, 1024)
    assert.strictEqual(limits.maxLengthEnterprise, 2048)
    assert.strictEqual(countries.size, 250)
  })
})
