/** Matches: list and wait, filtered by account, rule and platform. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Equal, Fiber, Layer, Option, TestClock } from "effect"
import * as fc from "fast-check"
import { LiveMatches } from "../../../core/matches/LiveMatches.ts"
import { Matches } from "../../../core/matches/Matches.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { CursorExpired } from "../../../core/model/Errors.ts"
import { type AccountId, firstMatchIdAt, fromUuid, Ids, type MatchId, type RuleId } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import type { PlatformId } from "../../../fixtures/languages.ts"
import { newRule, noLimits } from "../../contract/samples.ts"
import { idsOnly } from "../../platforms.ts"
import { quotas } from "../../quotas.ts"
import { memoryMatches } from "../../stores/memoryMatches.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { memoryStreams } from "../../stores/memoryStreams.ts"
import { Payload } from "../../../core/matches/Payload.ts"

const layer = Matches.layer.pipe(
  Layer.provideMerge(LiveMatches.layer),
  Layer.provideMerge(quotas()),
  Layer.provideMerge(idsOnly),
  Layer.provideMerge(Layer.provideMerge(memoryMatches, memoryStreams)),
  Layer.provideMerge(memoryRules),
  Layer.provideMerge(Layer.provideMerge(Ids.layer, Entropy.layerCounting))
)

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const bob = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")

const addRule = (accountId: AccountId) =>
  Effect.flatMap(
    Effect.flatMap(Ids, (ids) => ids.rule),
    (id) => addRuleAs(id, accountId)
  )

const addRuleAs = (id: RuleId, accountId: AccountId) =>
  Effect.gen(function* () {
    const store = yield* RuleStore
    const createdAt = yield* Timestamp.now
    const filters = [{ platform: "x", text: "word" }] as const
    yield* store.reserve(newRule(accountId, { id, createdAt, filters }), noLimits)
    const registered = { platformRuleId: "1", translatedValue: "word" }
    yield* store.activate(id, new Map([["x", registered]]), createdAt)
    return id
  })

const addMatch = (rule_id: RuleId, post: string, platform: PlatformId = "x") =>
  Effect.gen(function* () {
    const store = yield* MatchStore
    const [id] = yield* (yield* Ids).matches(1)
    assert(id !== undefined)
    const created_at = yield* Timestamp.now
    yield* store.insert([
      { id, rule_id, rule_version: 1, created_at, platform, platform_post_id: post, payload: Payload.of({}) }
    ])
  })

const SHORTLY = { timeout_seconds: 10, limit: 20 }

/** All posts of all pages. */
const readAll = (account: AccountId, query: { readonly rule_id?: string; readonly limit: number }) =>
  Effect.gen(function* () {
    const matches = yield* Matches
    const pages: Array<ReadonlyArray<string>> = []
    let cursor: Option.Option<MatchId> = Option.none()
    do {
      const page = yield* matches.list(account, {
        ...query,
        ...(Option.isSome(cursor) ? { cursor: cursor.value } : {})
      })
      pages.push(page.matches.map(({ platform_post_id }) => platform_post_id))
      cursor = Option.fromNullable(page.next_cursor)
    } while (Option.isSome(cursor))
    return pages
  })

