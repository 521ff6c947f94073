import { assert, describe, it } from "@effect/vitest"
import { firehose } from "../../../core/languages/firehose.ts"
import { fromUuid } from "../../../core/model/Ids.ts"
import { inForce } from "../../../core/rules/inForce.ts"
import { BEFORE_PROMOTION, type RuleLink } from "../../../core/rules/RuleStore.ts"

const NOW = Date.parse("2026-11-17T10:00:00Z")
const ID = "01890f3a-7c1e-7000-8000-000000000001"

describe("inForce", () => {
  it("takes the version of the time at which the event was received", () => {
    assert.strictEqual(versionAt(NOW - 1, [link(1, NOW), link(2)]), 1)
    assert.strictEqual(versionAt(NOW, [link(1, NOW), link(2)]), 2)
    assert.strictEqual(versionAt(NOW + 1, [link(1, NOW), link(2, NOW + 2), link(3)]), 2)
  })

  it("drops an event in process that only replaced filters met, and keeps one that was on its way", () => {
    assert.isUndefined(versionAt(NOW, [link(1, NOW)]))
    assert.strictEqual(versionAt(NOW - 1, [link(1, NOW)]), 1)
    assert.strictEqual(versionAt(NOW + 4_999, [link(1, NOW)], { isRemote: true }), 1)
    assert.isUndefined(versionAt(NOW + 5_000, [link(1, NOW)], { isRemote: true }))
  })

  it("drops an event that only a promoted filter met before its promotion", () => {
    const shadow = link(BEFORE_PROMOTION, NOW)
    assert.isUndefined(versionAt(NOW - 1, [shadow, link(2)]))
    assert.strictEqual(versionAt(NOW, [shadow, link(2)]), 2)
    assert.strictEqual(versionAt(NOW - 1, [shadow, link(1, NOW), link(2)]), 1)
    assert.strictEqual(versionAt(NOW - 1, [link(1, NOW), shadow, link(2)]), 1)
    // The time of the platform alone is no reason to drop an event.
    assert.strictEqual(versionAt(NOW - 1, [shadow, link(2)], { isRemote: true, receivedAt: NOW + 60_000 }), 2)
  })

  it("takes the version of the time of an event that the platform sends again", () => {
    const links = [link(1, NOW), link(2)]
    const again = { isRemote: true, receivedAt: NOW + 60_000 }
    assert.strictEqual(versionAt(NOW - 1, links, again), 1)
    assert.strictEqual(versionAt(NOW + 1, links, again), 2)
    assert.strictEqual(versionAt(NOW - 1, [link(1, NOW)], again), 1)
    assert.isUndefined(versionAt(NOW + 1, [link(1, NOW)], { isRemote: true, receivedAt: NOW + 60_001 }))
  })
})

// ---- helpers ----

const link = (version: number, retiredAt?: number): RuleLink => ({
  platformRuleId: `filter of ${version}`,
  ruleId: fromUuid("rule", ID),
  accountId: fromUuid("acct", ID),
  version,
  isShadow: false,
  ...(retiredAt !== undefined && { retiredAt })
})

const versionAt = (
  matchedAt: number,
  links: ReadonlyArray<RuleLink>,
  { isRemote = false, receivedAt = matchedAt } = {}
): number | undefined => {
  const payload = { matched_at: new Date(matchedAt).toISOString() }
  return inForce(links, { receivedAt, payload }, { language: firehose, capabilities: { isRemote } })[0]?.version
}
