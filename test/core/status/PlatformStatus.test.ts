import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { platformCoverage } from "../../../core/coverage/coverageOf.ts"
import { fromMillis } from "../../../core/model/Timestamp.ts"
import type { SyncStatus } from "../../../core/rules/Registrations.ts"
import { statusOf } from "../../../core/status/PlatformStatus.ts"

const STARTED = 1_000
const OWNED = 50_000

describe("statusOf", () => {
  it("says that a new owner is connecting until it has compared the rules", () => {
    assert.deepInclude(streamOf({ sync: neverCompared }), { state: "connecting", since: fromMillis(OWNED) })
    assert.deepInclude(streamOf({ sync: compared(OWNED - 1, 1) }), { state: "connecting" })
    assert.deepInclude(streamOf({ sync: compared(OWNED - 1, 0), state: "live" }), { state: "connecting" })
    assert.deepInclude(streamOf({ sync: compared(OWNED, 0) }), { state: "connecting" })
    const opened = streamOf({ sync: neverCompared, state: "live", since: OWNED })
    assert.deepInclude(opened, { state: "live", since: fromMillis(OWNED) })
  })

  it("says that the platform has lost the rules if it does not accept them", () => {
    const lost = streamOf({ sync: compared(OWNED, 1) })
    assert.strictEqual(lost.state, "waiting")
    assert.match(lost.detail, /^The platform has lost the rules/)
  })

  it("says that a new owner is idle if there are no rules", () => {
    assert.deepInclude(streamOf({ sync: neverCompared, wanted: 0 }), { state: "idle" })
  })

  it("says once why a platform is off", () => {
    const { summary, rules } = statusWith({
      sync: failed('Platform "x": Upstream is off'),
      state: "off",
      detail: "Upstream is off"
    })
    assert.strictEqual(summary, "Upstream is off. 1 rule to watch for. No event received since the start")
    assert.isUndefined(rules.error)
  })
})

// ---- helpers ----

const platform = {
  id: "x",
  capabilities: { rulesPerAccount: Option.none(), isRemote: true, sendsAlive: true }
} as const

const neverCompared: SyncStatus = { comparison: Option.none(), error: Option.none() }

const compared = (at: number, missing: number): SyncStatus => ({
  comparison: Option.some({
    at: fromMillis(at),
    missing,
    missingSince: Option.none(),
    orphaned: 0,
    foreign: 0,
    newer: 0,
    ruleLimit: Option.none(),
    usage: Option.none()
  }),
  error: Option.none()
})

const failed = (message: string): SyncStatus => ({
  comparison: Option.none(),
  error: Option.some({ at: fromMillis(OWNED), message, isRefused: false })
})

interface Given {
  readonly sync: SyncStatus
  readonly state?: "idle" | "live" | "off"
  readonly detail?: string
  readonly since?: number
  readonly wanted?: number
}

const streamOf = (given: Given) => statusWith(given).stream

const statusWith = (facts: Given) =>
  statusOf(platform, {
    stream: {
      state: facts.state ?? "idle",
      detail: facts.detail ?? "",
      since: facts.since ?? STARTED,
      lastEventAt: Option.none(),
      lastError: Option.none()
    },
    sync: facts.sync,
    wanted: facts.wanted ?? 1,
    coverage: platformCoverage(
      platform.id,
      { record: Option.none(), gaps: [], hasOlder: false },
      { from: Option.none(), to: OWNED }
    ),
    budget: Option.none(),
    owner: Option.some({
      work: "stream/x",
      server: "one/1",
      epoch: 2,
      since: fromMillis(OWNED),
      isAlive: true
    }),
    isOperator: true
  })
