/** The use cases of the feeds that accounts add. They exist only while the platform of feeds is on. */
import { Context, Effect, Layer, Option } from "effect"
import {
  FeedNotFound,
  type FeedLimitReached,
  InvalidArgument,
  type LimitReached,
  type StoreUnavailable
} from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { MAX_URL_LENGTH } from "../model/webUrl.ts"
import { Quotas } from "../quotas/Quotas.ts"
import type { Feed, FeedDraft } from "./Feed.ts"
import { FeedStore, type ListedFeed } from "./FeedStore.ts"

/** Which addresses the reader of feeds may call. */
export class FeedAddresses extends Context.Reference<FeedAddresses>()("core/FeedAddresses", {
  defaultValue: () => ({
    /** Why an address is refused, whatever its host answers. Checks without network access. */
    refusal: (_url: string): Option.Option<string> => Option.some("this server reads no feeds")
  })
}) {}

export class Feeds extends Context.Tag("core/Feeds")<
  Feeds,
  {
    /** Idempotent: keeps a feed that is there already. */
    readonly add: (
      account: AccountId,
      draft: FeedDraft
    ) => Effect.Effect<Feed, InvalidArgument | LimitReached | FeedLimitReached | StoreUnavailable>
    /** `url` may be any text. Returns the address. */
    readonly remove: (account: AccountId, url: string) => Effect.Effect<string, FeedNotFound | StoreUnavailable>
    /** By address. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<Feed>, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Feeds, never, FeedStore | Quotas> = Layer.effect(
    Feeds,
    Effect.gen(function* () {
      const store = yield* FeedStore
      const quotas = yield* Quotas
      const { refusal } = yield* FeedAddresses

      const add = Effect.fn("Feeds.add")(function* (account: AccountId, draft: FeedDraft) {
        const url = addressOf(draft.url)
        // Escapes make it longer.
        const problem =
          url.length > MAX_URL_LENGTH
            ? Option.some(
                `Is too long: ${url.length} characters when it is escaped, at most ${MAX_URL_LENGTH} are allowed`
              )
            : Option.map(refusal(url), (reason) => `Not allowed: ${reason}`)
        if (Option.isSome(problem)) {
          return yield* new InvalidArgument({ issues: [{ path: "url", message: problem.value }] })
        }
        const added = { account, url, addedAt: yield* Timestamp.now }
        yield* store.add(added, { account: yield* quotas.limitOf(account, "feeds"), everywhere: MAX_ADDED_FEEDS })
        const [stored] = yield* store.list(account, Option.some(url))
        return toWire(stored ?? { ...added, record: Option.none() })
      })

      const remove = Effect.fn("Feeds.remove")(function* (account: AccountId, text: string) {
        const url = URL.canParse(text) ? addressOf(text) : undefined
        return url !== undefined && (yield* store.remove(account, url)) ? url : yield* new FeedNotFound({ url: text })
      })

      const list = Effect.fn("Feeds.list")(function* (account: AccountId) {
        return (yield* store.list(account, Option.none())).map(toWire)
      })

      return Feeds.of({ add, remove, list })
    })
  )
}

// ---- helpers ----

/** Of all accounts together. Each is polled every few minutes. */
const MAX_ADDED_FEEDS = 2_000

/** One form for each address, without the fragment, which HTTP does not send. */
const addressOf = (text: string): string => {
  const url = new URL(text)
  url.hash = ""
  return url.href
}

/** What other accounts had of this feed before is not shown. */
const toWire = ({ url, addedAt, record }: ListedFeed): Feed => {
  const since = (at: Timestamp.Timestamp | null) => (at !== null && at >= addedAt ? at : undefined)
  const known = Option.getOrUndefined(record)
  if (known === undefined || since(known.askedAt) === undefined) return { url, state: "waiting", added_at: addedAt }
  const { title, error, isGone, nextAt } = known
  const [readAt, missedAt] = [since(known.readAt), since(known.missedAt)]
  return {
    url,
    ...(title !== null && readAt !== undefined && { title }),
    state: isGone ? "gone" : error !== null ? "failing" : "ok",
    added_at: addedAt,
    ...(readAt !== undefined && { last_read_at: readAt }),
    ...(!isGone && { next_read_at: nextAt }),
    ...(error !== null && { last_error: error }),
    ...(missedAt !== undefined && { missed_at: missedAt })
  }
}
