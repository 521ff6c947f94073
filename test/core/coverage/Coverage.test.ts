/** The ledger of a stream, signal by signal: it never says more than what was watched. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { afterSignal, aliveAt, type Ledger, reopened } from "../../../core/coverage/Coverage.ts"

const watched: Ledger = { watchedSince: Option.some(1_000), watchedUntil: 5_000, blind: Option.none() }
const outage = { since: 5_000, cause: "outage", detail: "It is down" } as const
const blind: Ledger = { ...watched, blind: Option.some(outage) }

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
  it("afterSignal moves on to when an event came, no further and never back", () => {
    assert.strictEqual(afterSignal(watched, eventAt(6_000)).ledger.watchedUntil, 6_000)
    assert.strictEqual(afterSignal(watched, eventAt(4_000)).ledger.watchedUntil, 5_000)
  })

  it("aliveAt moves nothing while the platform is not watched", () => {
    assert.deepStrictEqual(aliveAt(blind, 9_000), blind)
    assert.strictEqual(aliveAt(watched, 9_000).watchedUntil, 9_000)
  })

  it("reopened begins a gap where the ledger ends, and leaves one that is open its cause", () => {
    assert.deepInclude(Option.getOrThrow(reopened(watched).blind), { since: 5_000, cause: "process_down" })
    assert.deepStrictEqual(reopened(blind), blind)
  })

  it("afterSignal ends one gap and begins another where the cause changes", () => {
    const { ledger, gaps } = afterSignal(blind, { _tag: "Blind", at: 7_000, cause: "credit", detail: "Pay" })
    assert.deepStrictEqual(gaps, [
      { from: 5_000, to: 7_000, cause: "outage", detail: "It is down", isRecovered: false }
    ])
    assert.deepStrictEqual(Option.getOrNull(ledger.blind), { since: 7_000, cause: "credit", detail: "Pay" })
  })

  it("afterSignal tells apart what of a gap is made up for and what is not", () => {
    const gapsSince = (since: number) =>
      afterSignal(blind, { _tag: "Watching", at: 9_000, since }).gaps.map(({ from, to, isRecovered }) => [
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