describe("Matches", () => {
  it.effect("list pages newest first, without a gap or repeat, for any count and limit", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.nat(30), fc.integer({ min: 1, max: 12 }), async (count, limit) => {
          const posts = Array.from({ length: count }, (_, index) => String(index))
          const read = Effect.gen(function* () {
            const rule = yield* addRule(ann)
            for (const post of posts) yield* addMatch(rule, post)
            return yield* readAll(ann, { rule_id: rule, limit })
          })
          const pages = await Effect.runPromise(Effect.provide(read, layer))
          assert.deepStrictEqual(pages.flat(), posts.toReversed())
          assert.strictEqual(pages.length, Math.max(1, Math.ceil(count / limit)), "no unneeded empty page")
        }),
        { numRuns: 30 }
      )
    )
  )

  it.effect("list without a rule returns matches of all rules of the account only", () =>
    Effect.gen(function* () {
      const [one, two, foreign] = [yield* addRule(ann), yield* addRule(ann), yield* addRule(bob)]
      for (const [rule, post] of [
        [one, "1"],
        [two, "2"],
        [foreign, "3"],
        [one, "4"]
      ] as const) {
        yield* addMatch(rule, post)
      }
      assert.deepStrictEqual(yield* readAll(ann, { limit: 10 }), [["4", "2", "1"]])
      assert.deepStrictEqual(yield* readAll(bob, { limit: 10 }), [["3"]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("list filters by platform", () =>
    Effect.gen(function* () {
      const matches = yield* Matches
      const rule = yield* addRule(ann)
      yield* addMatch(rule, "1", "x")
      yield* addMatch(rule, "2", "firehose")
      const found = yield* matches.list(ann, { platform: "firehose", limit: 10 })
      assert.deepStrictEqual(
        found.matches.map(({ platform_post_id }) => platform_post_id),
        ["2"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("list fails with CursorExpired if later pages are deleted, even during the read", () =>
    Effect.gen(function* () {
      const store = yield* MatchStore
      const rule = yield* addRule(ann)
      for (const post of ["1", "2", "3"]) yield* addMatch(rule, post)
      const [newest] = (yield* (yield* Matches).list(ann, { limit: 1 })).matches
      assert(newest !== undefined)
      const trim = store.trim({ before: firstMatchIdAt(2 ** 47), keep: Option.none(), atMost: 3 })
      const trimmedInBetween = MatchStore.of({
        ...store,
        list: (page) => Effect.zipRight(trim, store.list(page))
      })
      for (const layer of [trimmedInBetween, store]) {
        const error = yield* Matches.pipe(
          Effect.flatMap((matches) => matches.list(ann, { cursor: newest.id, limit: 10 })),
          Effect.flip,
          Effect.provide(Layer.provide(Matches.layer, Layer.succeed(MatchStore, layer)))
        )
        assert.isTrue(Equal.equals(error, new CursorExpired({ floor: Timestamp.fromDate(new Date(0)) })))
      }
      assert.deepStrictEqual(yield* readAll(ann, { limit: 10 }), [[]])
    }).pipe(Effect.provide(layer))
  )

  it.effect("list returns kept_since only if matches of its period were deleted", () =>
    Effect.gen(function* () {
      const matches = yield* Matches
      const keptSince = (query: { readonly rule_id?: string; readonly limit: number }) =>
        Effect.map(matches.list(ann, query), ({ coverage }) => coverage.kept_since)
      const store = yield* MatchStore
      const rule_id = yield* addRule(ann)
      for (const at of [60_000, 120_000, 180_000]) {
        const created_at = Timestamp.fromMillis(at)
        const match = {
          rule_id,
          rule_version: 1,
          created_at,
          platform: "x",
          platform_post_id: String(at),
          payload: Payload.of({})
        } as const
        yield* store.insert([{ ...match, id: firstMatchIdAt(at) }])
      }
      assert.isUndefined(yield* keptSince({ limit: 10 }))
      yield* store.trim({ before: firstMatchIdAt(60_001), keep: Option.none(), atMost: 10 })
      const deleted = Timestamp.fromMillis(60_000)
      assert.strictEqual(yield* keptSince({ limit: 10 }), deleted)
      assert.strictEqual(yield* keptSince({ rule_id, limit: 10 }), deleted)
      assert.isUndefined(yield* keptSince({ limit: 1 }), "a page that ends above the floor")
      const later = yield* addRuleAs(fromUuid("rule", "00000001-d4c0-7000-8000-00000000000c"), ann)
      assert.isUndefined(yield* keptSince({ rule_id: later, limit: 10 }), "a rule created later")
    }).pipe(Effect.provide(layer))
  )

  it.effect("list fails with RuleNotFound for a foreign, an unknown and a malformed rule", () =>
    Effect.gen(function* () {
      const matches = yield* Matches
      const foreign = yield* addRule(bob)
      for (const rule_id of [foreign, fromUuid("rule", "01890000-0000-7000-8000-00000000ffff"), "nonsense", ""]) {
        const error = yield* Effect.flip(matches.list(ann, { rule_id, limit: 10 }))
        assert.strictEqual(error._tag, "RuleNotFound")
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("wait returns stored matches after the cursor at once, oldest first, without a gap or repeat", () =>
    Effect.gen(function* () {
      const matches = yield* Matches
      const rule = yield* addRule(ann)
      const posts = Array.from({ length: 257 }, (_, index) => String(index))
      for (const post of posts) yield* addMatch(rule, post)
      const seen: Array<string> = []
      let answer = yield* matches.wait(ann, { cursor: firstMatchIdAt(0), ...SHORTLY, limit: 100 })
      while (answer.matches.length > 0 && seen.length < 1_000) {
        assert.deepStrictEqual([answer.timed_out, answer.cursor], [false, answer.matches.at(-1)?.id])
        seen.push(...answer.matches.map(({ platform_post_id }) => platform_post_id))
        if (seen.length === posts.length) break
        answer = yield* matches.wait(ann, { cursor: answer.cursor, ...SHORTLY, limit: 50 })
      }
      assert.deepStrictEqual(seen, posts)
    }).pipe(Effect.provide(layer))
  )

  it.effect("wait returns when a match is stored, and ignores other accounts and platforms", () =>
    Effect.gen(function* () {
      const matches = yield* Matches
      const [own, foreign] = [yield* addRule(ann), yield* addRule(bob)]
      yield* addMatch(own, "before")
      const waiting = yield* Effect.fork(matches.wait(ann, { platform: "x", ...SHORTLY }))
      yield* TestClock.adjust("1 seconds")
      yield* addMatch(foreign, "foreign")
      yield* addMatch(own, "elsewhere", "firehose")
      yield* addMatch(own, "wanted")
      const answer = yield* Fiber.join(waiting)
      assert.deepStrictEqual(
        [answer.matches.map(({ platform_post_id }) => platform_post_id), answer.timed_out],
        [["wanted"], false]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("wait times out with a cursor that misses nothing, even in an empty store", () =>
    Effect.gen(function* () {
      const matches = yield* Matches
      const rule = yield* addRule(ann)
      const quiet = yield* Effect.fork(matches.wait(ann, { rule_id: rule, ...SHORTLY }))
      yield* TestClock.adjust("9 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(quiet)), "it waits for the whole timeout")
      yield* TestClock.adjust("1 seconds")
      const { cursor, coverage, ...answer } = yield* Fiber.join(quiet)
      assert.deepStrictEqual(
        [coverage.from, coverage.to, coverage.platforms.map(({ platform }) => platform)],
        [Timestamp.fromMillis(0), Timestamp.fromMillis(10_000), ["x"]]
      )
      assert.deepStrictEqual(answer, { matches: [], timed_out: true })
      yield* addMatch(rule, "in between")
      const next = yield* matches.wait(ann, { rule_id: rule, cursor, ...SHORTLY })
      assert.deepStrictEqual(
        next.matches.map(({ platform_post_id }) => platform_post_id),
        ["in between"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("wait advances the cursor past matches of other accounts, so that it does not expire", () =>
    Effect.gen(function* () {
      const [own, foreign] = [yield* addRule(ann), yield* addRule(bob)]
      const start = firstMatchIdAt(0)
      const waiting = yield* Effect.fork(
        (yield* Matches).wait(ann, { rule_id: own, cursor: start, timeout_seconds: 55, limit: 1 })
      )
      yield* TestClock.adjust("1 seconds")
      yield* addMatch(foreign, "foreign")
      yield* TestClock.adjust("54 seconds")
      const { cursor, timed_out } = yield* Fiber.join(waiting)
      const [theirs] = (yield* (yield* Matches).list(bob, { limit: 1 })).matches
      assert.isTrue(timed_out)
      assert.isTrue(theirs !== undefined && cursor > theirs.id)
    }).pipe(Effect.provide(layer))
  )

  it.effect("wait fails with RuleNotFound for a foreign, an unknown and a malformed rule", () =>
    Effect.gen(function* () {
      const matches = yield* Matches
      for (const rule_id of [yield* addRule(bob), fromUuid("rule", "01890000-0000-7000-8000-00000000ffff"), "no"]) {
        const error = yield* Effect.flip(matches.wait(ann, { rule_id, ...SHORTLY }))
        assert.strictEqual(error._tag, "RuleNotFound")
      }
    }).pipe(Effect.provide(layer))
  )
})
