/** Live fan-out of new matches and redactions: one reader of the store serves all listeners. */
import { Context, Effect, Layer, Option, Schedule, type Scope, Stream } from "effect"
import type { CursorExpired, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, MatchId } from "../model/Ids.ts"
import { hold } from "../work/hold.ts"
import { isTurnLong, nextTurn } from "../work/turns.ts"
import { checkResumeCursor } from "./checkCursor.ts"
import { type Change, MAX_PAGE_BYTES, type MatchSelector, MatchStore } from "./MatchStore.ts"

/** A heartbeat comes after a quiet period. Everything up to its id has been delivered. */
export type LiveUpdate = Change | { readonly _tag: "Heartbeat"; readonly id: MatchId }

/**
 * The reading end of a listener. `Matches.listen` wraps it to check the rule and to add the coverage, and the gateway to
 * check the key: when one of these is due, `takeQueued` gives nothing, and `read` does it.
 */
export interface LiveReader<A, E, R = never> {
  /**
   * The updates since the last run, possibly none: it does not wait for more. Stateful: do not run it concurrently, and
   * call `listen` again after an interruption.
   */
  readonly read: Effect.Effect<ReadonlyArray<A>, E, R>
  /**
   * What `read` would give, if it has nothing else to do. Otherwise nothing: run `read`. Saves a fiber, which takes 10 µs
   * of CPU: with it, a delivery takes 20 µs.
   */
  readonly takeQueued: () => ReadonlyArray<A>
  /** Calls `wake` once, when it is time for `read`: at once if it is already. An earlier `wake` is forgotten. */
  readonly onReady: (wake: () => void) => void
}

/** Waits for the next updates. */
export const nextUpdates = <A, E>({
  read,
  onReady
}: Pick<LiveReader<A, E>, "read" | "onReady">): Effect.Effect<ReadonlyArray<A>, E> => {
  const ready = Effect.async<void>((resume) => onReady(() => resume(Effect.void)))
  return Effect.repeat(Effect.zipRight(ready, read), { until: (updates) => updates.length > 0 })
}

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
    ) => Effect.Effect<LiveReader<LiveUpdate, CursorExpired | StoreUnavailable>, StoreUnavailable, Scope.Scope>
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

      /** After a whole page: a listener then takes and sends it at once. */
      const wakeAll = Effect.fnUntraced(function* (accounts: Iterable<AccountId>) {
        for (const account of accounts) {
          for (const listener of listeners.get(account) ?? []) {
            if (listener.wakeIfReady() && isTurnLong()) yield* Effect.promise(nextTurn)
          }
        }
      })

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
        yield* wakeAll(new Set(items.map(({ account }) => account)))
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
      const tick = Effect.suspend(() => {
        for (const group of listeners.values()) for (const listener of group) listener.tick()
        return wakeAll(listeners.keys())
      })
      yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced("1 second")))

      const listen = (selector: MatchSelector, start: Option.Option<MatchId>) =>
        // Joins before it reads the store, so that no match falls in between.
        Effect.map(hold(join(selector), leave), (listener) => {
          const position = new Position(start)

          const readStore = Effect.fnUntraced(function* () {
            const after = position.seen
            listener.isBehind = false
            const page = yield* store.next({ ...selector, after, limit: PAGE })
            if (Option.isSome(after)) yield* checkResumeCursor(store, selector.account, after.value)
            // Not set to false here: the queue may have overflowed in the meantime.
            if (page.hasMore) listener.isBehind = true
            return position.advance(page.items)
          })

          const read = Effect.suspend(() => {
            if (listener.isBehind) return readStore()
            const changes = listener.take()
            if (changes.length > 0) return Effect.succeed(position.advance(changes))
            // No yield since `take`: every change up to `handedOut` has been taken.
            return Effect.succeed(listener.takeHeartbeat() ? position.heartbeat(handedOut) : [])
          })
          const takeQueued = () => (listener.isBehind ? [] : position.advance(listener.take()))
          return { read, takeQueued, onReady: (wake: () => void) => listener.onReady(wake) }
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
  /** Whether the store has to be read: at first, and after the queue was dropped. */
  isBehind = true
  private queue: Array<Change> = []
  private queuedBytes = 0
  private idleSeconds = 0
  private wake: (() => void) | undefined

  constructor(selector: MatchSelector) {
    this.selector = selector
  }

  push(change: Change, bytes: number): void {
    const { rules, platforms } = this.selector
    const { match } = change
    if (!platforms.includes(match.platform)) return
    if (Option.exists(rules, (ids) => !ids.includes(match.rule_id))) return
    this.queue.push(change)
    this.queuedBytes += bytes
    if (this.queue.length > MAX_QUEUED || this.queuedBytes > MAX_QUEUED_BYTES) {
      this.isBehind = true
      this.take()
    }
  }

  take(): ReadonlyArray<Change> {
    const { queue } = this
    if (queue.length > 0) this.idleSeconds = 0
    this.queue = []
    this.queuedBytes = 0
    return queue
  }

  tick(): void {
    this.idleSeconds++
  }

  /** True once per quiet period. */
  takeHeartbeat(): boolean {
    const isDue = this.isHeartbeatDue
    if (isDue) this.idleSeconds = 0
    return isDue
  }

  /** Calls `wake` once, for changes or a heartbeat. */
  onReady(wake: () => void): void {
    this.wake = wake
    this.wakeIfReady()
  }

  wakeIfReady(): boolean {
    const { wake } = this
    if (wake === undefined || !(this.isBehind || this.queue.length > 0 || this.isHeartbeatDue)) return false
    this.wake = undefined
    wake()
    return true
  }

  private get isHeartbeatDue(): boolean {
    return this.idleSeconds >= HEARTBEAT_SECONDS
  }
}
