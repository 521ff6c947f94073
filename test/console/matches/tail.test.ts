import { assert, describe, it } from "@effect/vitest"
import type { Match } from "../../../console/client.ts"
import {
  askingForOlder,
  isFull,
  MAX_KEPT,
  type MatchMessage,
  type MatchPage,
  openGapsIn,
  released,
  type Tail,
  tailOf,
  withMessages,
  withOlder
} from "../../../console/matches/tail.ts"

const idOf = (number: number): string => `match_${String(number).padStart(6, "0")}`

const match = (number: number): Match => ({
  id: idOf(number),
  rule_id: "rule_1",
  rule_version: 1,
  created_at: "2026-11-17T12:00:00.000Z",
  platform: "x",
  platform_post_id: String(number),
  payload: { data: { id: String(number), text: "a post" } }
})

const coverage: MatchPage["coverage"] = { to: "2026-11-17T12:00:00.000Z", platforms: [] }

const page = (numbers: ReadonlyArray<number>, next?: number): MatchPage => ({
  matches: numbers.map(match),
  ...(next !== undefined && { next_cursor: idOf(next) }),
  coverage
})

const matched = (number: number): MatchMessage => ({ id: idOf(number), data: { type: "match", match: match(number) } })

const redaction = (id: number, of: number): MatchMessage => ({
  id: idOf(id),
  data: {
    type: "match.redacted",
    redaction: {
      id: idOf(of),
      rule_id: "rule_1",
      platform: "x",
      platform_post_id: String(of),
      redacted: { at: "2026-11-17T12:01:00.000Z", reason: "deleted" }
    }
  }
})

const numbersOf = (matches: ReadonlyArray<Match>): ReadonlyArray<number> =>
  matches.map(({ id }) => Number(id.slice("match_".length)))

const range = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index)

const start = (): Tail => tailOf(page([3, 2, 1]), idOf(3))

describe("tail", () => {
  it("goes on after the newest match of the list", () => {
    assert.strictEqual(start().cursor, idOf(3))
  })

  it("goes on after the given cursor if the list is empty", () => {
    assert.strictEqual(tailOf(page([]), idOf(7)).cursor, idOf(7))
  })

  it("puts new matches on top, newest first", () => {
    const tail = withMessages(start(), [matched(4), matched(5)], false)
    assert.deepStrictEqual(numbersOf(tail.shown), [5, 4, 3, 2, 1])
    assert.strictEqual(tail.cursor, idOf(5))
  })

  it("shows a repeated message once, whether the match is shown or waits", () => {
    const shown = withMessages(start(), [matched(3), matched(4), matched(4)], false)
    const held = withMessages(shown, [matched(4), matched(5)], true)
    const again = withMessages(held, [matched(4), matched(5), matched(6)], true)
    assert.deepStrictEqual(numbersOf(again.shown), [4, 3, 2, 1])
    assert.deepStrictEqual(numbersOf(again.waiting), [6, 5])
  })

  it("does not change what is shown while it is held, and shows what waits when it is released", () => {
    const before = start()
    const held = withMessages(withMessages(before, [matched(4)], true), [matched(5)], true)
    assert.strictEqual(held.shown, before.shown)
    assert.deepStrictEqual(numbersOf(held.waiting), [5, 4])
    const after = released(held)
    assert.deepStrictEqual(numbersOf(after.shown), [5, 4, 3, 2, 1])
    assert.deepStrictEqual(after.waiting, [])
  })

  it("takes the content of a redacted match away, shown or waiting", () => {
    const held = withMessages(start(), [matched(4)], true)
    const tail = withMessages(held, [redaction(5, 4), redaction(6, 2)], true)
    assert.deepStrictEqual(tail.waiting[0]?.payload, {})
    assert.strictEqual(tail.waiting[0]?.redacted?.reason, "deleted")
    assert.deepStrictEqual(tail.shown[1]?.payload, {})
    assert.notDeepEqual(tail.shown[0]?.payload, {})
  })

  it("ignores the redaction of a match that it does not have, and goes on after it", () => {
    const tail = withMessages(start(), [redaction(9, 8)], false)
    assert.deepStrictEqual(numbersOf(tail.shown), [3, 2, 1])
    assert.strictEqual(tail.cursor, idOf(9))
  })

  it("adds an older page at the end", () => {
    const tail = withOlder(askingForOlder(tailOf(page([9, 8], 8), "")) as Tail, page([7, 6], 6))
    assert.deepStrictEqual(numbersOf(tail.shown), [9, 8, 7, 6])
    assert.strictEqual(tail.older, idOf(6))
    assert.isUndefined(withOlder(tail, page([5])).older)
  })

  it("redacts a match of an older page if the redaction overtook the page", () => {
    const asked = askingForOlder(tailOf(page([9, 8], 8), "")) as Tail
    const tail = withOlder(withMessages(asked, [redaction(10, 7)], false), page([7, 6]))
    assert.strictEqual(tail.shown[2]?.redacted?.reason, "deleted")
    assert.isUndefined(tail.shown[3]?.redacted)
    assert.isUndefined(tail.redactedMeanwhile)
  })

  it("leaves out matches before the wanted time, and asks for no older page then", () => {
    const tail = tailOf(page([9, 8, 7], 7), "", idOf(8))
    assert.deepStrictEqual(numbersOf(tail.shown), [9, 8])
    assert.isUndefined(tail.older)
    assert.strictEqual(tail.cursor, idOf(9))
  })

  it("goes on after the newest match of the list even if none of it is wanted", () => {
    assert.strictEqual(tailOf(page([9, 8], 8), "", idOf(20)).cursor, idOf(9))
  })

  it("keeps a limited number and drops the oldest, without a hole", () => {
    const full = tailOf(page(range(MAX_KEPT - 1, 1), 1), "")
    assert.isFalse(isFull(full))
    const tail = withMessages(full, [matched(MAX_KEPT), matched(MAX_KEPT + 1)], false)
    assert.isTrue(isFull(tail))
    assert.deepStrictEqual(numbersOf(tail.shown), range(MAX_KEPT + 1, 2))
    assert.isUndefined(tail.older)
    assert.deepStrictEqual(numbersOf(withOlder(tail, page([1])).shown), range(MAX_KEPT + 1, 2))
  })

  it("leaves no hole when more wait than it keeps", () => {
    const many = range(MAX_KEPT + 10, 4)
      .toReversed()
      .map(matched)
    const tail = released(withMessages(start(), many, true))
    assert.deepStrictEqual(numbersOf(tail.shown), range(MAX_KEPT + 10, 11))
  })

  it("shows the open gaps of the last coverage", () => {
    const gap = { from: "2026-11-17T11:00:00.000Z", cause: "outage" as const, detail: "The connection failed" }
    const closed = { ...gap, to: "2026-11-17T11:30:00.000Z", recovered: false }
    const platform = { platform: "x", more_gaps: false, suspected: [] }
    const message = (gaps: MatchPage["coverage"]["platforms"][number]["gaps"]): MatchMessage => ({
      id: idOf(3),
      data: { type: "coverage", coverage: { ...coverage, platforms: [{ ...platform, gaps }] } }
    })
    const open = withMessages(start(), [message([{ ...gap, recovered: false }, closed])], true)
    assert.deepStrictEqual(openGapsIn(open.coverage), [{ platform: "x", since: gap.from, detail: gap.detail }])
    assert.deepStrictEqual(openGapsIn(withMessages(open, [message([closed])], true).coverage), [])
  })
})
