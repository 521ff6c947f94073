/** Live fan-out of new matches and redactions: one reader of the store serves all listeners. */
import { Context, Effect, Layer, Option, Schedule, type Scope, Stream } from "effect"
import type { CursorExpired, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, MatchId } from "../model/Ids.ts"
import { checkResumeCursor } from "./checkCursor.ts"
import { type Change, MAX_PAGE_BYTES, type MatchSelector, MatchStore } from "./MatchStore.ts"

/** A heartbeat comes after a quiet period. Everything up to its id has been delivered. */
export type LiveUpdate = Change | { readonly _tag: "Heartbeat"; readonly id: MatchId }

/** Waits for the next updates. Stateful: do not run it concurrently, and call `listen` again after an interruption. */
export type Next<A, E> = Effect.Effect<ReadonlyArray<A>, E>

export class LiveMatches extends Context.Tag("core/LiveMatches")<
  LiveMatches,
  {
    /**
     * Delivers the matches and redactions after `start`, then each new one: exactly once, in the order of ids. Never
     * ends by itself. Pull-based: a slow reader falls back to reading the store.
     */
    readonly listen: (
      selector: MatchSelector,
      start: Option.Option<MatchId>
    ) => Effect.Effect<Next<LiveUpdate, CursorExpired | StoreUnavailable>, StoreUnavailable, Scope.Scope>
  }
>() {
  static readonly layer: Layer.Layer<LiveMatches, never, MatchStore> = Layer.scoped(
    LiveMatches,
    Effect.gen(function* () {
      const store = yield* MatchStore
      const listeners = new Map<AccountId, Set<Listener>>()
      let readUpTo = Option.none<MatchId>()
      /** The last watermark up to which all matches were handed out. Safe to show to any account, unlike `readUpTo`. */
      let handedOut = Option.none<MatchId>()
      // Listeners join between two reads.
      const lock = yield* Effect.makeSemaphore(1)

      /** True if there may be more. */
      const readPage = Effect.fnUntraced(function* (newest: MatchId) {
        if (Option.exists(readUpTo, (id) => id >= newest)) return false
        const { items, hasMore } = yield* store.nextForAccounts({
          accounts: [...listeners.keys()],
          after: readUpTo,
          limit: BATCH
        })
        for (const { account, change, bytes } of items) {
          for (const listener of listeners.get(account) ?? []) listener.push(change, bytes)
        }
        const last = items.at(-1)?.change.id ?? newest
        // After the last page, nothing up to `newest` remains for these accounts.
        readUpTo = Option.some(hasMore || last > newest ? last : newest)
        return hasMore
      })
      const readTo = (newest: MatchId) => Effect.repeat(readPage(newest), { while: (hasMore) => hasMore })

      const readNew = Effect.gen(function* () {
        if (listeners.size === 0) return
        const newest = yield* store.newest
        if (Option.isSome(newest)) yield* readTo(newest.value)
      })

      const readToWatermark = Effect.gen(function* () {
        if (listeners.size === 0) return
        const watermark = yield* store.watermark
        yield* readTo(watermark)
        handedOut = Option.some(watermark)
      })

      const guarded = <A>(effect: Effect.Effect<A, StoreUnavailable>) =>
        lock
          .withPermits(1)(effect)
          .pipe(
            // The next run reads the same matches again.
            Effect.catchAll(({ cause }) => Effect.logDebug("Cannot read new matches", cause)),
            Effect.catchAllDefect((defect) =>
              Effect.logError("Live fan-out failed, it continues with the next change", defect)
            )
          )
      yield* Effect.forkScoped(Stream.runForEach(store.changes, () => guarded(readNew)))
      // A change notification can be lost.
      yield* Effect.forkScoped(Effect.repeat(guarded(readToWatermark), Schedule.spaced(POLL_INTERVAL)))

      const join = (selector: MatchSelector) =>
        Effect.gen(function* () {
          if (listeners.size === 0) {
            const watermark = yield* store.watermark
            readUpTo = Option.some(watermark)
            handedOut = Option.some(watermark)
          }
          const listener = new Listener(selector)
          const group = listeners.get(selector.account)
          if (group === undefined) listeners.set(selector.account, new Set([listener]))
          else group.add(listener)
          return listener
        }).pipe(lock.withPermits(1))

      const leave = (listener: Listener) =>
        Effect.sync(() => {
          const { account } = listener.selector
          const group = listeners.get(account)
          group?.delete(listener)
          if (group?.size === 0) listeners.delete(account)
        })

      // One timer for all listeners: ten thousand timers would keep the process busy.
      const tick = Effect.sync(() => {
        for (const group of listeners.values()) for (const listener of group) listener.tick()
      })
      yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced("1 second")))

      const listen = (selector: MatchSelector, start: Option.Option<MatchId>) =>
        // Joins before it reads the store, so that no match falls in between.
        Effect.map(Effect.acquireRelease(join(selector), leave), (listener) => {
          const position = new Position(start)
          let isBehind = true

          const nextPage = Effect.gen(function* () {
            const after = position.seen
            const page = yield* store.next({ ...selector, after, limit: PAGE })
            if (Option.isSome(after)) yield* checkResumeCursor(store, selector.account, after.value)
            isBehind = page.hasMore
            return position.advance(page.items)
          })

          const next: Next<LiveUpdate, CursorExpired | StoreUnavailable> = Effect.suspend(() => {
            const changes = isBehind ? "overflow" : listener.take()
            if (changes === "overflow") {
              isBehind = true
              return nextPage
            }
            if (changes.length > 0) return Effect.succeed(position.advance(changes))
            // No yield since `take`: every change up to `handedOut` has been taken.
            if (listener.takeHeartbeat()) return Effect.succeed(position.heartbeat(handedOut))
            return Effect.as(listener.changed, [])
          }).pipe(Effect.flatMap((updates) => (updates.length === 0 ? next : Effect.succeed(updates))))
          return next
        })

      return LiveMatches.of({ listen })
    })
  )
}

