/** The contract of `MatchStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Deferred, Effect, Fiber, FiberStatus, type Layer, Option, Schedule, Stream } from "effect"
import * as fc from "fast-check"
import { v7 } from "uuid"
import type { Match } from "../../core/matches/Match.ts"
import {
  type AccountTrim,
  type Change,
  MAX_PAGE_BYTES,
  type MatchPage,
  MatchStore,
  type NextPage,
  type Page,
  type Trim,
  type Usage
} from "../../core/matches/MatchStore.ts"
import type { StoreUnavailable } from "../../core/model/Errors.ts"
import { type AccountId, firstMatchIdAt, fromUuid, type MatchId, type RuleId } from "../../core/model/Ids.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { rounds } from "../stores.ts"
import { at, newAccount, newMatch, newRule, noLimits, sent, visibleRule } from "./samples.ts"

export const matchStoreContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`MatchStore on ${name}`, (it) => {
    it.effect("insert returns the number of new matches, and list returns them unchanged, newest first", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const older = newMatch(rule.id, { payload: {}, platform_post_id: "" })
        const newer = newMatch(rule.id, {
          platform: "firehose",
          payload: { "": "Ünïcode 🐈 \\u0000 \n\t", __proto__: null, deep: [[[{ a: [] }]]], n: [0, -1.5, 1e300, 1e-7] }
        })
        assert.strictEqual(yield* store.insert([newer, older]), 2)
        assert.strictEqual(yield* store.insert([]), 0)
        assert.deepStrictEqual(sent((yield* store.list(pageOf(account))).items), sent([newer, older]))
      })
    )

    it.effect("insert skips duplicates in the store and in the same batch", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const other = yield* visibleRule(account)
        const first = newMatch(rule.id)
        const samePost = { platform_post_id: first.platform_post_id }
        assert.strictEqual(yield* store.insert([first, newMatch(rule.id, samePost)]), 1)
        const onOtherPlatform = newMatch(rule.id, { ...samePost, platform: "firehose" })
        const ofOtherRule = newMatch(other.id, samePost)
        const batch = [newMatch(rule.id, { ...samePost, payload: {} }), onOtherPlatform, ofOtherRule]
        assert.strictEqual(yield* store.insert(batch), 2)
        assert.strictEqual(yield* store.insert([first, ...batch]), 0)
        assert.deepStrictEqual(
          sent((yield* store.list(pageOf(account))).items),
          sent([ofOtherRule, onOtherPlatform, first])
        )
      })
    )

    it.effect("insert dedupes posts with very long ids", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const long = Array.from({ length: 300 }, () => v7()).join("/")
        const matches = ["a", "b"].map((end) => newMatch(rule.id, { platform_post_id: `${long}/${end}` }))
        assert.strictEqual(yield* store.insert(matches), 2)
        assert.strictEqual(yield* store.insert(matches.map((match) => ({ ...match, id: fromUuid("match", v7()) }))), 0)
        assert.deepStrictEqual(sent((yield* store.list(pageOf(account))).items), sent([...matches].reverse()))
      })
    )

    it.effect("insert skips matches of deleted rules and stores the rest", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const gone = yield* visibleRule(account)
        yield* rules.remove(gone.id)
        const kept = newMatch(rule.id)
        const batch = [newMatch(gone.id), kept, newMatch(fromUuid("rule", v7()))]
        assert.strictEqual(yield* store.insert(batch), 1)
        assert.deepStrictEqual(sent((yield* store.list(pageOf(account))).items), sent([kept]))
      })
    )

    it.effect("insert succeeds while its rules are being deleted", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const account = yield* newAccount
        const kept = yield* visibleRule(account)
        const keptMatches: Array<Match> = []
        for (let round = 0; round < 10; round++) {
          const doomed = yield* visibleRule(account)
          const batches = Array.from({ length: 4 }, () => {
            const match = newMatch(kept.id)
            keptMatches.push(match)
            return [match, ...Array.from({ length: 50 }, () => newMatch(doomed.id))]
          })
          yield* Effect.all(
            [Effect.forEach(batches, (batch) => store.insert(batch), { concurrency: 4 }), rules.remove(doomed.id)],
            {
              concurrency: "unbounded"
            }
          )
        }
        const listed = (yield* store.list({ ...pageOf(account), limit: 500 })).items
        assert.deepStrictEqual(new Set(postsOf(listed)), new Set(postsOf(keptMatches)))
      })
    )

    it.effect("concurrent inserts of the same posts store each once", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const posts = Array.from({ length: 100 }, () => v7())
        const batches = Array.from({ length: 8 }, (_, i) => {
          const batch = posts.map((platform_post_id) => newMatch(rule.id, { platform_post_id }))
          return i % 2 === 0 ? batch : batch.reverse()
        })
        const added = yield* Effect.forEach(batches, (batch) => store.insert(batch), { concurrency: "unbounded" })
        assert.strictEqual(
          added.reduce((sum, n) => sum + n, 0),
          100
        )
        const listed = (yield* store.list({ ...pageOf(account), limit: 500 })).items
        assert.deepStrictEqual(new Set(postsOf(listed)), new Set(posts))
      })
    )

    it.effect("list hides matches of other accounts and of invisible rules", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const account = yield* newAccount
        const other = yield* newAccount
        const mine = yield* visibleRule(account)
        const theirs = yield* visibleRule(other)
        const hidden = yield* visibleRule(account)
        const pending = newRule(account)
        yield* rules.reserve(pending, noLimits)
        const match = newMatch(mine.id)
        yield* store.insert([match, ...[theirs, hidden, pending].map(({ id }) => newMatch(id))])
        yield* rules.hide(account, hidden.id, at(4))
        yield* store.insert([newMatch(hidden.id)])
        assert.deepStrictEqual(sent((yield* store.list(pageOf(account))).items), sent([match]))
        for (const { id } of [theirs, hidden, pending]) {
          assert.deepStrictEqual((yield* store.list(pageOf(account, { rules: Option.some([id]) }))).items, [])
        }
        assert.strictEqual((yield* store.list(pageOf(other))).items.length, 1)
        assert.deepStrictEqual((yield* store.list(pageOf(fromUuid("acct", v7())))).items, [])
        assert.deepStrictEqual(
          (yield* store.list(pageOf(account, { rules: Option.some([fromUuid("rule", v7())]) }))).items,
          []
        )
      })
    )

    it.effect("list starts right after the cursor, also when no match has that id", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const [first, second, third] = [newMatch(rule.id), newMatch(rule.id), newMatch(rule.id)]
        yield* store.insert([first, third])
        const after = (id: MatchId) =>
          Effect.map(store.list(pageOf(account, { before: Option.some(id) })), ({ items }) => idsOf(items))
        assert.deepStrictEqual(yield* after(third.id), [first.id])
        assert.deepStrictEqual(yield* after(second.id), [first.id])
        assert.deepStrictEqual(yield* after(first.id), [])
      })
    )

    it.effect("insert assigns new ids to matches whose ids are out of order, and keeps their order", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const late = [newMatch(rule.id), newMatch(rule.id), newMatch(rule.id)]
        const first = newMatch(rule.id)
        yield* store.insert([first])
        assert.strictEqual(yield* store.insert(late), 3)
        const listed = matchesIn(yield* store.next(nextForAccounts(account)))
        assert.deepStrictEqual(postsOf(listed), postsOf([first, ...late]))
        assert.deepStrictEqual(yield* store.newest, Option.fromNullable(listed.at(-1)?.id))
        const later = newMatch(rule.id)
        yield* store.insert([later])
        assert.deepStrictEqual(yield* store.newest, Option.some(later.id), "the next id is in order again")
      })
    )

    it.effect("next returns the matches of list in reverse order, from right after the cursor", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const other = yield* visibleRule(account)
        const hidden = yield* visibleRule(account)
        const foreign = yield* visibleRule(yield* newAccount)
        const batch = Array.from({ length: 40 }, (_, i) =>
          newMatch([rule, other, hidden, foreign][i % 4]?.id ?? rule.id, { platform: i % 3 === 0 ? "firehose" : "x" })
        )
        yield* store.insert(batch)
        yield* rules.hide(account, hidden.id, at(4))
        for (const wanted of [
          {},
          { rules: Option.some([rule.id]) },
          { platforms: ["x"] as const },
          { rules: Option.some([foreign.id]) }
        ]) {
          const all = idsOf((yield* store.list(pageOf(account, wanted))).items).reverse()
          assert.deepStrictEqual(idsOf(matchesIn(yield* store.next(nextForAccounts(account, wanted)))), all)
          const seen: Array<MatchId> = []
          for (;;) {
            const after = Option.fromNullable(seen.at(-1))
            const page = idsOf(matchesIn(yield* store.next(nextForAccounts(account, { ...wanted, after, limit: 3 }))))
            if (page.length === 0) break
            seen.push(...page)
          }
          assert.deepStrictEqual(seen, all)
        }
      })
    )

    it.effect("a page ends before its payloads exceed the byte limit, and the next one continues", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const start = yield* store.newest
        const rule = yield* visibleRule(account)
        const sizes = [0.4, 0.4, 0.4, 0.01, 3, 0.01, 0.98]
        const all = sizes.map((size) =>
          // Compresses well: the limit applies to the uncompressed size.
          newMatch(rule.id, { payload: { text: "é".repeat((size * MAX_PAGE_BYTES) / 2) } })
        )
        yield* store.insert(all)
        const pages = <A>(read: (last: Option.Option<MatchId>) => Effect.Effect<Page<A>, StoreUnavailable>) =>
          Effect.gen(function* () {
            const lengths: Array<number> = []
            for (let done = 0; ; ) {
              const { items, hasMore } = yield* read(Option.fromNullable(done === 0 ? undefined : all[done - 1]?.id))
              lengths.push(items.length)
              done += items.length
              assert.strictEqual(hasMore, done < all.length)
              if (!hasMore) return lengths
            }
          })
        const next = (after: Option.Option<MatchId>) => store.next(nextForAccounts(account, { after }))
        assert.deepStrictEqual(yield* pages(next), [2, 2, 1, 2])
        const forAccounts = (after: Option.Option<MatchId>) =>
          store.nextForAccounts({ accounts: [account], after: Option.orElse(after, () => start), limit: 100 })
        assert.deepStrictEqual(yield* pages(forAccounts), [2, 2, 1, 2])
        const first = yield* store.list(pageOf(account))
        assert.deepStrictEqual([idsOf(first.items), first.hasMore], [idsOf(all).reverse().slice(0, 2), true])
        const largest = yield* store.list(pageOf(account, { before: Option.fromNullable(all[5]?.id) }))
        assert.deepStrictEqual([idsOf(largest.items), largest.hasMore], [idsOf(all.slice(4, 5)), true])
      })
    )

    it.effect("nextForAccounts returns the matches of the given accounts in id order, with their account", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const [ann, bob, eve] = [yield* newAccount, yield* newAccount, yield* newAccount]
        const start = yield* store.newest
        const rules = [yield* visibleRule(ann), yield* visibleRule(bob), yield* visibleRule(eve)]
        const batch = Array.from({ length: 9 }, (_, i) => newMatch(rules[i % 3]?.id ?? fromUuid("rule", v7())))
        yield* store.insert(batch)
        const owners = new Map(rules.map(({ id, accountId }) => [id, accountId]))
        const expected = batch
          .map((match) => [owners.get(match.rule_id), ...sent([match])])
          .filter(([account]) => account !== eve)
        const read = (accounts: ReadonlyArray<AccountId>, after: Option.Option<MatchId>, limit: number) =>
          Effect.map(store.nextForAccounts({ accounts, after, limit }), ({ items, hasMore }) => ({
            found: items.map(({ account, change }) => [account, ...sent([change.match])]),
            hasMore
          }))
        assert.deepStrictEqual(yield* read([ann, bob], start, 100), { found: expected, hasMore: false })
        const second = Option.fromNullable(batch[1]?.id)
        assert.deepStrictEqual(yield* read([ann, bob], second, 2), { found: expected.slice(2, 4), hasMore: true })
        assert.deepStrictEqual(yield* read([], start, 100), { found: [], hasMore: false })
      })
    )

    it.effect("next returns every match once while many insert at the same time", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const isDone = yield* Deferred.make<void>()
        const seen: Array<Match> = []
        const readPage = Effect.gen(function* () {
          const after = Option.fromNullable(seen.at(-1)?.id)
          const found = matchesIn(yield* store.next(nextForAccounts(account, { after, limit: 50 })))
          seen.push(...found)
          return found.length
        })
        const reading = Effect.gen(function* () {
          while (!(yield* Deferred.isDone(isDone))) yield* Effect.zipLeft(readPage, Effect.sleep(1))
          while ((yield* readPage) > 0);
        })
        const batchCount = rounds(name, 160)
        const posts = Array.from({ length: batchCount * 3 }, () => v7())
        const storeSome = (mine: ReadonlyArray<string>) =>
          Effect.suspend(() => {
            // The ids are older than the insert, as in a slow process.
            const batch = mine.map((platform_post_id) => newMatch(rule.id, { platform_post_id }))
            return Effect.zipRight(Effect.sleep(Math.random() * 5), store.insert(batch))
          })
        const batches = Array.from({ length: batchCount }, (_, i) => posts.slice(i * 3, i * 3 + 3))
        const storing = Effect.forEach(batches, storeSome, { concurrency: 8, discard: true })
        yield* Effect.all([Effect.zipRight(storing, Deferred.succeed(isDone, undefined)), reading], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(postsOf(seen).sort(), posts.sort())
      })
    )

    it.effect("mark returns an unused id after all stored matches and before all later ones", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const ids: Array<MatchId> = []
        for (let i = 0; i < 20; i++) {
          const matches = [newMatch(rule.id), newMatch(rule.id)]
          // Ids from before the mark, inserted after it.
          const mark = yield* store.watermark
          yield* store.insert(matches)
          const [second, first] = idsOf((yield* store.list(pageOf(account, { limit: 2 }))).items)
          assert(first !== undefined && second !== undefined)
          ids.push(mark, first, second)
        }
        assert.deepStrictEqual(ids.toSorted(), ids)
        assert.strictEqual(new Set(ids).size, 60)
      })
    )

    it.effect("changes emits when matches are stored", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rule = yield* visibleRule(yield* newAccount)
        const change = yield* Effect.fork(Stream.runHead(store.changes))
        yield* Effect.repeat(
          Effect.suspend(() => store.insert([newMatch(rule.id)])),
          {
            schedule: Schedule.spaced("10 millis"),
            until: () => Effect.map(change.status, FiberStatus.isDone)
          }
        )
        assert.isTrue(Option.isSome(yield* Fiber.join(change)))
      })
    )

    it.effect("list agrees with a model page by page, without gap or overlap, while matches are inserted", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const other = yield* newAccount
        const mine = [yield* visibleRule(account), yield* visibleRule(account)]
        const theirs = yield* visibleRule(other)
        const rules = [...mine, theirs].map(({ id }) => id)
        const model = new Map<string, Match>()

        const insert = (seeds: ReadonlyArray<Seed>) =>
          Effect.gen(function* () {
            const batch = seeds.map(({ rule, platform, post }) =>
              newMatch(rules[rule] ?? theirs.id, { platform, platform_post_id: String(post) })
            )
            let expected = 0
            for (const match of batch) {
              const key = JSON.stringify([match.rule_id, match.platform, match.platform_post_id])
              if (model.has(key)) continue
              model.set(key, match)
              expected++
            }
            assert.strictEqual(yield* store.insert(batch), expected)
          })

        const run = ({ batches, between, selected, platforms, limit }: Scenario) =>
          Effect.gen(function* () {
            for (const batch of batches) yield* insert(batch)
            const wanted = {
              rules: Option.map(Option.fromNullable(selected), (all) => all.map((index) => rules[index] ?? theirs.id)),
              platforms
            }
            const expected = idsOf(expectedOf(model, new Set(mine.map(({ id }) => id)), wanted))
            const seen: Array<MatchId> = []
            let before = Option.none<MatchId>()
            for (let page = 0; ; page++) {
              const { items, hasMore } = yield* store.list({ account, ...wanted, before, limit })
              seen.push(...idsOf(items))
              assert.strictEqual(hasMore, seen.length < expected.length)
              if (!hasMore) break
              before = Option.fromNullable(items.at(-1)?.id)
              // Newer than all pages so far: they must not shift the next pages.
              const newer = between[page]
              if (newer !== undefined) yield* insert(newer)
            }
            assert.deepStrictEqual(seen, expected)
          })

        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(scenario, (input) => Effect.runPromise(run(input))),
            { numRuns: rounds(name, 40) }
          )
        )
      })
    )
  })

/** A suite of its own, because trim affects the whole store. */
export const trimContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`MatchStore.trim on ${name}`, (it) => {
    it.effect("floor and oldest are none in a new store, and trim deletes nothing", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        assert.strictEqual(yield* store.trim(everything), 0)
        const account = yield* newAccount
        assert.deepStrictEqual([yield* store.floor(account), yield* store.oldest], [Option.none(), Option.none()])
        assert.deepStrictEqual(yield* store.usage(account), { matches: 0, bytes: 0 })
        assert.strictEqual((yield* store.usages).size, 0)
      })
    )

    it.effect("trim deletes the oldest matches before an id, up to the limit, and sets the floor to the last one", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const { account, ids } = yield* filledWith(10)
        const trim = (atMost: number) => store.trim({ before: nth(ids, 7), keep: Option.none(), atMost })
        assert.deepStrictEqual(yield* store.oldest, Option.some(nth(ids, 0)))
        assert.strictEqual(yield* trim(5), 5)
        assert.deepStrictEqual(idsOf((yield* store.list(pageOf(account))).items), ids.slice(5).reverse())
        assert.deepStrictEqual(yield* store.floor(account), Option.some(nth(ids, 4)))
        assert.deepStrictEqual(yield* store.oldest, Option.some(nth(ids, 5)))
        assert.deepStrictEqual([yield* trim(5), yield* trim(5)], [2, 0])
        assert.deepStrictEqual(idsOf((yield* store.list(pageOf(account))).items), ids.slice(7).reverse())
        assert.deepStrictEqual(yield* store.floor(account), Option.some(nth(ids, 6)), "the last deleted match")
      })
    )

    it.effect("trim keeps the given number of matches", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const { account, ids } = yield* filledWith(10)
        const keep = (keep: number, before = nth(ids, 9)) =>
          store.trim({ before, keep: Option.some(keep), atMost: 100 })
        assert.deepStrictEqual([yield* keep(11), yield* keep(10)], [0, 0])
        assert.deepStrictEqual([yield* keep(8), yield* keep(8)], [2, 0])
        assert.deepStrictEqual(idsOf((yield* store.list(pageOf(account))).items), ids.slice(2).reverse())
        assert.strictEqual(yield* keep(0, nth(ids, 4)), 2, "only matches before the id")
        assert.deepStrictEqual(idsOf((yield* store.list(pageOf(account))).items), ids.slice(4).reverse())
      })
    )

    it.effect("trim does not count duplicates and matches deleted with their rule", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const { account, ids, rule } = yield* filledWith(5)
        const doomed = yield* visibleRule(account)
        const batch = Array.from({ length: 20 }, () => newMatch(doomed.id))
        yield* store.insert(batch)
        yield* store.insert(batch)
        yield* rules.remove(doomed.id)
        const [again] = (yield* store.list(pageOf(account))).items
        yield* store.insert([newMatch(rule, { platform_post_id: again?.platform_post_id ?? "" })])
        assert.strictEqual(yield* store.trim({ ...everything, keep: Option.some(5) }), 0)
        assert.strictEqual(yield* store.trim({ ...everything, keep: Option.some(4) }), 1)
        assert.deepStrictEqual(idsOf((yield* store.list(pageOf(account))).items), ids.slice(1).reverse())
      })
    )

    it.effect("usage counts what is stored of an account, without duplicates and deleted matches", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const { account, rule } = yield* filledWith(4)
        const { bytes } = yield* store.usage(account)
        assert.isAbove(bytes, 0)
        const doomed = yield* visibleRule(account)
        const batch = [newMatch(rule), newMatch(doomed.id), newMatch(doomed.id)]
        yield* store.insert(batch)
        yield* store.insert(batch)
        assert.strictEqual((yield* store.usage(account)).matches, 7)
        yield* rules.remove(doomed.id)
        assert.strictEqual((yield* store.usage(account)).matches, 5)
        yield* store.insert([newMatch(rule, { payload: { text: "y".repeat(100_000) } })])
        const used = yield* store.usage(account)
        assert.isTrue(used.bytes > 100_000 && used.bytes < 101_000 + 2 * bytes, `${used.bytes} bytes`)
        assert.deepStrictEqual(yield* store.usages, new Map([[account, used]]))
        yield* store.trim(everything)
        assert.deepStrictEqual(yield* store.usage(account), { matches: 0, bytes: 0 })
      })
    )

    it.effect("trimAccount deletes the oldest matches of one account over its limit, and raises its floor only", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const { account, rule, ids } = yield* filledWith(6)
        const other = yield* newAccount
        const foreignRule = (yield* visibleRule(other)).id
        const foreign = Array.from({ length: 6 }, () => newMatch(foreignRule))
        yield* store.insert(foreign)
        const young = newMatch(rule, { platform: "firehose" })
        yield* store.insert([young])
        const all = [...ids, young.id]
        const trim = (limits: Usage, options: Partial<AccountTrim> = {}) =>
          store.trimAccount({
            account,
            platforms: PLATFORM_IDS,
            before: everything.before,
            limits,
            atMost: 100,
            ...options
          })
        const left = (count: number) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(idsOf((yield* store.list(pageOf(account))).items), all.slice(-count).reverse())
            const after = nextForAccounts(account, { rules: Option.some([rule]) })
            assert.deepStrictEqual(idsOf(matchesIn(yield* store.next(after))), all.slice(-count))
            assert.deepStrictEqual(yield* store.floor(account), Option.some(nth(all, 6 - count)))
          })
        const before = yield* store.floor(other)
        assert.deepStrictEqual([yield* trim({ matches: 0, bytes: 0 }), yield* trim({ matches: 7, bytes: 0 })], [0, 0])
        assert.strictEqual(yield* trim({ matches: 1, bytes: 0 }, { atMost: 2 }), 2)
        yield* left(5)
        assert.strictEqual(yield* trim({ matches: 1, bytes: 0 }, { before: nth(ids, 3) }), 1)
        yield* left(4)
        const { bytes } = yield* store.usage(account)
        assert.strictEqual(yield* trim({ matches: 0, bytes }), 0)
        assert.strictEqual(yield* trim({ matches: 100, bytes: bytes - 1 }), 1)
        yield* left(3)
        assert.strictEqual(yield* trim({ matches: 1, bytes: 1_000_000 }), 2)
        yield* left(1)
        assert.deepStrictEqual(idsOf((yield* store.list(pageOf(other))).items), idsOf(foreign).reverse())
        assert.deepStrictEqual(yield* store.floor(other), before)
      })
    )

    it.effect("concurrent trims never leave fewer than the number to keep", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const { account, ids } = yield* filledWith(400)
        const trims = Effect.repeat(store.trim({ ...everything, keep: Option.some(100), atMost: 7 }), {
          times: rounds(name, 60)
        })
        yield* Effect.all(
          Array.from({ length: 4 }, () => trims),
          { concurrency: "unbounded" }
        )
        // A trim that waited for another one may have deleted nothing.
        yield* store.trim({ ...everything, keep: Option.some(100) })
        assert.deepStrictEqual(
          idsOf((yield* store.list(pageOf(account, { limit: 500 }))).items),
          ids.slice(-100).reverse()
        )
        assert.deepStrictEqual(yield* store.floor(account), Option.some(nth(ids, 299)))
      })
    )

    it.effect(
      "list loses and repeats no match above the floor during concurrent trims, inserts and rule deletions",
      () =>
        Effect.gen(function* () {
          const store = yield* MatchStore
          const rules = yield* RuleStore
          const { account, ids, rule } = yield* filledWith(300)
          const inserted = [...ids]
          const inserting = Effect.gen(function* () {
            for (let round = 0; round < rounds(name, 30); round++) {
              const doomed = yield* visibleRule(account)
              const batch = Array.from({ length: 10 }, () => newMatch(rule))
              inserted.push(...idsOf(batch))
              yield* store.insert([newMatch(doomed.id), ...batch])
              yield* rules.remove(doomed.id)
            }
          })
          const trimming = Effect.repeat(store.trim({ ...everything, keep: Option.some(100), atMost: 11 }), {
            times: rounds(name, 60)
          })
          const listing = Effect.repeat(readPages(account, rule, inserted), { times: rounds(name, 15) })
          yield* Effect.all([inserting, trimming, trimming, listing, listing], { concurrency: "unbounded" })
          // Replaces a match that trim may have deleted in favour of one whose rule was removed right after.
          const last = newMatch(rule)
          yield* store.insert([last])
          yield* store.trim({ ...everything, keep: Option.some(100) })
          const left = idsOf((yield* store.list(pageOf(account, { limit: 500 }))).items)
          assert.deepStrictEqual(left, [...inserted.slice(-99), last.id].reverse())
        })
    )
  })

