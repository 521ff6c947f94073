/** Parses the documents of feeds in a thread of its own: a hostile one takes seconds, and must not stall the server. */
import { Worker } from "node:worker_threads"
import { Effect, Either, Predicate, type Scope } from "effect"
import { decodeText } from "./decode.ts"
import { NotFetched } from "./fetch.ts"
import { type FeedItem, type ParsedFeed, parseFeed } from "./parse.ts"

export interface FeedDocument {
  readonly body: Uint8Array
  readonly contentType: string
  /** Resolves relative links. */
  readonly baseUrl: string
  readonly maxItems: number
}

/** With short hashes of the id, and of the address or title, of each item. */
export interface KeyedFeed extends ParsedFeed {
  readonly keys: ReadonlyArray<{ readonly id: string; readonly link: string }>
}

export type Parse = (document: FeedDocument) => Effect.Effect<KeyedFeed, NotFetched>

/** What the thread answers: the feed, or why it is none. */
export type Parsed = { readonly feed: KeyedFeed } | { readonly reason: string }

/** Blocks the thread that it runs in. */
export const parseDocument = (
  { body, contentType, ...options }: FeedDocument,
  digest: (text: string) => string
): Parsed =>
  Either.match(parseFeed(decodeText(body, contentType), { ...options, digest }), {
    onLeft: (reason) => ({ reason }),
    onRight: (feed) => ({ feed: withKeys(feed, digest) })
  })

export const withKeys = (feed: ParsedFeed, digest: (text: string) => string): KeyedFeed => {
  const hash = (text: string) => digest(text).slice(0, 8)
  return { ...feed, keys: feed.items.map((item) => ({ id: hash(item.id), link: hash(linkOf(item)) })) }
}

/** One document at a time. The thread starts with the first one and ends with the scope. */
export const parserThread: Effect.Effect<Parse, never, Scope.Scope> = Effect.gen(function* () {
  let thread: Worker | undefined
  const stop = Effect.promise(async () => {
    const stopped = thread
    thread = undefined
    await stopped?.terminate()
  })
  yield* Effect.addFinalizer(() => stop)

  const parse = ({ body, ...document }: FeedDocument) =>
    Effect.async<KeyedFeed, NotFetched>((resume) => {
      thread ??= start()
      const used = thread
      const onError = (cause: unknown) => {
        thread = undefined
        settle(new NotFetched({ reason: isOutOfMemory(cause) ? "it takes too much memory to parse" : NOT_PARSED }))
      }
      const onMessage = (parsed: Parsed) =>
        settle("feed" in parsed ? Effect.succeed(parsed.feed) : new NotFetched({ reason: parsed.reason }))
      const settle = (result: Effect.Effect<KeyedFeed, NotFetched>) => {
        used.off("message", onMessage).off("error", onError)
        resume(result)
      }
      used.on("message", onMessage).on("error", onError)
      const copy = new Uint8Array(body)
      used.postMessage({ ...document, body: copy }, [copy.buffer])
      return stop
    }).pipe(
      Effect.timeoutFail({
        duration: TIMEOUT,
        onTimeout: () => new NotFetched({ reason: "it takes more than 5 seconds to parse" })
      })
    )
  const one = yield* Effect.makeSemaphore(1)
  return (document) => one.withPermits(1)(parse(document))
})

// ---- helpers ----

/** With the title: in some feeds all items link to the same page. */
const linkOf = ({ id, url = "", title = "" }: FeedItem): string => (url === "" && title === "" ? id : `${url} ${title}`)

const TIMEOUT = "5 seconds"

const MAX_MEGABYTES = 256

const NOT_PARSED = "it cannot be parsed"

const isOutOfMemory = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === "ERR_WORKER_OUT_OF_MEMORY"

/** Built as a file of its own. When run from sources (tests), the file of the last build. */
const FILE = new URL(import.meta.url.endsWith(".ts") ? "../../dist/feedParser.js" : "./feedParser.js", import.meta.url)

const start = (): Worker => {
  // It parses what strangers wrote: it gets no secrets.
  const worker = new Worker(FILE, { env: {}, resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES } })
  worker.unref()
  return worker
}
