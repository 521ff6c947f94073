/** `FeedStore` in memory. */
import { Effect, Layer, Option, Order } from "effect"
import { type AddedFeed, type FeedRecord, FeedStore } from "../../core/feeds/FeedStore.ts"
import { FeedLimitReached, LimitReached } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"

export const memoryFeeds: Layer.Layer<FeedStore> = Layer.sync(FeedStore, () => {
  let added: ReadonlyArray<AddedFeed> = []
  let version = 0
  const records = new Map<string, FeedRecord>()
  const of = (account: AccountId) => added.filter((feed) => feed.account === account)

  return FeedStore.of({
    add: (feed, limits) =>
      Effect.gen(function* () {
        const own = of(feed.account)
        if (own.some(({ url }) => url === feed.url)) return
        if (limits.account > 0 && own.length >= limits.account) {
          return yield* new LimitReached({ name: "feeds", limit: limits.account, used: own.length })
        }
        if (added.length >= limits.everywhere) return yield* new FeedLimitReached({ limit: limits.everywhere })
        added = [...added, feed]
        version++
      }),
    remove: (account, url) =>
      Effect.sync(() => {
        const left = added.filter((feed) => feed.account !== account || feed.url !== url)
        const isRemoved = left.length < added.length
        added = left
        version++
        return isRemoved
      }),
    list: (account, one) =>
      Effect.sync(() =>
        of(account)
          .filter(({ url }) => Option.isNone(one) || one.value === url)
          .toSorted(Order.mapInput(Order.string, ({ url }) => url))
          .map((feed) => ({ ...feed, record: Option.fromNullable(records.get(feed.url)) }))
      ),
    count: (account) => Effect.sync(() => of(account).length),
    changed: (known) => Effect.sync(() => (known === version ? Option.none() : Option.some({ version, feeds: added }))),
    records: Effect.sync(() => [...records.values()]),
    save: (changed) =>
      Effect.sync(() => {
        for (const record of changed) records.set(record.url, record)
      }),
    prune: (kept) =>
      Effect.sync(() => {
        const urls = new Set([...kept, ...added.map(({ url }) => url)])
        for (const url of records.keys()) if (!urls.has(url)) records.delete(url)
      })
  })
})
