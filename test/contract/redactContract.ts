/** The contract of `MatchStore.redact` and of what its readers see afterwards. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { v7 } from "uuid"
import { type Match, withoutPayload } from "../../core/matches/Match.ts"
import { MatchStore, type Redact } from "../../core/matches/MatchStore.ts"
import { type AccountId, firstMatchIdAt, fromUuid, type MatchId, type RuleId, timeOf } from "../../core/model/Ids.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { rounds } from "../stores.ts"
import { at, newAccount, newMatch, visibleRule, sent } from "./samples.ts"

export const redactContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`MatchStore.redact on ${name}`, (it) => {
    it.effect("redact empties every match of the post, of all accounts, and no other match", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const [ann, bob] = [yield* newAccount, yield* newAccount]
        const mine = [yield* visibleRule(ann), yield* visibleRule(ann)]
        const theirs = yield* visibleRule(bob)
        const post = v7()
        const hit = [...mine, theirs].map(({ id }) => newMatch(id, { platform_post_id: post }))
        const onOtherPlatform = newMatch(theirs.id, { platform_post_id: post, platform: "firehose" })
        const other = newMatch(theirs.id, { platform_post_id: `${post}x` })
        yield* store.insert([...hit, onOtherPlatform, other])
        assert.strictEqual(yield* store.redact(deleted([post])), 3)
        assert.deepStrictEqual(sent((yield* listed(ann)).toReversed()), sent(hit.slice(0, 2).map(emptied)))
        assert.deepStrictEqual(
          sent((yield* listed(bob)).toReversed()),
          sent([...hit.slice(2).map(emptied), onOtherPlatform, other])
        )
      })
    )

    it.effect("redact is idempotent, keeps the first reason, and inserting the post again changes nothing", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const match = newMatch((yield* visibleRule(account)).id)
        yield* store.insert([match])
        const start = Option.some(match.id)
        assert.strictEqual(yield* store.redact(deleted([match.platform_post_id])), 1)
        const again = { ...deleted([match.platform_post_id]), redacted: { at: at(9), reason: "operator" as const } }
        assert.strictEqual(yield* store.redact(again), 0)
        assert.strictEqual(yield* store.insert([{ ...match, id: fromUuid("match", v7()) }]), 0)
        assert.deepStrictEqual(sent(yield* listed(account)), sent([emptied(match)]))
        assert.lengthOf(yield* changes(account, start), 1)
        assert.strictEqual(yield* store.redact(deleted([v7(), ""])), 0)
        assert.strictEqual(yield* store.redact(deleted([])), 0)
      })
    )

    it.effect("redact takes at most that many, and finds the rest when it is called again", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rules = yield* Effect.forEach(Array.from({ length: 5 }), () => visibleRule(account))
        const post = v7()
        yield* store.insert(rules.map(({ id }) => newMatch(id, { platform_post_id: post })))
        const some = { ...deleted([post]), atMost: 2 }
        const taken = [yield* store.redact(some), yield* store.redact(some), yield* store.redact(some)]
        assert.deepStrictEqual([...taken, yield* store.redact(some)], [2, 2, 1, 0])
      })
    )

    it.effect("redact finds posts with very long ids and ids that the store changed", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const long = Array.from({ length: 300 }, () => v7()).join("/")
        const ids = [`${long}/a`, `${v7()}'"\\%_`]
        yield* store.insert([...ids, `${long}/b`].map((platform_post_id) => newMatch(rule.id, { platform_post_id })))
        assert.strictEqual(yield* store.redact(deleted(ids)), 2)
        const left = (yield* listed(account)).filter(({ redacted }) => redacted === undefined)
        assert.deepStrictEqual(postsOf(left), [`${long}/b`])
      })
    )

    it.effect("next has matches and redactions in one order: a reader at any cursor gets each redaction once", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = (yield* visibleRule(account)).id
        const [first, second] = [newMatch(rule), newMatch(rule)]
        yield* store.insert([first, second])
        const before = yield* store.watermark
        yield* store.redact(deleted([first.platform_post_id, second.platform_post_id]))
        const after = yield* store.watermark
        const third = { ...newMatch(rule), id: firstMatchIdAt(timeOf(after) + 1) }
        yield* store.insert([third])
        const all = yield* changes(account, Option.none())
        assert.deepStrictEqual(
          all.map(({ _tag }) => _tag),
          ["Matched", "Matched", "Redacted", "Redacted", "Matched"]
        )
        assert.deepStrictEqual(
          sent(all.map(({ match }) => match)),
          sent([...[first, second, first, second].map(emptied), third])
        )
        const ids = all.map(({ id }) => id)
        assert.deepStrictEqual(ids, [...new Set(ids)].sort())
        assert.deepStrictEqual([ids.filter((id) => id > before).length, ids.filter((id) => id > after).length], [3, 1])
        for (const [index, id] of ids.entries()) {
          assert.deepStrictEqual(yield* changes(account, Option.some(id)), all.slice(index + 1))
        }
        assert.deepStrictEqual(yield* changes(account, Option.none(), { limit: 1 }), all)
        assert.deepStrictEqual(yield* changes(account, Option.none(), { rule }), all)
        assert.deepStrictEqual(yield* store.newest, Option.fromNullable(ids.at(-1)))
      })
    )

    it.effect("next and nextForAccounts show a redaction to the account of the match only", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const [ann, bob] = [yield* newAccount, yield* newAccount]
        const match = newMatch((yield* visibleRule(ann)).id)
        yield* store.insert([match, newMatch((yield* visibleRule(bob)).id)])
        const start = yield* store.newest
        yield* store.redact(deleted([match.platform_post_id]))
        assert.lengthOf(yield* changes(ann, start), 1)
        assert.lengthOf(yield* changes(bob, start), 0)
        assert.lengthOf(yield* changes(bob, start, { rule: match.rule_id }), 0)
        const read = (accounts: ReadonlyArray<AccountId>) =>
          Effect.map(store.nextForAccounts({ accounts, after: start, limit: 10 }), ({ items }) =>
            // Not by id: the store replaces one that is out of order, after a test that stored a later match.
            items.map(({ account, change }) => [account, change._tag, change.match.platform_post_id])
          )
        assert.deepStrictEqual(yield* read([bob]), [])
        assert.deepStrictEqual(yield* read([ann, bob]), [[ann, "Redacted", match.platform_post_id]])
      })
    )

    it.effect("redact gives the bytes back, and deleting the rule or the matches deletes its redactions", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = (yield* visibleRule(account)).id
        const match = newMatch(rule, { payload: { text: "é".repeat(1_000) } })
        yield* store.insert([match])
        const start = yield* store.newest
        yield* store.redact(deleted([match.platform_post_id]))
        assert.deepStrictEqual(yield* store.usage(account), { matches: 1, bytes: 2 })
        yield* rules.remove(rule)
        assert.deepStrictEqual(yield* store.usage(account), { matches: 0, bytes: 0 })
        assert.deepStrictEqual(yield* changes(account, start), [])
      })
    )

    it.effect("a redaction outlives its match until retention has passed the redaction itself", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = (yield* visibleRule(account)).id
        const [match, later] = [newMatch(rule), newMatch(rule)]
        yield* store.insert([match])
        yield* store.redact(deleted([match.platform_post_id]))
        yield* store.insert([later])
        const trim = (before: MatchId) => store.trim({ before, keep: Option.none(), atMost: 1_000 })
        const redaction = (yield* changes(account, Option.some(match.id)))[0]
        yield* trim(redaction?.id ?? match.id)
        assert.deepStrictEqual(
          (yield* changes(account, Option.none())).map(({ _tag }) => _tag),
          ["Redacted", "Matched"]
        )
        yield* trim(firstMatchIdAt(2 ** 47))
        assert.deepStrictEqual(yield* changes(account, Option.none()), [])
      })
    )

    it.effect("redact and insert at the same time: a reader that follows misses nothing", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = (yield* visibleRule(account)).id
        const old = Array.from({ length: rounds(name, 40) }, () => newMatch(rule))
        yield* store.insert(old)
        const start = yield* store.newest
        const fresh = Array.from({ length: rounds(name, 40) }, () => newMatch(rule))
        const seen: Array<string> = []
        let cursor = start
        const read = Effect.gen(function* () {
          const { items } = yield* store.next(nextPage(account, cursor, 7))
          for (const { id, _tag, match } of items) {
            seen.push(`${_tag} ${match.platform_post_id}`)
            cursor = Option.some(id)
          }
          return items.length
        })
        yield* Effect.all(
          [
            Effect.forEach(old, ({ platform_post_id }) => store.redact(deleted([platform_post_id])), {
              concurrency: 4
            }),
            Effect.forEach(fresh, (match) => store.insert([match]), { concurrency: 4 }),
            Effect.repeatN(Effect.zipRight(read, Effect.sleep(1)), rounds(name, 60))
          ],
          { concurrency: "unbounded" }
        )
        while ((yield* read) > 0);
        const expected = [...postsOf(old).map((id) => `Redacted ${id}`), ...postsOf(fresh).map((id) => `Matched ${id}`)]
        assert.deepStrictEqual(seen.toSorted(), expected.sort())
      })
    )

    it.effect("posts walks through the posts of one platform that are not redacted, page by page", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const after = yield* store.newest
        const rules = [yield* visibleRule(yield* newAccount), yield* visibleRule(yield* newAccount)]
        const matches = Array.from({ length: 12 }, (_, i) =>
          newMatch(rules[i % 2]?.id ?? fromUuid("rule", v7()), { platform: i % 3 === 0 ? "firehose" : "x" })
        )
        yield* store.insert(matches)
        const upTo = Option.getOrElse(yield* store.newest, () => firstMatchIdAt(0))
        const gone = matches[4]?.platform_post_id ?? ""
        yield* store.redact(deleted([gone]))
        yield* store.insert([newMatch(rules[0]?.id ?? fromUuid("rule", v7()))])
        const found: Array<string> = []
        let place = after
        for (let pages = 0; ; pages++) {
          const page = yield* store.posts({ platform: "x", after: place, upTo, limit: 5 })
          found.push(...page.postIds)
          if (Option.isNone(page.last)) {
            assert.strictEqual(pages, 3)
            break
          }
          place = page.last
        }
        assert.deepStrictEqual(
          found,
          postsOf(matches.filter(({ platform, platform_post_id }) => platform === "x" && platform_post_id !== gone))
        )
      })
    )
  })

// ---- helpers ----

const redacted = { at: at(5), reason: "deleted" } as const

const deleted = (postIds: ReadonlyArray<string>): Redact => ({ platform: "x", postIds, redacted, atMost: 500 })

const emptied = (match: Match): Match => withoutPayload(match, redacted)

const postsOf = (matches: ReadonlyArray<Match>) => matches.map(({ platform_post_id }) => platform_post_id)

const listed = (account: AccountId) =>
  Effect.gen(function* () {
    const store = yield* MatchStore
    const page = { account, rules: Option.none(), platforms: PLATFORM_IDS, before: Option.none(), limit: 100 }
    return (yield* store.list(page)).items
  })

const nextPage = (account: AccountId, after: Option.Option<MatchId>, limit: number, rule?: RuleId) => ({
  account,
  rules: rule === undefined ? Option.none() : Option.some([rule]),
  platforms: PLATFORM_IDS,
  after,
  limit
})

/** All changes after an id, read page by page. */
const changes = (
  account: AccountId,
  after: Option.Option<MatchId>,
  { limit = 100, rule }: { readonly limit?: number; readonly rule?: RuleId } = {}
) =>
  Effect.gen(function* () {
    const store = yield* MatchStore
    const all = []
    let cursor = after
    for (;;) {
      const { items } = yield* store.next(nextPage(account, cursor, limit, rule))
      all.push(...items)
      const last = items.at(-1)
      if (last === undefined) return all
      cursor = Option.some(last.id)
    }
  })
