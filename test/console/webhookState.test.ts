import { assert, describe, it } from "@effect/vitest"
import { shownState, type Webhook } from "../../console/webhooks/state.ts"

type Attempt = NonNullable<Webhook["last_attempt"]>

const nameOf = (
  state: Webhook["state"],
  last?: readonly [kind: Attempt["kind"], outcome: Attempt["outcome"]]
): string => {
  const [kind, outcome] = last ?? []
  return shownState({ state, ...(last !== undefined && { last_attempt: { kind, outcome } as Attempt }) }).name
}

describe("shownState", () => {
  it("says that a webhook delivers only after a delivery", () => {
    assert.strictEqual(nameOf("active"), "Ready: nothing was sent yet")
    assert.strictEqual(nameOf("active", ["test", "delivered"]), "Ready")
    assert.strictEqual(nameOf("active", ["delivery", "delivered"]), "Delivering")
  })

  it("does not contradict a failed attempt", () => {
    assert.strictEqual(nameOf("active", ["test", "failed"]), "The last test failed")
    assert.strictEqual(nameOf("active", ["replay", "failed"]), "The last attempt failed")
    assert.strictEqual(nameOf("retrying", ["test", "delivered"]), "Failing")
    assert.strictEqual(nameOf("disabled", ["delivery", "failed"]), "Disabled")
  })
})
