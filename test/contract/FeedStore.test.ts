/** The contract of `FeedStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { v7 } from "uuid"
import { type FeedRecord, FeedStore } from "../../core/feeds/FeedStore.ts"
import { everyStore } from "../stores.ts"
import { at, newAccount } from "./samples.ts"

const NO_LIMIT = { account: 0, everywhere: 1_000 }

const newUrl = () => `https://example.org/${v7()}.xml`

const recordOf = (url: string, overrides: Partial<FeedRecord> = {}): FeedRecord => ({
  url,
  title: "Ünïcode \u{1f600} news",
  askedAt: at(3),
  readAt: null,
  nextAt: at(20),
  missedAt: null,
  error: "HTTP 503",
  isGone: false,
  memory: JSON.stringify({ ids: "a b" }),
  ...overrides
})

for (const [name, layer] of everyStore) {
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`FeedStore on ${name}`, (it) => {
    it.effect("add is idempotent and keeps the first time; list has the feeds of one account with their records", () =>
      Effect.gen(function* () {
        const feeds = yield* FeedStore
        const [ann, ben] = [yield* newAccount, yield* newAccount]
        const [b, a] = [`${newUrl()}?b`, `https://a.example/${v7()}`]
        yield* feeds.add({ account: ann, url: b, addedAt: at(1) }, NO_LIMIT)
        yield* feeds.add({ account: ann, url: a, addedAt: at(2) }, NO_LIMIT)
        yield* feeds.add({ account: ann, url: b, addedAt: at(9) }, NO_LIMIT)
        yield* feeds.add({ account: ben, url: b, addedAt: at(5) }, NO_LIMIT)
        yield* feeds.save([recordOf(b)])
        const { memory: _, ...shown } = recordOf(b)
        const listed = yield* feeds.list(ann, Option.none())
        assert.deepStrictEqual(
          listed.map(({ url, addedAt }) => [url, addedAt]),
          [
            [a, at(2)],
            [b, at(1)]
          ]
        )
        assert.deepStrictEqual(
          listed.map(({ record }) => Option.getOrUndefined(record)?.error),
          [undefined, shown.error]
        )
        const [only] = yield* feeds.list(ann, Option.some(b))
        const found = only === undefined ? undefined : Option.getOrUndefined(only.record)
        assert.deepInclude(found, shown)
        assert.deepStrictEqual(
          (yield* feeds.list(ben, Option.some(b))).map(({ addedAt }) => addedAt),
          [at(5)]
        )
        assert.lengthOf(yield* feeds.list(ben, Option.some(a)), 0)
        assert.deepStrictEqual([yield* feeds.count(ann), yield* feeds.count(ben)], [2, 1])
      })
    )

    it.effect("add fails at the limit of the account, and not for a feed that is there", () =>
      Effect.gen(function* () {
        const feeds = yield* FeedStore
        const [account, url] = [yield* newAccount, newUrl()]
        yield* feeds.add({ account, url, addedAt: at(1) }, { ...NO_LIMIT, account: 1 })
        yield* feeds.add({ account, url, addedAt: at(2) }, { ...NO_LIMIT, account: 1 })
        const error = yield* Effect.flip(
          feeds.add({ account, url: newUrl(), addedAt: at(3) }, { ...NO_LIMIT, account: 1 })
        )
        assert.deepInclude({ ...error }, { _tag: "LimitReached", name: "feeds", limit: 1, used: 1 })
        assert.strictEqual(yield* feeds.count(account), 1)
      })
    )

    it.effect("of concurrent adds, no more succeed than the limit allows", () =>
      Effect.gen(function* () {
        const feeds = yield* FeedStore
        const account = yield* newAccount
        const adds = Array.from({ length: 8 }, () =>
          feeds.add({ account, url: newUrl(), addedAt: at(1) }, { ...NO_LIMIT, account: 3 })
        )
        const results = yield* Effect.all(adds.map(Effect.either), { concurrency: 8 })
        assert.lengthOf(
          results.filter(({ _tag }) => _tag === "Right"),
          3
        )
      })
    )

    it.effect("changed has the whole list after a change, and none otherwise", () =>
      Effect.gen(function* () {
        const feeds = yield* FeedStore
        const [account, url] = [yield* newAccount, newUrl()]
        const { version } = Option.getOrThrow(yield* feeds.changed(-1))
        assert.isTrue(Option.isNone(yield* feeds.changed(version)))
        yield* feeds.add({ account, url, addedAt: at(1) }, NO_LIMIT)
        const after = Option.getOrThrow(yield* feeds.changed(version))
        assert.deepInclude(after.feeds, { account, url, addedAt: at(1) })
        assert.isTrue(yield* feeds.remove(account, url))
        assert.isFalse(yield* feeds.remove(account, url))
        const last = Option.getOrThrow(yield* feeds.changed(after.version))
        assert.isFalse(last.feeds.some((feed) => feed.url === url))
      })
    )

    it.effect("save replaces records, and prune deletes those that nobody reads", () =>
      Effect.gen(function* () {
        const feeds = yield* FeedStore
        const account = yield* newAccount
        const [own, kept, other] = [newUrl(), newUrl(), newUrl()]
        yield* feeds.add({ account, url: own, addedAt: at(1) }, NO_LIMIT)
        yield* feeds.save([own, kept, other].map((url) => recordOf(url)))
        const odd = recordOf(kept, { title: "a\u0000b", error: null, readAt: at(4), missedAt: at(4), isGone: true })
        yield* feeds.save([odd])
        const found = (yield* feeds.records).find(({ url }) => url === kept)
        assert.deepInclude({ ...found, title: "" }, { ...odd, title: "" })
        yield* feeds.prune([kept])
        const urls = (yield* feeds.records).map(({ url }) => url)
        assert.includeMembers(urls, [own, kept])
        assert.notInclude(urls, other)
      })
    )

    it.effect("add fails when all accounts together have as many as the server reads", () =>
      Effect.gen(function* () {
        const feeds = yield* FeedStore
        const account = yield* newAccount
        const { feeds: before } = Option.getOrThrow(yield* feeds.changed(-1))
        const limits = { account: 0, everywhere: before.length + 1 }
        yield* feeds.add({ account, url: newUrl(), addedAt: at(1) }, limits)
        const error = yield* Effect.flip(feeds.add({ account, url: newUrl(), addedAt: at(1) }, limits))
        assert.deepInclude({ ...error }, { _tag: "FeedLimitReached", limit: limits.everywhere })
      })
    )
  })
}
