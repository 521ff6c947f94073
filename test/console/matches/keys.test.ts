import { assert, describe, it } from "@effect/vitest"
import { actionOf, KEYS } from "../../../console/matches/keys.ts"

const press = (key: string, element = "BODY", hasModifier = false) => actionOf({ key, element, hasModifier })

describe("keys", () => {
  it("perform their actions", () => {
    for (const { key, action } of KEYS) assert.strictEqual(press(key), action)
    assert.isUndefined(press("x"))
  })

  it("do nothing while the reader types", () => {
    for (const element of ["INPUT", "SELECT", "TEXTAREA"]) assert.isUndefined(press("j", element))
  })

  it("do nothing with a modifier", () => {
    assert.isUndefined(press("k", "BODY", true))
  })

  it("leave space and Enter to buttons and links", () => {
    assert.isUndefined(press(" ", "BUTTON"))
    assert.isUndefined(press("Enter", "A"))
    assert.strictEqual(press("j", "BUTTON"), "next")
  })
})
