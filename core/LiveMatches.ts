/** Hands out matches as they are stored: the store is read once for all who listen, however many they are. */
import { Chunk, Context, Effect, identity, Layer, Option, Schedule, Stream } from "effect"
import { checkNothingMissed } from "./checkCursor.ts"
import type { CursorExpired, StorageUnavailable } from "./Errors.ts"
import type { AccountId, MatchId } from "./Ids.ts"
import type { Match } from "./Match.ts"
import { MatchStore, type Wanted } from "./MatchStore.ts"

/** What a listener hears: a match, or, when none came for a while, up to where all matches have been handed out. */
export type Heard =
  | { readonly _tag: "Matched"; readonly match: Match }
  | { readonly _tag: "Reached"; readonly id: MatchId }

export class LiveMatches extends Context.Tag("core/LiveMatches")<
  LiveMatches,
  {
    /**
     * What came after `start`, oldest first, and then each match as it is stored: every one once, in the order of their
     * ids. Never ends by itself. Who reads slowly is read for slowly: nothing piles up.
     */
    readonly from: (
      wanted: Wanted,
      start: Option.Option<MatchId>
    ) => Stream.Stream<Heard, CursorExpired | StorageUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<LiveMatches, never, MatchStore> = Layer.scoped(
    LiveMatches,
    Effect.gen(function* () {
      const store = yield* MatchStore
      const listeners = new Map<AccountId, Set<Listener>>()
      let reached = Option.none<MatchId>()
      /** The last place up to which all is handed out and that may be told. */
      let marked = Option.none<MatchId>()
      // Whoever joins does so between two steps of reading.
      const turns = yield* Effect.makeSemaphore(1)

      /** Reads on to what is the newest by now; true while there may be more. */
      const stepTo = Effect.fnUntraced(function* (newest: MatchId) {
        if (Option.exists(reached, (id) => id >= newest)) return false
        const found = yield* store.nextOf({ accounts: [...listeners.keys()], after: reached, limit: AT_ONCE })
        for (const { account, match } of found) {
          for (const listener of listeners.get(account) ?? []) listener.hear(match)
        }
        const isMore = found.length === AT_ONCE
        const last = found.at(-1)?.match.id ?? newest
        // Up to the newest there was nothing else for anyone here; the next step need not read it again.
        reached = Option.some(isMore || last > newest ? last : newest)
        return isMore
      })
      const readTo = (newest: MatchId) => Effect.repeat(stepTo(newest), { while: (isMore) => isMore })

      const readOn = Effect.gen(function* () {
        if (listeners.size === 0) return
        const newest = yield* store.newest
        if (Option.isSome(newest)) yield* readTo(newest.value)
      })

      const readToMark = Effect.gen(function* () {
        if (listeners.size === 0) return
        const mark = yield* store.mark
        yield* readTo(mark)
        marked = Option.some(mark)
      })

      const insistently = <A>(effect: Effect.Effect<A, StorageUnavailable>) =>
        turns
          .withPermits(1)(effect)
          .pipe(
            // Nothing is lost: it is read when the store is back.
            Effect.catchAll(({ cause }) => Effect.logDebug("New matches could not be read", cause)),
            Effect.catchAllDefect((defect) => Effect.logError("Handing out matches broke and is resumed", defect))
          )
      yield* Effect.forkScoped(Stream.runForEach(store.changes, () => insistently(readOn)))
      // Also in case that news of a change were lost.
      yield* Effect.forkScoped(Effect.repeat(insistently(readToMark), Schedule.spaced(LOOK_EVERY)))

      const join = (wanted: Wanted) =>
        Effect.gen(function* () {
          if (listeners.size === 0) {
            const mark = yield* store.mark
            reached = Option.some(mark)
            marked = Option.some(mark)
          }
          const listener = new Listener(wanted, yield* Effect.makeLatch(false))
          const ofAccount = listeners.get(wanted.account)
          if (ofAccount === undefined) listeners.set(wanted.account, new Set([listener]))
          else ofAccount.add(listener)
          return listener
        }).pipe(turns.withPermits(1))

      const leave = (listener: Listener) =>
        Effect.sync(() => {
          const { account } = listener.wanted
          const ofAccount = listeners.get(account)
          ofAccount?.delete(listener)
          if (ofAccount?.size === 0) listeners.delete(account)
        })

      const from = (wanted: Wanted, start: Option.Option<MatchId>) =>
        Stream.suspend(() => {
          const place = new Place(start)

          const nextPage = Effect.gen(function* () {
            const after = place.seen
            const page = yield* store.next({ ...wanted, after, limit: PAGE })
            if (Option.isSome(after)) yield* checkNothingMissed(store, after.value)
            return [place.advance(page), page.length === PAGE ? Option.some(undefined) : Option.none()] as const
          })
          const past = Stream.paginateChunkEffect(undefined, () => nextPage)

          const present = (listener: Listener) =>
            listener.take.pipe(
              Effect.map((matches) => place.advance(matches)),
              Effect.timeoutTo({ duration: QUIET, onSuccess: identity, onTimeout: () => place.moveTo(marked) }),
              Effect.mapError(Option.none),
              Stream.repeatEffectChunkOption
            )

          // Heard before it is read: nothing falls between the two.
          return Stream.unwrapScoped(
            Effect.map(Effect.acquireRelease(join(wanted), leave), (listener) => Stream.concat(past, present(listener)))
          ).pipe(Stream.forever)
        })

      return LiveMatches.of({ from })
    })
  )
}

