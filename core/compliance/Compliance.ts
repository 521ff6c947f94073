/**
 * The compliance job: asks each platform that offers it what became of the stored posts, and redacts those that were
 * deleted, withheld or edited. It walks through the posts in rounds and stores its place: a restart goes on there.
 */
import { Array as Arr, Clock, Effect, Layer, Option } from "effect"
import { MatchStore } from "../matches/MatchStore.ts"
import { Entropy } from "../model/Entropy.ts"
import type { PlatformNotConfigured, StoreUnavailable } from "../model/Errors.ts"
import type { MatchId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { Ownership } from "../ownership/Ownership.ts"
import { type PlatformFailure, Platforms, type PostLookUp, type PostState } from "../platforms/Platform.ts"
import { LookUpRounds, type Round } from "./LookUpRounds.ts"
import { Redactions } from "./Redactions.ts"

/** One server at a time does it. */
export const layer: Layer.Layer<never, never, Platforms | MatchStore | LookUpRounds | Redactions | Entropy> =
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const matches = yield* MatchStore
      const rounds = yield* LookUpRounds
      const redactions = yield* Redactions
      const claim = (yield* Entropy).uuid()

      const newRound = Effect.gen(function* () {
        const startedAt = yield* Clock.currentTimeMillis
        return { startedAt, upTo: yield* matches.watermark, place: Option.none() }
      })

      /** The next posts, and the place after them: the end of the round if there are no more. */
      const nextPosts = Effect.fnUntraced(function* (platform: PlatformId, { upTo, place }: Round) {
        const postIds = new Set<string>()
        let after = place
        for (let pages = 0; pages < STEP_PAGES && postIds.size < STEP_POSTS; pages++) {
          const page = yield* matches.posts({ platform, after, upTo, limit: PAGE })
          if (Option.isNone(page.last)) return { postIds: [...postIds], place: upTo }
          for (const id of page.postIds) postIds.add(id)
          after = page.last
        }
        return { postIds: [...postIds], place: Option.getOrElse(after, () => upTo) }
      })

      const redact = Effect.fnUntraced(function* (platform: PlatformId, states: ReadonlyMap<string, PostState>) {
        for (const reason of ["deleted", "withheld", "edited"] as const) {
          const platform_post_ids = [...states].flatMap(([id, state]) => (state === reason ? [id] : []))
          if (platform_post_ids.length === 0) continue
          const { redacted } = yield* redactions.redact({ platform, platform_post_ids, reason })
          yield* Effect.logInfo(
            `Redacted matches of "${platform}": ${platform_post_ids.length} posts are ${reason}, ${redacted} matches`
          )
        }
      })

      const goOn = Effect.fnUntraced(function* (platform: PlatformId, lookUp: PostLookUp, round: Round) {
        const { postIds, place } = yield* nextPosts(platform, round)
        const states = new Map<string, PostState>()
        for (const batch of Arr.chunksOf(postIds, lookUp.batch)) {
          for (const [id, state] of yield* lookUp.ask(batch)) states.set(id, state)
        }
        yield* redact(platform, states)
        yield* rounds.save(platform, claim, { ...round, place: Option.some(place) })
      })

      /** Returns the milliseconds until the next step. */
      const step = Effect.fnUntraced(function* (platform: PlatformId, lookUp: PostLookUp) {
        const held = yield* rounds.claim(platform, claim, LEASE_MILLIS)
        if (Option.isNone(held)) return POLL_MILLIS
        const unfinished = Option.filter(held.value.last, (round) => !isDone(round))
        const now = yield* Clock.currentTimeMillis
        const wait = Option.match(held.value.last, {
          onNone: () => 0,
          onSome: ({ startedAt }) => Math.min(startedAt, now) + lookUp.intervalMillis - now
        })
        if (Option.isNone(unfinished) && wait > 0) return Math.min(wait, POLL_MILLIS)
        yield* goOn(platform, lookUp, Option.isSome(unfinished) ? unfinished.value : yield* newRound)
        return REST_MILLIS
      })

      const run = (platform: PlatformId, lookUp: PostLookUp) => {
        let hasWarned = false
        const waitAfter = (failure: PlatformFailure | PlatformNotConfigured | StoreUnavailable) =>
          Effect.gen(function* () {
            if (failure._tag === "StoreUnavailable") {
              // Debug level: other services report that the store is down.
              yield* Effect.logDebug("Cannot look up stored posts", failure.cause)
              return POLL_MILLIS
            }
            const message = `Cannot look up stored posts, retrying: ${failure.message}`
            if (!hasWarned) yield* Effect.logWarning(message)
            hasWarned = true
            const seconds = failure._tag === "PlatformUnavailable" ? failure.retryAfterSeconds : undefined
            return seconds === undefined ? RETRY_MILLIS : seconds * 1_000
          })
        return step(platform, lookUp).pipe(
          Effect.tap(() =>
            Effect.sync(() => {
              hasWarned = false
            })
          ),
          Effect.catchAll(waitAfter),
          Effect.catchAllDefect((defect) =>
            Effect.as(Effect.logError("Cannot look up stored posts", defect), RETRY_MILLIS)
          ),
          Effect.flatMap((millis) => Effect.sleep(millis)),
          Effect.forever
        )
      }

      const { own } = yield* Ownership
      for (const { id, lookUp } of yield* platforms.all) {
        if (lookUp === undefined) continue
        yield* own(`compliance/${id}`, Effect.ensuring(run(id, lookUp), Effect.ignore(rounds.release(id, claim))))
      }
    })
  )

// ---- helpers ----

/** Posts per step: the recent events are searched once per step. */
const STEP_POSTS = 500

/** Matches read at once. They may be of other platforms. */
const PAGE = 500
const STEP_PAGES = 10

/** After a crash, another process takes over within this time. Longer than a step. */
const LEASE_MILLIS = 5 * 60_000

/** Between two steps: leaves time to others, as the embedded store runs one statement at a time. */
const REST_MILLIS = 1_000

const POLL_MILLIS = 30_000

const RETRY_MILLIS = 5 * 60_000

const isDone = ({ upTo, place }: Round): boolean => Option.exists(place, (place: MatchId) => place >= upTo)
