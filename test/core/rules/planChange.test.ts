import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { fromUuid } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import type { CheckedFilter } from "../../../core/rules/Drafting.ts"
import { planPause, planUpdate, platformsToCheck, platformsToJoin } from "../../../core/rules/planChange.ts"
import { BY_ACCOUNT, type StoredRegistration } from "../../../core/rules/RuleStore.ts"
import type { PlatformId } from "../../../fixtures/languages.ts"
import { ann, FakePlatform } from "../world.ts"

describe("platformsToCheck", () => {
  it("are the new platforms, and those with a filter in the patch", () => {
    assert.deepStrictEqual(platformsToCheck([held("x", "cat")], { platforms: ["x", "firehose"] }), ["firehose"])
    assert.deepStrictEqual(platformsToCheck(both, { overrides: { x: "dog" } }), ["x"])
    assert.deepStrictEqual(platformsToCheck(both, { name: "Dogs" }), [])
  })

  it("are none that the rule leaves", () => {
    assert.deepStrictEqual(platformsToCheck(both, { platforms: ["x"], overrides: { firehose: "dog" } }), [])
  })
})

describe("planUpdate", () => {
  it("replaces a filter that has changed, and no other one", () => {
    const plan = planUpdate(both, { overrides: { x: "dog", firehose: "cat" } }, [to("x", "dog"), to("firehose", "cat")])
    assert.deepStrictEqual(shown(plan), { filters: [["x", "dog"]], ended: ["x"], paused: [] })
    assert.deepStrictEqual(platformsToJoin(both, plan), [])
  })

  it("adds and leaves platforms", () => {
    const plan = planUpdate([held("x", "cat")], { platforms: ["firehose"] }, [to("firehose", "cat")])
    assert.deepStrictEqual(shown(plan), { filters: [["firehose", "cat"]], ended: ["x"], paused: [] })
    assert.deepStrictEqual(platformsToJoin([held("x", "cat")], plan), ["firehose"])
  })

  it("changes names and nothing else", () => {
    const plan = planUpdate(both, { name: "Dogs" }, [])
    assert.deepStrictEqual(plan, { name: "Dogs", filters: [], ended: [], paused: [] })
  })

  it("keeps a paused rule paused", () => {
    const plan = planUpdate([held("x", "cat", "paused")], { overrides: { x: "dog" } }, [to("x", "dog")])
    assert.deepStrictEqual(shown(plan), { filters: [], ended: ["x"], paused: [{ platform: "x", text: "dog" }] })
  })
})

describe("planPause", () => {
  it("pauses what is not paused", () => {
    assert.deepStrictEqual(planPause([held("x", "cat"), held("firehose", "dog", "paused")]), {
      filters: [],
      ended: ["x"],
      paused: [{ platform: "x", text: "cat" }]
    })
  })
})

describe("platformsToJoin", () => {
  it("contains those of filters that the account had paused", () => {
    const plan = { filters: [to("x", "cat"), to("firehose", "cat")], ended: [], paused: [] }
    assert.deepStrictEqual(platformsToJoin([held("x", "cat", "paused"), held("firehose", "cat", "failed")], plan), [
      "x"
    ])
  })
})

// ---- helpers ----

const held = (
  platform: PlatformId,
  text: string,
  state: StoredRegistration["state"] = "active"
): StoredRegistration => ({
  ruleId: fromUuid("rule", "01890000-0000-7000-8000-000000000001"),
  accountId: ann,
  platform,
  text,
  platformRuleId: Option.none(),
  translatedValue: text,
  state,
  since: Timestamp.fromMillis(0),
  pause: state === "paused" ? Option.some(BY_ACCOUNT) : Option.none(),
  purpose: Option.none()
})

const both = [held("x", "cat"), held("firehose", "cat")]

const to = (id: PlatformId, text: string): CheckedFilter => ({
  platform: new FakePlatform(id, Option.none()).platform,
  text,
  sent: text,
  warnings: []
})

const shown = ({ filters, ended, paused }: ReturnType<typeof planUpdate>) => ({
  filters: filters.map(({ platform, text }) => [platform.id, text]),
  ended,
  paused
})
