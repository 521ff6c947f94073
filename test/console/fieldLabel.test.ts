/** Errors name a field by its label. */
import { assert, describe, it } from "@effect/vitest"
import { fieldLabel } from "../../console/parts/fieldLabel.ts"

describe("fieldLabel", () => {
  it("is the label of the form, and undefined for a field that no form shows", () => {
    assert.strictEqual(fieldLabel("url"), "URL")
    assert.strictEqual(fieldLabel("overrides.x"), "Filter for X")
    assert.strictEqual(fieldLabel("rule_ids.0"), "Rules")
    assert.strictEqual(fieldLabel("events.1"), "What to send")
    assert.strictEqual(fieldLabel("events.firehose"), "Event")
    assert.isUndefined(fieldLabel("expected_version"))
    assert.isUndefined(fieldLabel(""))
  })
})
