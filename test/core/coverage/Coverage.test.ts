/** The coverage ledger: never claims more than was watched. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import {
  advanceTo,
  afterRestart,
  afterSignal,
  isWithin,
  type Ledger,
  newLedger
} from "../../../core/coverage/Coverage.ts"

const watched: Ledger = { ...newLedger, watchedSince: Option.some(1_000), watchedUntil: 5_000 }
const outage = { since: 5_000, cause: "outage", detail: "It is down" } as const
const unwatched: Ledger = { ...watched, openGap: Option.some(outage) }

const eventAt = (receivedAt: number) => ({
  _tag: "Event" as const,
  delivery: {
    platformPostId: "1",
    payload: {},
    platformRuleIds: [],
    cursor: Option.none(),
    receivedAt,
    ack: Effect.void
  }
})

describe("Coverage", () => {
  it("afterSignal advances to the receive time of an event, and never back", () => {
    assert.strictEqual(afterSignal(watched, eventAt(6_000)).ledger.watchedUntil, 6_000)
    assert.strictEqual(afterSignal(watched, eventAt(4_000)).ledger.watchedUntil, 5_000)
  })

  it("advanceTo does nothing while a gap is open", () => {
    assert.deepStrictEqual(advanceTo(unwatched, 9_000), unwatched)
    assert.strictEqual(advanceTo(watched, 9_000).watchedUntil, 9_000)
  })

  it("afterRestart opens a gap at the end of the ledger, and keeps the cause of an open gap", () => {
    assert.deepInclude(Option.getOrThrow(afterRestart(watched).openGap), { since: 5_000, cause: "process_down" })
    assert.deepStrictEqual(afterRestart(unwatched), unwatched)
  })

  it("afterSignal closes the gap and opens another when the cause changes", () => {
    const { ledger, gaps } = afterSignal(unwatched, { _tag: "GapStarted", at: 7_000, cause: "credit", detail: "Pay" })
    assert.deepStrictEqual(gaps, [
      { from: 5_000, to: 7_000, cause: "outage", detail: "It is down", isRecovered: false, isSuspected: false }
    ])
    assert.deepStrictEqual(Option.getOrNull(ledger.openGap), { since: 7_000, cause: "credit", detail: "Pay" })
  })

  it("afterSignal splits a gap into the part that is replayed and the lost one", () => {
    const periodsSince = (since: number) => {
      const { ledger, gaps, recovered } = afterSignal(unwatched, { _tag: "Watching", at: 9_000, since })
      assert.deepStrictEqual(recovered, [])
      const caughtUp = afterSignal(ledger, { _tag: "CaughtUp", at: 9_500 })
      assert.deepStrictEqual(Option.getOrNull(caughtUp.ledger.replayingSince), null)
      return [...gaps, ...caughtUp.recovered].map(({ from, to }) => [from, to])
    }
    assert.deepStrictEqual(periodsSince(9_000), [[5_000, 9_000]])
    assert.deepStrictEqual(periodsSince(5_000), [
      [5_000, 9_000],
      [5_000, 9_500]
    ])
    assert.deepStrictEqual(periodsSince(6_000), [
      [5_000, 6_000],
      [6_000, 9_000],
      [6_000, 9_500]
    ])
  })

  it("afterSignal recovers all gaps of a replay that was cut, in which nothing was lost", () => {
    const replaying = afterSignal(unwatched, { _tag: "Watching", at: 9_000, since: 0 }).ledger
    const restarted = afterRestart(advanceTo(replaying, 9_500))
    const again = afterSignal(restarted, { _tag: "Watching", at: 12_000, since: 0 }).ledger
    assert.deepStrictEqual(afterSignal(again, { _tag: "CaughtUp", at: 13_000 }).recovered, [
      { from: 5_000, to: 13_000 }
    ])
    const unreadable = { _tag: "Lost", from: 6_000, to: 9_400, cause: "unreadable", detail: "Torn" } as const
    const { ledger } = afterSignal(replaying, unreadable)
    assert.deepStrictEqual(afterSignal(ledger, { _tag: "CaughtUp", at: 9_500 }).recovered, [])
  })

  it("afterSignal keeps a gap as lost until there is evidence of the replay that was asked for", () => {
    const signal = { _tag: "Watching", at: 9_000, since: 9_000, askedSince: 6_000 } as const
    const { gaps, recovered } = afterSignal(unwatched, signal)
    assert.deepStrictEqual(
      gaps.map(({ from, to, isRecovered }) => [from, to, isRecovered]),
      [
        [5_000, 6_000, false],
        [6_000, 9_000, false]
      ]
    )
    assert.deepStrictEqual(recovered, [])
    const replayed = afterSignal(watched, { _tag: "Replayed", from: 6_000, to: 9_000 })
    assert.deepStrictEqual(replayed.recovered, [{ from: 6_000, to: 9_000 }])
  })

  it("afterSignal of a replay does not recover what was unreadable before the gap", () => {
    const unreadable = { _tag: "Lost", from: 6_000, to: 6_000, cause: "unreadable", detail: "Torn" } as const
    const [lost] = afterSignal(watched, unreadable).gaps
    const cut = afterSignal(watched, { _tag: "GapStarted", at: 6_000, cause: "outage", detail: "Cut" }).ledger
    assert.strictEqual(cut.watchedUntil, 6_000)
    const { ledger } = afterSignal(cut, { _tag: "Watching", at: 9_000, since: 0 })
    const { recovered } = afterSignal(ledger, { _tag: "CaughtUp", at: 9_000 })
    assert.deepStrictEqual(recovered, [{ from: 6_000, to: 9_000 }])
    assert.isFalse(lost !== undefined && recovered.some((period) => isWithin(lost, period)))
  })

  it("afterSignal reports an unreadable event and a suspicion, and stays watched", () => {
    const lost = afterSignal(watched, { _tag: "Lost", from: 4_000, to: 4_000, cause: "unreadable", detail: "Torn" })
    assert.deepInclude(lost.gaps[0], { from: 3_999, to: 4_000, cause: "unreadable", isSuspected: false })
    const suspected = afterSignal(watched, { _tag: "Suspected", from: 2_000, to: 4_000, detail: "Quiet" })
    assert.deepInclude(suspected.gaps[0], { from: 2_000, to: 4_000, isSuspected: true })
    assert.deepStrictEqual([lost.ledger, suspected.ledger], [watched, watched])
  })

  it("afterSignal starts a gap at the last sign of life, which may be before the end of the ledger", () => {
    const { ledger } = afterSignal(watched, { _tag: "GapStarted", at: 3_000, cause: "outage", detail: "Cut" })
    assert.strictEqual(ledger.watchedUntil, 3_000)
    assert.strictEqual(Option.getOrThrow(ledger.openGap).since, 3_000)
  })
})
