/** Hands out matches as they are stored: the store is read once for all who listen, however many they are. */
import { Context, Effect, Layer, Option, Schedule, type Scope, Stream } from "effect"
import type { CursorExpired, StorageUnavailable } from "../model/Errors.ts"
import type { AccountId, MatchId } from "../model/Ids.ts"
import { checkNothingMissed } from "./checkCursor.ts"
import type { Match } from "./Match.ts"
import { MatchStore, type Wanted } from "./MatchStore.ts"

/** What a listener hears: a match, or, when none came for a while, up to where all matches have been handed out. */
export type Heard =
  | { readonly _tag: "Matched"; readonly match: Match }
  | { readonly _tag: "Reached"; readonly id: MatchId }

/**
 * Waits for what comes next and gives all of it. It is somebody's place in the order of matches: run it one at a time,
 * and when it was interrupted, listen anew.
 */
export type Next<E> = Effect.Effect<ReadonlyArray<Heard>, E>

export class LiveMatches extends Context.Tag("core/LiveMatches")<
  LiveMatches,
  {
    /**
     * What came after `start`, oldest first, and then each match as it is stored: every one once, in the order of their
     * ids. Never ends by itself. Who asks rarely is read for rarely: nothing piles up.
     */
    readonly listen: (
      wanted: Wanted,
      start: Option.Option<MatchId>
    ) => Effect.Effect<Next<CursorExpired | StorageUnavailable>, StorageUnavailable, Scope.Scope>
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
          const listener = new Listener(wanted)
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

      // One clock for all: a timer for each of ten thousand would be what the process does.
      const tick = Effect.sync(() => {
        for (const ofAccount of listeners.values()) for (const listener of ofAccount) listener.tick()
      })
      yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced("1 second")))

      const listen = (wanted: Wanted, start: Option.Option<MatchId>) =>
        // Heard before it is read: nothing falls between the two.
        Effect.map(Effect.acquireRelease(join(wanted), leave), (listener) => {
          const place = new Place(start)
          let isBehind = true

          const nextPage = Effect.gen(function* () {
            const after = place.seen
            const page = yield* store.next({ ...wanted, after, limit: PAGE })
            if (Option.isSome(after)) yield* checkNothingMissed(store, after.value)
            isBehind = page.length === PAGE
            return place.advance(page)
          })

          const next: Next<CursorExpired | StorageUnavailable> = Effect.suspend(() => {
            const matches = isBehind ? "too many" : listener.take()
            if (matches === "too many") {
              isBehind = true
              return nextPage
            }
            if (matches.length > 0) return Effect.succeed(place.advance(matches))
            // Looked at in the same moment: what is marked is what has been taken.
            if (listener.isQuiet()) return Effect.succeed(place.moveTo(marked))
            return Effect.as(listener.news, [])
          }).pipe(Effect.flatMap((heard) => (heard.length === 0 ? next : Effect.succeed(heard))))
          return next
        })

      return LiveMatches.of({ listen })
    })
  )
}

// ---- helpers ----

/** What is read in one step. */
const AT_ONCE = 500

const LOOK_EVERY = "5 seconds"

/** What is read of the past in one step: little waits for a reader that is slow. */
const PAGE = 100

/** After so many seconds without a match a listener is told how far it is: a connection is known to be alive by it. */
const QUIET_SECONDS = 15

/** What may wait for one listener. The matches themselves are shared by all of them. */
const MOST_WAITING = 1_000

/** How far a listener is. */
class Place {
  seen: Option.Option<MatchId>

  constructor(start: Option.Option<MatchId>) {
    this.seen = start
  }

  /** What of these is new here. */
  advance(matches: ReadonlyArray<Match>): ReadonlyArray<Heard> {
    const unseen = matches.filter(({ id }) => this.isAhead(id))
    this.seen = Option.orElse(Option.fromNullable(unseen.at(-1)?.id), () => this.seen)
    return unseen.map((match) => ({ _tag: "Matched", match }))
  }

  moveTo(mark: Option.Option<MatchId>): ReadonlyArray<Heard> {
    this.seen = Option.orElse(
      Option.filter(mark, (id) => this.isAhead(id)),
      () => this.seen
    )
    return Option.match(this.seen, { onNone: () => [], onSome: (id) => [{ _tag: "Reached", id }] })
  }

  private isAhead(id: MatchId): boolean {
    return !Option.exists(this.seen, (seen) => id <= seen)
  }
}

class Listener {
  readonly wanted: Wanted
  private waiting: Array<Match> = []
  private isTooSlow = false
  private quietSeconds = 0
  private wake = () => {}

  constructor(wanted: Wanted) {
    this.wanted = wanted
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
    this.wake()
  }

  /** All that waits. Once it was too much, all of it is given up, and to be had from the store. */
  take(): ReadonlyArray<Match> | "too many" {
    const { isTooSlow, waiting } = this
    if (waiting.length > 0) this.quietSeconds = 0
    this.isTooSlow = false
    this.waiting = []
    return isTooSlow ? "too many" : waiting
  }

  tick(): void {
    this.quietSeconds++
    if (this.quietSeconds >= QUIET_SECONDS) this.wake()
  }

  /** True once for each while without anything to take. */
  isQuiet(): boolean {
    const isQuiet = this.quietSeconds >= QUIET_SECONDS
    if (isQuiet) this.quietSeconds = 0
    return isQuiet
  }

  /** Waits until there is something to take, or until it has been quiet for long. */
  readonly news: Effect.Effect<void> = Effect.async((resume) => {
    this.wake = () => {
      this.wake = () => {}
      resume(Effect.void)
    }
  })
}
