/** Handles the operations on feeds. */
import { Effect } from "effect"
import type { feeds } from "../../api/feeds.ts"
import { Feeds } from "../../core/feeds/Feeds.ts"
import type { Handlers } from "./Handlers.ts"

export const feedHandlers: Handlers<typeof feeds> = {
  add: (account, draft) =>
    Effect.flatMap(Feeds, (feeds) => Effect.map(feeds.add(account, draft), (feed) => ({ feed }))),

  list: (account) => Effect.flatMap(Feeds, (feeds) => Effect.map(feeds.list(account), (all) => ({ feeds: all }))),

  remove: (account, { url }) =>
    Effect.flatMap(Feeds, (feeds) => Effect.map(feeds.remove(account, url), (removed) => ({ url: removed })))
}
