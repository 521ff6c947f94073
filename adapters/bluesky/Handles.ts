/**
 * The handles of the authors of matched posts, which the stream does not have. They are looked up in the background:
 * nothing waits for them, so the first match of an account may have none.
 */
import { Chunk, Clock, Effect, Option, Queue, type Scope } from "effect"
import { objectOf } from "../../core/text/json.ts"
import type { Unreachable } from "../http/call.ts"
import { MAX_PER_CALL, type Profile } from "./publicApi.ts"

export interface Handles {
  /** With the handle of the author, if it is known; otherwise it is looked up for the next time. */
  readonly forReaders: (payload: Record<string, unknown>, author: string) => Record<string, unknown>
  /** The account may have another handle. */
  readonly forget: (did: string) => void
}

/** Looks up names until the scope closes. */
export const makeHandles = (
  profilesOf: (actors: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Profile>, Unreachable>
): Effect.Effect<Handles, never, Scope.Scope> =>
  Effect.gen(function* () {
    const wanted = yield* Queue.sliding<string>(MAX_WAITING)
    const clock = yield* Effect.clock
    /** By DID, the oldest first. No handle: there is none to show. */
    const known = new Map<string, { readonly handle: string | undefined; readonly until: number }>()

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

    return {
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

export const withHandles = (
  payload: Record<string, unknown>,
  handles: ReadonlyArray<readonly [did: string, handle: string]>
): Record<string, unknown> =>
  handles.length === 0
    ? payload
    : { ...payload, handles: { ...objectOf(payload["handles"]), ...Object.fromEntries(handles) } }

// ---- helpers ----

/** Between two calls. */
const PAUSE = "1 second"

const MAX_WAITING = 1_000
const MAX_KNOWN = 100_000

const KNOWN_MILLIS = 24 * 3_600_000
const FAILED_MILLIS = 5 * 60_000