// ---- helpers ----

const everything: Trim = { before: firstMatchIdAt(2 ** 47), keep: Option.none(), atMost: 10_000 }

const nth = (ids: ReadonlyArray<MatchId>, n: number): MatchId => {
  const id = ids[n]
  assert(id !== undefined)
  return id
}

/** Empties the store and adds matches of one rule. Ids are in order. */
const filledWith = (count: number) =>
  Effect.gen(function* () {
    const store = yield* MatchStore
    yield* store.trim(everything)
    const account = yield* newAccount
    const rule = (yield* visibleRule(account)).id
    const matches = Array.from({ length: count }, () => newMatch(rule))
    yield* store.insert(matches)
    return { account, rule, ids: idsOf(matches) }
  })

/** Reads page by page: every page has exactly the inserted matches, unless the cursor is below the floor. */
const readPages = (account: AccountId, rule: RuleId, inserted: ReadonlyArray<MatchId>) =>
  Effect.gen(function* () {
    const store = yield* MatchStore
    let before = Option.none<MatchId>()
    for (;;) {
      const limit = 13
      const page = idsOf((yield* store.list(pageOf(account, { rules: Option.some([rule]), before, limit }))).items)
      const floor = yield* store.floor(account)
      if (Option.exists(before, (id) => Option.exists(floor, (floor) => id <= floor))) return
      const [first, last] = [page[0], page.at(-1)]
      if (first === undefined || last === undefined) return
      // Matches newer than the first page may be inserted meanwhile.
      const end = Option.getOrElse(before, () => firstMatchIdAt(2 ** 47))
      const inRange = inserted.filter((id) => id >= last && id < end)
      const expected = Option.isNone(before) ? inRange.filter((id) => id <= first) : inRange
      assert.deepStrictEqual(page, expected.reverse())
      if (page.length < limit) {
        const missing = inserted.filter((id) => id < last && !Option.exists(floor, (floor) => id <= floor))
        assert.deepStrictEqual(missing, [], "the last page ends at the floor")
        return
      }
      before = Option.some(last)
    }
  })

