/** Finds out whether a quiet stream is deaf: X can send keep-alives for hours and no posts. */
import { Effect, Option } from "effect"
import type { Platform, Signal } from "../../core/platforms/Platform.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import type { Ended } from "../http/supervised.ts"
import { endedDeaf, endedUnproved } from "./endings.ts"

export interface Verdict {
  readonly ended?: Ended
  readonly suspected?: Extract<Signal, { _tag: "Suspected" }>
}

/** Whether X itself counts posts of these rules since `since` (milliseconds). None if X does not say. */
export type HadPosts = (ruleIds: ReadonlyArray<string>, since: number) => Effect.Effect<Option.Option<boolean>>

/** A count of posts proves that there were some. Without operators that had to be left out, 0 proves that there were none. */
export const hadPosts =
  (known: KnownRules, countRecent: NonNullable<Platform["countRecent"]>): HadPosts =>
  (ruleIds, since) =>
    Effect.gen(function* () {
      let hasAnswer = false
      for (const id of ruleIds) {
        const text = known.textOf(id)
        const counted = text === undefined ? Option.none() : yield* Effect.option(countRecent(text, since))
        if (Option.isNone(counted) || counted.value.without.length > 0) continue
        if (counted.value.total > 0) return Option.some(true)
        hasAnswer = true
      }
      return hasAnswer ? Option.some(false) : Option.none()
    })

/** All times in milliseconds. */
export class QuietWatch {
  private readonly hadPosts: HadPosts
  private quietSince = 0
  private suspectedUntil = 0
  /** How long the stream may be quiet until the next look. */
  private patience = MIN_QUIET_MILLIS
  /** Rules of the latest posts, newest last. */
  private ruleIds: ReadonlyArray<string> = []

  constructor(hadPosts: HadPosts) {
    this.hadPosts = hadPosts
  }

  connectionOpened(now: number): void {
    this.quietSince = Math.max(this.quietSince, now)
    this.patience = MIN_QUIET_MILLIS
  }

  postReceived(now: number, ruleIds: ReadonlyArray<string>): void {
    this.quietSince = now
    this.patience = MIN_QUIET_MILLIS
    this.ruleIds = [...new Set([...this.ruleIds, ...ruleIds])].slice(-MAX_RULES)
  }

  /** Asks X at growing intervals while the stream is quiet. Only its answer proves that posts were missed. */
  check(now: number): Effect.Effect<Verdict> {
    return Effect.gen(this, function* () {
      const quietFor = now - this.quietSince
      if (quietFor < this.patience || this.ruleIds.length === 0) return {}
      const since = this.quietSince
      const answer = yield* this.hadPosts(this.ruleIds, since + LATENESS_MILLIS)
      const isPatient = this.patience >= MAX_QUIET_MILLIS
      this.patience = isPatient ? this.patience + MAX_QUIET_MILLIS : Math.min(2 * this.patience, MAX_QUIET_MILLIS)
      if (Option.contains(answer, false)) return {}
      if (Option.isSome(answer)) return { ended: endedDeaf(since) }
      const minutes = Math.round(quietFor / 60_000)
      const detail = `No post came for ${minutes} min, and X did not say whether there were any`
      const suspected = { _tag: "Suspected", from: Math.max(since, this.suspectedUntil), to: now, detail } as const
      this.suspectedUntil = now
      return quietFor < MAX_QUIET_MILLIS ? { suspected } : { suspected, ended: endedUnproved(minutes, now) }
    })
  }
}

// ---- helpers ----

const MIN_QUIET_MILLIS = 10 * 60_000
const MAX_QUIET_MILLIS = 6 * 60 * 60_000

/** A post comes up to some seconds after X has counted it. */
const LATENESS_MILLIS = 15_000

/** Each costs a call. */
const MAX_RULES = 3
