/** The coverage ledger: never claims more than was watched. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { advanceTo, afterRestart, afterSignal, type Ledger } from "../../../core/coverage/Coverage.ts"

const watched: Ledger = { watchedSince: Option.some(1_000), watchedUntil: 5_000, openGap: Option.none() }
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
      { from: 5_000, to: 7_000, cause: "outage", detail: "It is down", isRecovered: false }
    ])
    assert.deepStrictEqual(Option.getOrNull(ledger.openGap), { since: 7_000, cause: "credit", detail: "Pay" })
  })

  it("afterSignal splits a gap into its recovered and lost parts", () => {
    const gapsSince = (since: number) =>
      afterSignal(unwatched, { _tag: "Watching", at: 9_000, since }).gaps.map(({ from, to, isRecovered }) => [
        from,
        to,
        isRecovered
      ])
    assert.deepStrictEqual(gapsSince(9_000), [[5_000, 9_000, false]])
    assert.deepStrictEqual(gapsSince(5_000), [[5_000, 9_000, true]])
    assert.deepStrictEqual(gapsSince(6_000), [
      [5_000, 6_000, false],
      [6_000, 9_000, true]
    ])
  })
})
