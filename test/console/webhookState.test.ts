import { assert, describe, it } from "@effect/vitest"
import { shownState, type Webhook } from "../../console/webhooks/state.ts"

type Attempt = NonNullable<Webhook["last_attempt"]>

/** Of a webhook with these attempts, newest first. */
const nameOf = (
  state: Webhook["state"],
  ...newestFirst: ReadonlyArray<readonly [kind: Attempt["kind"], outcome: Attempt["outcome"]]>
): string => {
  const attempts = newestFirst.map(([kind, outcome]) => ({ kind, outcome }) as Attempt)
  const [last_attempt] = attempts
  const last_delivery = attempts.find(({ kind }) => kind === "delivery")
  return shownState({
    state,
    ...(last_delivery !== undefined && { last_delivery }),
    ...(last_attempt !== undefined && { last_attempt })
  }).name
}

describe("shownState", () => {
  it("says that a webhook delivers only after a delivery", () => {
    assert.strictEqual(nameOf("active"), "Ready, nothing sent yet")
    assert.strictEqual(nameOf("active", ["test", "delivered"]), "Ready")
    assert.strictEqual(nameOf("active", ["delivery", "delivered"]), "Delivering")
    assert.strictEqual(nameOf("active", ["test", "delivered"], ["delivery", "delivered"]), "Delivering")
  })

  it("does not contradict a failed attempt", () => {
    assert.strictEqual(nameOf("active", ["test", "failed"]), "The last test failed")
    assert.strictEqual(nameOf("active", ["replay", "failed"]), "The last attempt failed")
    assert.strictEqual(nameOf("retrying", ["test", "delivered"], ["delivery", "failed"]), "Deliveries are failing")
    assert.strictEqual(nameOf("disabled", ["delivery", "failed"]), "Disabled")
  })
})
