/** Parses feeds in this thread: simulated clocks do not wait for another one. */
import { Effect } from "effect"
import { NotFetched } from "../../../adapters/feeds/fetch.ts"
import { type FeedDocument, parseDocument } from "../../../adapters/feeds/parser.ts"
import { Entropy } from "../../../core/model/Entropy.ts"

export const parserHere = Effect.map(
  Entropy,
  ({ sha256 }) =>
    (document: FeedDocument) =>
      Effect.suspend(() => {
        const parsed = parseDocument(document, sha256)
        return "feed" in parsed ? Effect.succeed(parsed.feed) : new NotFetched({ reason: parsed.reason })
      })
).pipe(Effect.provide(Entropy.layerCounting))