const pageOf = (account: AccountId, overrides: Partial<MatchPage> = {}): MatchPage => ({
  account,
  rules: Option.none(),
  platforms: PLATFORM_IDS,
  before: Option.none(),
  limit: 100,
  ...overrides
})

const nextForAccounts = (account: AccountId, overrides: Partial<NextPage> = {}): NextPage => ({
  account,
  rules: Option.none(),
  platforms: PLATFORM_IDS,
  after: Option.none(),
  limit: 100,
  ...overrides
})

const matchesIn = ({ items }: Page<Change>) => items.map(({ match }) => match)

const postsOf = (matches: ReadonlyArray<Match>) => matches.map(({ platform_post_id }) => platform_post_id)

const idsOf = (matches: ReadonlyArray<Match>): Array<MatchId> => matches.map(({ id }) => id)

const newestFirst = (matches: ReadonlyArray<Match>) => [...matches].sort((a, b) => (a.id < b.id ? 1 : -1))

const expectedOf = (
  model: ReadonlyMap<string, Match>,
  owned: ReadonlySet<RuleId>,
  wanted: Pick<MatchPage, "rules" | "platforms">
) =>
  newestFirst(
    [...model.values()].filter(
      (match) =>
        owned.has(match.rule_id) &&
        !Option.exists(wanted.rules, (rules) => !rules.includes(match.rule_id)) &&
        wanted.platforms.includes(match.platform)
    )
  )

const seed = fc.record({
  rule: fc.nat({ max: 2 }),
  platform: fc.constantFrom(...PLATFORM_IDS),
  post: fc.nat({ max: 200 })
})
type Seed = typeof seed extends fc.Arbitrary<infer A> ? A : never

const scenario = fc.record({
  batches: fc.array(fc.array(seed, { maxLength: 20 }), { maxLength: 3 }),
  between: fc.array(fc.array(seed, { maxLength: 5 }), { maxLength: 3 }),
  selected: fc.option(fc.uniqueArray(fc.nat({ max: 2 }), { minLength: 1 })),
  platforms: fc.constantFrom(PLATFORM_IDS, ...PLATFORM_IDS.map((platform) => [platform])),
  limit: fc.integer({ min: 1, max: 30 })
})
type Scenario = typeof scenario extends fc.Arbitrary<infer A> ? A : never
