/** The accounts that rules name by handle: until all of them are known, a rule is incomplete. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { makeNamedAccounts } from "../../../adapters/bluesky/NamedAccounts.ts"
import { Unreachable } from "../../../adapters/http/call.ts"

const [ANN, BEN] = ["did:plc:ann", "did:plc:ben"]

/** With a service that knows these handles. */
const started = Effect.gen(function* () {
  const service = {
    handles: new Map([
      [ANN, "ann.example.com"],
      [BEN, "ben.example.com"]
    ]),
    isDown: false,
    calls: [] as Array<ReadonlyArray<string>>
  }
  const named = yield* makeNamedAccounts((actors) =>
    Effect.suspend(() => {
      service.calls.push(actors)
      if (service.isDown) return new Unreachable({ reason: "it answered with status 503" })
      return Effect.succeed(
        [...service.handles].flatMap(([did, handle]) =>
          actors.includes(handle) ? [{ did, handle, isPrivate: false }] : []
        )
      )
    })
  )
  const keep = (rule: string, ...handles: ReadonlyArray<string>) =>
    Effect.map(named.resolve(handles), ({ accounts, trouble }) => {
      named.keep(rule, new Set(handles), accounts)
      return trouble
    })
  const by = (did: string) =>
    named.handlesOf({ did, kind: "commit", commit: { rkey: "1", record: { text: "hello" } } }).map(([, one]) => one)
  const isIncomplete = (platformRuleId: string) => named.complete([{ platformRuleId }]).length === 0
  return { ...named, service, keep, by, isIncomplete }
})

describe("NamedAccounts", () => {
  it.scoped("knows the accounts of a rule until it is dropped, and asks once for each handle", () =>
    Effect.gen(function* () {
      const { service, keep, drop, by, isIncomplete, hasIncomplete } = yield* started
      assert.isUndefined(yield* keep("one", "ann.example.com"))
      assert.isUndefined(yield* keep("two", "ann.example.com", "ben.example.com"))
      assert.deepStrictEqual(service.calls, [["ann.example.com"], ["ben.example.com"]])
      assert.deepStrictEqual([by(ANN), by(BEN)], [["ann.example.com"], ["ben.example.com"]])
      assert.isFalse(hasIncomplete())
      drop(["two"])
      assert.deepStrictEqual([by(ANN), by(BEN)], [["ann.example.com"], []])
      assert.isFalse(isIncomplete("one"))
      drop(["one", "never kept"])
      assert.deepStrictEqual(by(ANN), [])
      assert.isFalse(hasIncomplete())
    })
  )

  it.scoped("says why handles could not be looked up: their rules are incomplete", () =>
    Effect.gen(function* () {
      const { service, keep, by, isIncomplete, hasIncomplete } = yield* started
      service.isDown = true
      assert.strictEqual(yield* keep("one", "ann.example.com"), "it answered with status 503")
      assert.deepStrictEqual([isIncomplete("one"), isIncomplete("two"), hasIncomplete()], [true, false, true])
      service.isDown = false
      assert.isUndefined(yield* keep("one", "ann.example.com"))
      assert.deepStrictEqual([isIncomplete("one"), hasIncomplete()], [false, false])
      assert.deepStrictEqual(by(ANN), ["ann.example.com"])
    })
  )

  it.scoped("keeps a rule incomplete until it was left out once: what it has missed is reported then", () =>
    Effect.gen(function* () {
      const { service, keep, by, isIncomplete } = yield* started
      service.isDown = true
      yield* keep("one", "ann.example.com")
      service.isDown = false
      // Another rule with the same text, or the same handle.
      yield* keep("one", "ann.example.com")
      yield* keep("two", "ann.example.com")
      assert.deepStrictEqual(by(ANN), ["ann.example.com"])
      assert.deepStrictEqual([isIncomplete("one"), isIncomplete("two")], [true, false])
      yield* keep("one", "ann.example.com")
      assert.isFalse(isIncomplete("one"))
    })
  )

  it.scoped("finds out that a handle went to another account, although the service learns it late", () =>
    Effect.gen(function* () {
      const { service, keep, by, recheck, isIncomplete } = yield* started
      yield* keep("one", "ann.example.com")
      recheck(BEN, "ann.example.com")
      yield* TestClock.adjust("15 seconds")
      assert.isFalse(isIncomplete("one"))
      service.handles.delete(ANN)
      service.handles.set(BEN, "ann.example.com")
      yield* TestClock.adjust("15 seconds")
      assert.isTrue(isIncomplete("one"))
      assert.deepStrictEqual(by(ANN), [])
      yield* keep("one", "ann.example.com")
      assert.deepStrictEqual([by(ANN), by(BEN)], [[], ["ann.example.com"]])
    })
  )

  it.scoped("looks up a handle again when its account changes, and once a day", () =>
    Effect.gen(function* () {
      for (const isTold of [true, false]) {
        const { service, keep, recheck, isIncomplete } = yield* started
        yield* keep("one", "ann.example.com")
        service.handles.set(ANN, "other.example.com")
        if (isTold) recheck(ANN, undefined)
        yield* TestClock.adjust(isTold ? "15 seconds" : "25 hours")
        assert.isTrue(isIncomplete("one"))
      }
    })
  )

  it.scoped("does not take a claim or an outage for a change", () =>
    Effect.gen(function* () {
      const { service, keep, by, recheck, isIncomplete } = yield* started
      yield* keep("one", "ann.example.com")
      recheck(BEN, "ann.example.com")
      recheck(BEN, "never.named.example.com")
      service.isDown = true
      yield* TestClock.adjust("5 minutes")
      service.isDown = false
      yield* TestClock.adjust("5 minutes")
      assert.isFalse(isIncomplete("one"))
      assert.deepStrictEqual(by(ANN), ["ann.example.com"])
      const calls = service.calls.length
      yield* TestClock.adjust("5 minutes")
      assert.lengthOf(service.calls, calls)
    })
  )
})
