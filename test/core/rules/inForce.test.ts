import { assert, describe, it } from "@effect/vitest"
import { firehose } from "../../../core/languages/firehose.ts"
import { fromUuid } from "../../../core/model/Ids.ts"
import { inForce } from "../../../core/rules/inForce.ts"
import { BEFORE_PROMOTION, type RuleLink } from "../../../core/rules/RuleStore.ts"

const NOW = Date.parse("2026-11-17T10:00:00Z")
const ID = "01890f3a-7c1e-7000-8000-000000000001"
const OTHER = "01890f3a-7c1e-7000-8000-000000000002"

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

  it("drops a later event of a remote platform for a filter that another rule still has", () => {
    const other = { ...link(1), ruleId: fromUuid("rule", OTHER), platformRuleId: "filter of 1" }
    const versions = (matchedAt: number, receivedAt: number) =>
      linksAt(matchedAt, [link(1, NOW), other], { isRemote: true, receivedAt }).map(({ ruleId }) => ruleId)
    assert.deepStrictEqual(versions(NOW - 1, NOW + 1_000), [fromUuid("rule", ID), other.ruleId])
    assert.deepStrictEqual(versions(NOW, NOW + 1_000), [other.ruleId])
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
    const again = { isRemote: true, receivedAt: NOW + 1_002 }
    assert.strictEqual(versionAt(NOW - 1, links, again), 1)
    assert.strictEqual(versionAt(NOW + 1, links, again), 2)
    assert.strictEqual(versionAt(NOW - 1, [link(1, NOW)], { ...again, receivedAt: NOW + 60_000 }), 1)
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

const linksAt = (
  matchedAt: number,
  links: ReadonlyArray<RuleLink>,
  { isRemote = false, receivedAt = matchedAt } = {}
): ReadonlyArray<RuleLink> => {
  const payload = { matched_at: new Date(matchedAt).toISOString() }
  return inForce(links, { receivedAt, payload }, { language: firehose, capabilities: { isRemote } })
}

const versionAt = (...args: Parameters<typeof linksAt>): number | undefined => linksAt(...args)[0]?.version
