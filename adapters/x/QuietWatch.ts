/**
 * Finds out whether posts were missed while the stream was quiet: X can send keep-alives for hours and no posts. Only X's
 * own counts are proof.
 */
import { Effect, Option, type Queue } from "effect"
import type { Period, Signal } from "../../core/platforms/Platform.ts"
import type { Ended } from "../http/supervised.ts"
import type { CountPosts } from "./countPosts.ts"
import { endedDeaf, endedUnproved, POSTS_MISSING } from "./endings.ts"

export interface Verdict {
  readonly ended?: Ended
  readonly suspected?: Extract<Signal, { _tag: "Suspected" }>
}

/** All times in milliseconds. */
export class QuietWatch {
  private readonly countPosts: CountPosts
  private readonly quietPeriods: Queue.Enqueue<Period>
  private quietSince: number | undefined
  private suspectedUntil = 0
  /** How long the stream may be quiet until the next look. */
  private patience = MIN_QUIET_MILLIS
  /** Received lately, oldest first. */
  private posts: Array<{ readonly at: number; readonly ruleIds: ReadonlyArray<string> }> = []

  /** `quietPeriods` gets the periods that are over and still have to be looked at. */
  constructor(options: { readonly countPosts: CountPosts; readonly quietPeriods: Queue.Enqueue<Period> }) {
    this.countPosts = options.countPosts
    this.quietPeriods = options.quietPeriods
  }

  /** `cutAt`: when the connection before it was last known to be open. */
  connectionOpened(now: number, cutAt: number | undefined): void {
    if (cutAt !== undefined) this.quietUntil(cutAt)
    this.quietSince = now
    this.patience = MIN_QUIET_MILLIS
  }

  postReceived(now: number): void {
    this.quietUntil(now)
    this.quietSince = now
    this.patience = MIN_QUIET_MILLIS
  }

  /** `createdAt`: of the post. */
  remember(createdAt: number, ruleIds: ReadonlyArray<string>): void {
    this.posts.push({ at: createdAt, ruleIds })
    if (this.posts.length >= 2 * MAX_POSTS) this.posts = this.posts.slice(-MAX_POSTS)
  }

  /** Asks X at growing intervals while the stream is quiet. */
  check(now: number): Effect.Effect<Verdict> {
    return Effect.gen(this, function* () {
      const since = this.quietSince
      if (since === undefined || now - since < this.patience) return {}
      const quietFor = now - since
      const isPatient = this.patience >= MAX_QUIET_MILLIS
      this.patience = isPatient ? this.patience + MAX_QUIET_MILLIS : Math.min(2 * this.patience, MAX_QUIET_MILLIS)
      const missed = yield* this.missedIn({ from: since, to: now - COUNT_DELAY_MILLIS })
      if (missed === "none") return {}
      if (missed !== "unknown") return { ended: endedDeaf(missed.from) }
      if (quietFor < SUSPICIOUS_MILLIS) return {}
      const minutes = Math.round(quietFor / 60_000)
      const suspected = this.suspicionOf({ from: Math.max(since, this.suspectedUntil), to: now })
      this.suspectedUntil = now
      return quietFor < MAX_QUIET_MILLIS ? { suspected } : { suspected, ended: endedUnproved(minutes) }
    })
  }

  /** For a quiet period that is over. Waits until X has counted its posts. */
  lookAt(period: Period, now: number): Effect.Effect<Option.Option<Signal>> {
    return Effect.gen(this, function* () {
      yield* Effect.sleep(Math.max(0, period.to + COUNT_DELAY_MILLIS - now))
      const missed = yield* this.missedIn(period)
      if (missed === "none") return Option.none()
      if (missed !== "unknown") return Option.some({ _tag: "Lost", ...missed, cause: "stall", detail: POSTS_MISSING })
      const isSuspicious = period.to - Math.max(period.from, this.suspectedUntil) >= SUSPICIOUS_MILLIS
      return isSuspicious ? Option.some(this.suspicionOf(period)) : Option.none()
    })
  }

  private missedIn(period: Period): Effect.Effect<Missed> {
    return Effect.map(this.countPosts({ from: period.from + 1, to: period.to }), (counts): Missed => {
      if (Option.isNone(counts)) return "unknown"
      const { parts, ruleIds, isPartial } = counts.value
      const received = ({ from, to }: Period) =>
        this.posts.filter(({ at, ruleIds: ids }) => at >= from && at < to && ids.some((id) => ruleIds.has(id))).length
      const missed = parts.filter((part) => part.total > received(part))
      const [first, last] = [missed[0], missed.at(-1)]
      if (first === undefined || last === undefined) return "none"
      // Other rules may have missed posts at other times.
      if (isPartial) return period
      return { from: Math.max(first.from, period.from), to: Math.min(last.to, period.to) }
    })
  }

  private quietUntil(at: number): void {
    if (this.quietSince === undefined || at - this.quietSince < MIN_LOOK_MILLIS) return
    this.quietPeriods.unsafeOffer({ from: this.quietSince, to: at })
  }

  private suspicionOf(period: Period): Extract<Signal, { _tag: "Suspected" }> {
    const detail = `No post came for ${Math.round((period.to - period.from) / 60_000)} min, and X did not say whether there were any`
    return { _tag: "Suspected", ...period, detail }
  }
}

// ---- helpers ----

/** The part of a quiet period in which posts were missed. "unknown": X does not say. */
type Missed = Period | "none" | "unknown"

/** Until the first look at a quiet stream. */
const MIN_QUIET_MILLIS = 60_000
const MAX_QUIET_MILLIS = 6 * 60 * 60_000

/** A shorter quiet period is not looked at when it is over: each look costs a call. */
const MIN_LOOK_MILLIS = 20_000

/** Without an answer from X. */
const SUSPICIOUS_MILLIS = 10 * 60_000

/** X counts a post with a delay. */
const COUNT_DELAY_MILLIS = 40_000

const MAX_POSTS = 2_000
