/** Which feed is polled next: one of each host, a share for each account, and no more for changing the list. */
import { assert, describe, it } from "@effect/vitest"
import { type Source, Sources } from "../../../adapters/feeds/Sources.ts"
import type { AccountId } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"

const NOBODY: ReadonlySet<AccountId> = new Set()

const ADDED = Timestamp.fromMillis(0)

const feedsOf = (account: string, count: number, hostOf = (index: number) => `${account}${index}.example`) =>
  Array.from({ length: count }, (_, index) => ({
    account: account as AccountId,
    url: `https://${hostOf(index)}/${index}`,
    addedAt: ADDED
  }))

const urlsOf = (sources: ReadonlyArray<Source>) => sources.map(({ state }) => state.url)

describe("Sources", () => {
  it("take gives one feed of each host, and the next one when it is done", () => {
    const sources = new Sources(["https://a.example/1", "https://a.example/2", "https://b.example/"], new Map(), 0)
    const first = sources.take(1, NOBODY)
    assert.deepStrictEqual(urlsOf(first), ["https://a.example/1", "https://b.example/"])
    assert.lengthOf(sources.take(1, NOBODY), 0)
    for (const source of first) {
      source.state = { ...source.state, nextAt: 1_000_000 }
      sources.done(source)
    }
    assert.deepStrictEqual(urlsOf(sources.take(2, NOBODY)), ["https://a.example/2"])
    assert.strictEqual(sources.nextAt(2), 1_000_000)
  })

  it("take gives each account two polls at a time, all accounts together eight, and the operator its own", () => {
    const shared = Array.from({ length: 20 }, (_, index) => `https://o${index}.example/`)
    const sources = new Sources(shared, new Map(), 0)
    const accounts = ["a", "b", "c", "d", "e"].flatMap((account) => feedsOf(account, 10))
    sources.setAdded(accounts, new Map(), 0)
    const taken = sources.take(1, NOBODY)
    assert.lengthOf(
      taken.filter(({ isShared }) => isShared),
      8
    )
    const counts = ["a", "b", "c", "d", "e"].map(
      (account) => taken.filter(({ owners }) => owners.has(account as AccountId)).length
    )
    assert.deepStrictEqual(counts, [2, 2, 2, 2, 0])
  })

  it("take gives an account that changes its list all the time a limited number of polls", () => {
    const sources = new Sources([], new Map(), 0)
    let polls = 0
    for (let now = 1; now < 250_000; now += 1_000) {
      sources.setAdded(
        feedsOf("a", 10, (index) => `${now}-${index}.example`),
        new Map(),
        now
      )
      for (const source of sources.take(now, NOBODY)) {
        polls++
        source.state = { ...source.state, askedAt: now, nextAt: now + 900_000 }
        sources.done(source)
      }
    }
    assert.strictEqual(polls, 40)
  })
})
