/**
 * The names of accounts, which the stream does not have. Those that rules name are looked up when the rules are
 * registered, those of matched posts in the background: nothing waits for them, so the first match of an account may have
 * none.
 */
import { Chunk, Clock, Effect, Option, Queue, Schedule, type Scope } from "effect"
import { authorOf, Post } from "../../core/syntax/bluesky/Post.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import { MAX_PER_CALL, type PublicApi } from "./publicApi.ts"

export interface Handles {
  /** Looks up the names. Returns those that no account has. If the service is down, it is asked again in the background. */
  readonly resolve: (names: ReadonlySet<string>) => Effect.Effect<ReadonlyArray<string>>
  /** With the handles that rules name, so that they match. */
  readonly forMatching: (payload: Record<string, unknown>) => Record<string, unknown>
  /** With the handle of the author, if it is known; otherwise it is looked up for the next time. */
  readonly forReaders: (payload: Record<string, unknown>, author: string) => Record<string, unknown>
  /** The account may have another handle. */
  readonly forget: (did: string) => void
}

/** Looks up names until the scope closes. */
export const makeHandles = (ask: PublicApi): Effect.Effect<Handles, never, Scope.Scope> =>
  Effect.gen(function* () {
    const wanted = yield* Queue.sliding<string>(MAX_WAITING)
    const clock = yield* Effect.clock
    /** By DID, the oldest first. No handle: there is none to show. */
    const known = new Map<string, { readonly handle: string | undefined; readonly until: number }>()
    /** Those in rules, by DID. */
    const named = new Map<string, string>()

    const profilesOf = (actors: ReadonlyArray<string>) =>
      Effect.map(ask("profiles", actors), (profiles) =>
        profiles.flatMap((profile) => {
          const did = textOf(profile["did"])
          const handle = textOf(profile["handle"])?.toLowerCase()
          // Some accounts ask not to be shown to people who have not signed in.
          const isPrivate = objectsOf(profile["labels"]).some(({ val }) => val === "!no-unauthenticated")
          return did === undefined || handle === undefined ? [] : [{ did, handle, isPrivate }]
        })
      )

    const lookUp = Effect.gen(function* () {
      const dids = [...new Set(Chunk.toReadonlyArray(yield* Queue.takeBetween(wanted, 1, MAX_PER_CALL)))]
      const found = yield* Effect.option(profilesOf(dids))
      const now = yield* Clock.currentTimeMillis
      const until = now + (Option.isSome(found) ? KNOWN_MILLIS : FAILED_MILLIS)
      for (const did of dids) known.set(did, { handle: undefined, until })
      for (const { did, handle, isPrivate } of Option.getOrElse(found, () => [])) {
        if (!isPrivate) known.set(did, { handle, until })
      }
      for (const oldest of known.keys()) {
        if (known.size <= MAX_KNOWN) break
        known.delete(oldest)
      }
      yield* Effect.sleep(PAUSE)
    })
    yield* Effect.forkScoped(Effect.forever(lookUp))

    const resolveNow = (names: ReadonlySet<string>) =>
      Effect.gen(function* () {
        const there = new Set(named.values())
        const missing = [...names].filter((name) => !there.has(name))
        for (let start = 0; start < missing.length; start += MAX_PER_CALL) {
          for (const { did, handle } of yield* profilesOf(missing.slice(start, start + MAX_PER_CALL))) {
            if (missing.includes(handle)) named.set(did, handle)
          }
        }
        const now = new Set(named.values())
        return missing.filter((name) => !now.has(name))
      })

    const scope = yield* Effect.scope
    const resolve: Handles["resolve"] = (names) =>
      Effect.catchAll(resolveNow(names), ({ reason }) =>
        Effect.gen(function* () {
          yield* Effect.logWarning(`Cannot look up handles of rules on "bluesky", retrying: ${reason}`)
          yield* resolveNow(names).pipe(Effect.delay(RETRY), Effect.retry(Schedule.forever), Effect.forkIn(scope))
          return []
        })
      )

    const withHandles = (payload: Record<string, unknown>, handles: ReadonlyArray<readonly [string, string]>) =>
      handles.length === 0
        ? payload
        : { ...payload, handles: { ...objectOf(payload["handles"]), ...Object.fromEntries(handles) } }

    return {
      resolve,
      forMatching: (payload) => {
        if (named.size === 0) return payload
        const post = Post.of(payload)
        const dids = typeof post === "string" ? [] : accountsOf(post)
        return withHandles(
          payload,
          dids.flatMap((did) => {
            const handle = named.get(did)
            return handle === undefined ? [] : [[did, handle] as const]
          })
        )
      },
      forReaders: (payload, author) => {
        const found = known.get(author)
        if (found === undefined || found.until <= clock.unsafeCurrentTimeMillis()) Queue.unsafeOffer(wanted, author)
        return found?.handle === undefined ? payload : withHandles(payload, [[author, found.handle]])
      },
      forget: (did) => {
        known.delete(did)
      }
    }
  })

/** The handles that an expression compares accounts with. */
export const handlesIn = (expression: Expression, found = new Set<string>()): ReadonlySet<string> => {
  switch (expression._tag) {
    case "And":
    case "Or":
      for (const clause of expression.clauses) handlesIn(clause, found)
      return found
    case "Not":
      return handlesIn(expression.clause, found)
    case "Equals":
      if (accountFields.has(expression.field) && !/^(did|at):/.test(expression.value)) found.add(expression.value)
      return found
    default:
      return found
  }
}

// ---- helpers ----

const accountFields: ReadonlySet<string> = new Set(["x.from", "x.to", "x.mention", "bluesky.quotes"])

const accountsOf = (post: Post): ReadonlyArray<string> =>
  [post.did, ...post.mentions, authorOf(post.repliedTo), authorOf(post.quoted)].flatMap((did) => did ?? [])

/** Between two calls. */
const PAUSE = "1 second"

const RETRY = "30 seconds"

const MAX_WAITING = 1_000
const MAX_KNOWN = 100_000

const KNOWN_MILLIS = 24 * 3_600_000
const FAILED_MILLIS = 5 * 60_000