// ---- helpers ----

/** What is read in one step. */
const AT_ONCE = 500

const LOOK_EVERY = "5 seconds"

/** What is read of the past in one step: little waits for a reader that is slow. */
const PAGE = 100

/** After this long without a match a listener is told how far it is: a connection is known to be alive by it. */
const QUIET = "15 seconds"

/** What may wait for one listener. The matches themselves are shared by all of them. */
const MOST_WAITING = 1_000

/** How far a listener is. */
class Place {
  seen: Option.Option<MatchId>

  constructor(start: Option.Option<MatchId>) {
    this.seen = start
  }

  /** What of these is new here. */
  advance(matches: ReadonlyArray<Match>): Chunk.Chunk<Heard> {
    const unseen = matches.filter(({ id }) => this.isAhead(id))
    this.seen = Option.orElse(Option.fromNullable(unseen.at(-1)?.id), () => this.seen)
    return Chunk.unsafeFromArray(unseen.map((match) => ({ _tag: "Matched", match })))
  }

  moveTo(mark: Option.Option<MatchId>): Chunk.Chunk<Heard> {
    this.seen = Option.orElse(
      Option.filter(mark, (id) => this.isAhead(id)),
      () => this.seen
    )
    return Option.match(this.seen, { onNone: () => Chunk.empty(), onSome: (id) => Chunk.of({ _tag: "Reached", id }) })
  }

  private isAhead(id: MatchId): boolean {
    return !Option.exists(this.seen, (seen) => id <= seen)
  }
}

class Listener {
  readonly wanted: Wanted
  private readonly some: Effect.Latch
  private waiting: Array<Match> = []
  private isTooSlow = false

  constructor(wanted: Wanted, some: Effect.Latch) {
    this.wanted = wanted
    this.some = some
  }

  hear(match: Match): void {
    const { rule, platforms } = this.wanted
    if (this.isTooSlow || !platforms.includes(match.platform)) return
    if (Option.exists(rule, (id) => id !== match.rule_id)) return
    if (this.waiting.length === MOST_WAITING) {
      this.isTooSlow = true
      this.waiting = []
    } else {
      this.waiting.push(match)
    }
    this.some.unsafeOpen()
  }

  /** Waits for matches and takes all there are. Fails once the listener was too slow for what came in. */
  readonly take: Effect.Effect<ReadonlyArray<Match>, "too slow"> = Effect.suspend(() =>
    Effect.flatMap(this.some.await, () => {
      if (this.isTooSlow) return Effect.fail("too slow" as const)
      const taken = this.waiting
      this.waiting = []
      this.some.unsafeClose()
      return Effect.succeed(taken)
    })
  )
}
