/**
 * Enforces the limits of accounts. Counters are in memory, so a check costs no query. Servers on one Postgres exchange
 * their counters every second: together they exceed a limit by at most what they admit within a second.
 */
import { Clock, Context, Effect, Either, Layer, Option, Schedule, type Scope } from "effect"
import { Entropy } from "../model/Entropy.ts"
import { LimitReached, type StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import { Ownership } from "../ownership/Ownership.ts"
import { Platforms } from "../platforms/Platform.ts"
import { hold } from "../work/hold.ts"
import { metered } from "../work/turns.ts"
import { type Defaults, isPlain, type LimitName, rulesOn, WINDOW_SECONDS, type WindowLimit } from "./Limit.ts"
import { type Count, LimitStore } from "./LimitStore.ts"

/** The state of the limit on requests after a request was counted. */
export interface Rate {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

export class Quotas extends Context.Tag("core/Quotas")<
  Quotas,
  {
    /**
     * Counts a request. None without a limit. Succeeds or fails synchronously, except once every few seconds. `beyond`: by
     * how many requests the limit may be exceeded, by default 0.
     */
    readonly admit: (account: AccountId, beyond?: number) => Effect.Effect<Option.Option<Rate>, LimitReached>
    /** 0: no limit. */
    readonly limitOf: (account: AccountId, name: LimitName) => Effect.Effect<number>
    /** Fails if the limit is reached already. */
    readonly check: (account: AccountId, name: WindowLimit) => Effect.Effect<void, LimitReached>
    /** May exceed the limit: it fails only the next check. */
    readonly spend: (account: AccountId, name: WindowLimit, amount: number) => Effect.Effect<void>
    /** Runs a check or backtest and counts the time that it works. */
    readonly whileChecking: <A, E, R>(
      account: AccountId,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | LimitReached, R>
    /** Fails if no further stream may be opened. */
    readonly checkStreams: (account: AccountId) => Effect.Effect<void, LimitReached>
    /** Counts a stream as open until the scope closes. */
    readonly openStream: (account: AccountId) => Effect.Effect<void, LimitReached, Scope.Scope>
    /** Runs at most a few effects of one account at a time; others of the account wait. Keeps room for other accounts. */
    readonly withSlot: <A, E, R>(account: AccountId, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Used in the present window, and of streams on this server. */
    readonly used: (account: AccountId, name: WindowLimit | "streams") => Effect.Effect<number>
    /** None: back to the default. Takes effect here at once, on other servers within seconds. */
    readonly setLimit: (
      account: AccountId,
      name: LimitName,
      value: Option.Option<number>
    ) => Effect.Effect<void, StoreUnavailable>
  }
>() {
  static readonly layerWith = (options: {
    readonly defaults: Defaults
  }): Layer.Layer<Quotas, never, LimitStore | Platforms | Entropy> =>
    Layer.scoped(
      Quotas,
      Effect.gen(function* () {
        const store = yield* LimitStore
        const platforms = yield* Platforms
        const clock = yield* Effect.clock
        const server = (yield* Entropy).uuid()
        const counters = new Counters()
        const streams = new Map<AccountId, number>()
        const active = new Map<AccountId, Slots>()
        const cache = new Map<AccountId, Known>()

        const load = (account: AccountId, now: number) =>
          Effect.map(
            // While the store is down the last known limits apply.
            Effect.orElseSucceed(store.limitsOf(account), () => cache.get(account)?.own ?? NONE),
            (own): Known => {
              if (cache.size >= CACHE_SIZE) cache.clear()
              const known = { own, until: now + CACHE_MILLIS }
              cache.set(account, known)
              return known
            }
          )

        const ownLimits = (account: AccountId, now: number): Effect.Effect<Known> => {
          const known = cache.get(account)
          return known !== undefined && now < known.until ? Effect.succeed(known) : load(account, now)
        }

        const defaultOf = (name: LimitName): Effect.Effect<number> =>
          isPlain(name)
            ? Effect.succeed(options.defaults[name])
            : Effect.map(platforms.all, (all) => {
                const platform = all.find(({ id }) => rulesOn(id) === name)
                return Option.getOrElse(platform?.capabilities.rulesPerAccount ?? Option.none(), () => 0)
              })

        const limitOf = (account: AccountId, name: LimitName) =>
          Effect.gen(function* () {
            const { own } = yield* ownLimits(account, yield* Clock.currentTimeMillis)
            return own.get(name) ?? (yield* defaultOf(name))
          })

        const count = (
          account: AccountId,
          { own }: Known,
          { now, beyond }: { now: number; beyond: number }
        ): Either.Either<Option.Option<Rate>, LimitReached> => {
          const limit = own.get("requests") ?? options.defaults.requests
          if (limit === 0) return Either.right(Option.none())
          const used = counters.used(account, "requests", windowAt(now))
          const resetSeconds = secondsLeft(now)
          if (used >= limit + beyond) {
            return Either.left(new LimitReached({ name: "requests", limit, used, retryAfterSeconds: resetSeconds }))
          }
          counters.add(account, "requests", windowAt(now), 1)
          return Either.right(Option.some({ limit, remaining: Math.max(0, limit - used - 1), resetSeconds }))
        }

        const admit = (account: AccountId, beyond = 0) =>
          Effect.suspend(() => {
            const now = clock.unsafeCurrentTimeMillis()
            return Effect.flatMap(ownLimits(account, now), (known) => count(account, known, { now, beyond }))
          })

        const check = (account: AccountId, name: WindowLimit) =>
          Effect.gen(function* () {
            const limit = yield* limitOf(account, name)
            const now = yield* Clock.currentTimeMillis
            const used = counters.used(account, name, windowAt(now))
            if (limit === 0 || used < limit) return
            return yield* new LimitReached({
              name,
              limit,
              used: Math.round(used),
              retryAfterSeconds: secondsLeft(now)
            })
          })

        const checkStreams = (account: AccountId) =>
          Effect.flatMap(limitOf(account, "streams"), (limit) => streamsLeft(account, limit))

        /** Checks and counts in one step: streams that are opened at the same moment cannot all find the last place. */
        const countStream = (account: AccountId) =>
          Effect.flatMap(limitOf(account, "streams"), (limit) =>
            Either.map(streamsLeft(account, limit), () => changeStreams(account, 1))
          )

        const changeStreams = (account: AccountId, change: 1 | -1) => {
          const open = (streams.get(account) ?? 0) + change
          if (open === 0) streams.delete(account)
          else streams.set(account, open)
        }

        const streamsLeft = (account: AccountId, limit: number): Either.Either<void, LimitReached> => {
          const used = streams.get(account) ?? 0
          return limit > 0 && used >= limit
            ? Either.left(new LimitReached({ name: "streams", limit, used }))
            : Either.void
        }

        // Not Effect's semaphore: without it, `GET /api.ListRules` takes a tenth less CPU. An interrupted fiber skips
        // `run`, but not its observers.
        const withSlot = <A, E, R>(account: AccountId, effect: Effect.Effect<A, E, R>) =>
          Effect.withFiberRuntime<A, E, R>((fiber) => {
            const slots = active.get(account) ?? { running: 0, waiting: [] }
            active.set(account, slots)
            const own: Slot = { state: "waiting", wake: () => {} }
            const leave = () => {
              if (own.state === "running") handOver(account, slots)
              else if (own.state === "waiting") slots.waiting.splice(slots.waiting.indexOf(own), 1)
              own.state = "left"
            }
            fiber.addObserver(leave)
            const run = Effect.matchCauseEffect(effect, {
              onFailure: (cause) => {
                leave()
                return Effect.failCause(cause)
              },
              onSuccess: (value) => {
                leave()
                return Effect.succeed(value)
              }
            })
            if (slots.running < SLOTS) {
              slots.running++
              own.state = "running"
              return run
            }
            slots.waiting.push(own)
            const turn = Effect.async<void>((resume) => {
              own.wake = () => resume(Effect.void)
              if (own.state === "running") own.wake()
            })
            return Effect.zipRight(turn, run)
          })

        const handOver = (account: AccountId, slots: Slots) => {
          const next = slots.waiting.shift()
          if (next !== undefined) {
            next.state = "running"
            next.wake()
          } else if (--slots.running === 0) active.delete(account)
        }

        const share = Effect.gen(function* () {
          const counts = counters.all(windowAt(yield* Clock.currentTimeMillis))
          if (counts.length > 0) counters.setOthers(yield* store.shareCounts(server, counts))
        })
        if (!(yield* Ownership).isAlone) {
          // While the store is down every server counts alone.
          yield* Effect.forkScoped(Effect.repeat(Effect.ignore(share), Schedule.spaced("1 second")))
        }

        const spend = (account: AccountId, name: WindowLimit, amount: number) =>
          Effect.map(Clock.currentTimeMillis, (now) => counters.add(account, name, windowAt(now), amount))

        return Quotas.of({
          admit,
          limitOf,
          check,
          spend,
          whileChecking: (account, effect) =>
            Effect.zipRight(
              check(account, "checks"),
              metered(effect, (seconds) => spend(account, "checks", seconds))
            ),
          withSlot,
          checkStreams,
          openStream: (account) => hold(countStream(account), () => Effect.sync(() => changeStreams(account, -1))),
          used: (account, name) =>
            Effect.map(Clock.currentTimeMillis, (now) =>
              name === "streams" ? (streams.get(account) ?? 0) : counters.used(account, name, windowAt(now))
            ),
          setLimit: (account, name, value) =>
            Effect.zipRight(
              store.setLimit(account, name, value),
              Effect.sync(() => cache.delete(account))
            )
        })
      })
    )
}

// ---- helpers ----

/** Requests of one account that run at the same time. */
const SLOTS = 4

interface Slots {
  running: number
  readonly waiting: Array<Slot>
}

/** One effect that runs or waits. */
interface Slot {
  state: "waiting" | "running" | "left"
  wake: () => void
}

const CACHE_MILLIS = 5_000
const CACHE_SIZE = 10_000
const NONE: ReadonlyMap<string, number> = new Map()

interface Known {
  readonly own: ReadonlyMap<string, number>
  readonly until: number
}

const WINDOW_MILLIS = WINDOW_SECONDS * 1_000

/** Aligned to the clock, so that all servers have the same windows. */
const windowAt = (now: number): number => Math.floor(now / WINDOW_MILLIS)

/** Until the next window, at least 1. */
export const secondsLeft = (now: number): number => Math.ceil((WINDOW_MILLIS - (now % WINDOW_MILLIS)) / 1_000)

/** What accounts used in the present window. */
class Counters {
  private window = 0
  private accounts = new Map<AccountId, Map<WindowLimit, { own: number; others: number }>>()

  used(account: AccountId, limit: WindowLimit, window: number): number {
    this.moveTo(window)
    const counter = this.accounts.get(account)?.get(limit)
    return counter === undefined ? 0 : counter.own + counter.others
  }

  add(account: AccountId, limit: WindowLimit, window: number, amount: number): void {
    this.moveTo(window)
    this.counterOf(account, limit).own += amount
  }

  /** What this server counted. */
  all(window: number): ReadonlyArray<Count> {
    this.moveTo(window)
    return [...this.accounts].flatMap(([account, limits]) =>
      [...limits].map(([limit, { own }]) => ({ account, limit, window, used: own }))
    )
  }

  setOthers(counts: ReadonlyArray<Count>): void {
    for (const { account, limit, window, used } of counts) {
      if (window === this.window) this.counterOf(account, limit).others = used
    }
  }

  private counterOf(account: AccountId, limit: WindowLimit) {
    const limits = this.accounts.get(account) ?? new Map()
    this.accounts.set(account, limits)
    const counter = limits.get(limit) ?? { own: 0, others: 0 }
    limits.set(limit, counter)
    return counter
  }

  /** Forgets the last window. */
  private moveTo(window: number): void {
    if (window === this.window) return
    this.window = window
    this.accounts.clear()
  }
}