// ---- helpers ----

const BATCH = 500

const POLL_INTERVAL = "5 seconds"

/** Small: a page waits in memory for a slow reader. */
const PAGE = 100

const HEARTBEAT_SECONDS = 15

/** Per listener. Listeners share the objects. */
const MAX_QUEUED = 1_000
const MAX_QUEUED_BYTES = 2 * MAX_PAGE_BYTES

class Position {
  seen: Option.Option<MatchId>

  constructor(start: Option.Option<MatchId>) {
    this.seen = start
  }

  advance(changes: ReadonlyArray<Change>): ReadonlyArray<LiveUpdate> {
    const unseen = changes.filter(({ id }) => this.isUnseen(id))
    this.seen = Option.orElse(Option.fromNullable(unseen.at(-1)?.id), () => this.seen)
    return unseen
  }

  heartbeat(watermark: Option.Option<MatchId>): ReadonlyArray<LiveUpdate> {
    this.seen = Option.orElse(
      Option.filter(watermark, (id) => this.isUnseen(id)),
      () => this.seen
    )
    return Option.match(this.seen, { onNone: () => [], onSome: (id) => [{ _tag: "Heartbeat", id }] })
  }

  private isUnseen(id: MatchId): boolean {
    return !Option.exists(this.seen, (seen) => id <= seen)
  }
}

class Listener {
  readonly selector: MatchSelector
  private queue: Array<Change> = []
  private queuedBytes = 0
  private hasOverflowed = false
  private idleSeconds = 0
  private wake = () => {}

  constructor(selector: MatchSelector) {
    this.selector = selector
  }

  push(change: Change, bytes: number): void {
    const { rules, platforms } = this.selector
    const { match } = change
    if (this.hasOverflowed || !platforms.includes(match.platform)) return
    if (Option.exists(rules, (ids) => !ids.includes(match.rule_id))) return
    this.queue.push(change)
    this.queuedBytes += bytes
    if (this.queue.length > MAX_QUEUED || this.queuedBytes > MAX_QUEUED_BYTES) {
      this.hasOverflowed = true
      this.queue = []
    }
    this.wake()
  }

  /** After an overflow the queue is dropped: read the store instead. */
  take(): ReadonlyArray<Change> | "overflow" {
    const { hasOverflowed, queue } = this
    if (queue.length > 0) this.idleSeconds = 0
    this.hasOverflowed = false
    this.queue = []
    this.queuedBytes = 0
    return hasOverflowed ? "overflow" : queue
  }

  tick(): void {
    this.idleSeconds++
    if (this.idleSeconds >= HEARTBEAT_SECONDS) this.wake()
  }

  /** True once per quiet period. */
  takeHeartbeat(): boolean {
    const isDue = this.idleSeconds >= HEARTBEAT_SECONDS
    if (isDue) this.idleSeconds = 0
    return isDue
  }

  /** Waits for a change or for the next heartbeat. */
  readonly changed: Effect.Effect<void> = Effect.async((resume) => {
    this.wake = () => {
      this.wake = () => {}
      resume(Effect.void)
    }
  })
}
