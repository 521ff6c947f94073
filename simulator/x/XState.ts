/** The state of X for one app: rules, streams, published posts and usage. */

import { Either } from "effect"
import { ascendingIds } from "../../adapters/demo/addresses.ts"
import { NamedRules } from "../../core/engine/NamedRules.ts"
import { DAY_MILLIS } from "../../core/model/Timestamp.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { xEvent } from "../../core/syntax/x/event.ts"
import * as Language from "../../core/syntax/x/language.ts"
import type { JsonObject } from "../../core/text/json.ts"
import { blockingIssues } from "../blockingIssues.ts"
import type { Cap, World } from "../World.ts"
import { Posts } from "./Posts.ts"
import { PublishedPosts } from "./PublishedPosts.ts"
import { planOf } from "./plan.ts"
import { detailsOf } from "./ruleErrors.ts"
import { Usage } from "./Usage.ts"

export interface XRule {
  readonly id: string
  readonly value: string
  readonly tag?: string
  readonly canonical: string
  readonly activeAt: number
}

/** A published post and the rules that matched it. */
export interface MatchedPost {
  readonly id: string
  readonly at: number
  /** When it reaches the streams. */
  readonly arrivesAt: number
  readonly payload: JsonObject
  readonly matchingRules: ReadonlyArray<{ readonly id: string; readonly tag?: string }>
}

/** A published post and the rules that it meets, also those that are not in effect yet. */
export interface PostTruth {
  readonly id: string
  /** In milliseconds. */
  readonly at: number
  readonly rules: ReadonlyArray<{ readonly id: string; readonly value: string }>
}

export interface XStream {
  readonly id: string
  readonly openedAt: number
  readonly closedAt: number | undefined
  readonly disconnectReason: string | undefined
  readonly sent: number
  readonly isOpen: boolean
  /** Replays a past time range and then ends; uses no slot of the live stream. */
  readonly isRecovery: boolean
  readonly holdsSlot: (now: number) => boolean
  readonly offer: (post: MatchedPost) => void
  /** Sends a last line, if given, and ends the stream. */
  readonly end: (line: string | undefined, reason: string) => void
  /** Ends the stream, or frees the slot that a disconnected client still holds. */
  readonly kill: (now: number) => void
}

/** A valid rule, or the details of why X refuses it. */
export type CheckedRule =
  | { readonly canonical: string; readonly expression: Expression }
  | { readonly details: ReadonlyArray<string> }

export class XState {
  readonly world: World
  readonly rules = new Map<string, XRule>()
  /** Open streams, and the most recent closed ones. */
  readonly streams: Array<XStream> = []
  readonly usage: Usage
  /** Matched posts of the last 24 hours, oldest first. */
  readonly history: Array<MatchedPost> = []
  /** Of the newest posts that meet a rule, oldest first. */
  readonly truth: Array<PostTruth> = []
  readonly posts = new PublishedPosts()
  published = 0
  readonly postsById = new Posts()
  private readonly engine = new NamedRules({ seed: 1 })
  private readonly nextId = ascendingIds()

  constructor(world: World) {
    this.world = world
    this.usage = new Usage(world)
  }

  ruleCap(now: number): Cap {
    return this.world.effectiveCap("x", "rules", planOf(this.world.settings).ruleCap, now)
  }

  connectionCap(now: number): Cap {
    return this.world.effectiveCap("x", "connections", planOf(this.world.settings).connectionCap, now)
  }

  check(value: string): CheckedRule {
    const { settings } = this.world
    const { maxRuleLength } = planOf(settings)
    // The rule language counts UTF-16 code units: a surrogate pair is two of them, but one code point.
    const pairs = settings.x.length_counts === "utf-16" ? 0 : value.length - Array.from(value).length
    const { rule, issues } = Language.check(value, { maxLength: maxRuleLength + pairs })
    const blocking = blockingIssues(issues, settings.x.refused_warnings)
    return rule === undefined || blocking.length > 0
      ? { details: detailsOf(value, blocking, maxRuleLength) }
      : { canonical: Language.print(rule.ast), expression: Language.lower(rule.ast) }
  }

  newRuleId(now: number): string {
    return String(this.nextId(now))
  }

  addRule(rule: XRule, expression: Expression): void {
    this.rules.set(rule.id, rule)
    this.engine.set(rule.id, expression)
  }

  deleteRule(id: string): boolean {
    if (!this.rules.delete(id)) return false
    this.engine.delete(id)
    this.world.notify()
    return true
  }

  dropRules(): void {
    for (const id of [...this.rules.keys()]) this.deleteRule(id)
  }

  /** Left is the error for an invalid post. Right is the number of matched rules. */
  publish(payload: JsonObject, now: number): Either.Either<number, string> {
    return Either.map(xEvent(payload), (event) => {
      this.published++
      this.posts.add(payload, now)
      this.postsById.add(event.id, payload)
      const met = this.engine
        .match(event)
        .flatMap((id) => this.rules.get(id) ?? [])
        .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
      if (met.length > 0) this.addTruth({ id: event.id, at: now, rules: met.map(({ id, value }) => ({ id, value })) })
      const matched = met.filter(({ activeAt }) => activeAt <= now)
      if (matched.length === 0) return 0
      const matchingRules = matched.map(({ id, tag }) => ({ id, ...(tag !== undefined && { tag }) }))
      const post = { id: event.id, at: now, arrivesAt: now + this.delayMillis(), payload, matchingRules }
      this.addToHistory(post, now)
      for (const stream of this.openStreams()) stream.offer(post)
      return matched.length
    })
  }

  openStreams(): ReadonlyArray<XStream> {
    return this.streams.filter(({ isOpen }) => isOpen)
  }

  /** Open streams, and those whose client left without X noticing yet. */
  activeStreams(now: number): ReadonlyArray<XStream> {
    return this.streams.filter((stream) => stream.holdsSlot(now))
  }

  addStream(stream: XStream): void {
    this.streams.push(stream)
    const closed = this.streams.findIndex(({ isOpen }) => !isOpen)
    if (this.streams.length > MAX_STREAMS && closed >= 0) this.streams.splice(closed, 1)
  }

  /** Taken slots of the live stream, including those still held for disconnected clients. */
  takenSlots(now: number): number {
    return this.streams.filter((stream) => !stream.isRecovery && stream.holdsSlot(now)).length
  }

  private delayMillis(): number {
    const { late_posts_percent, late_seconds } = this.world.settings.x
    return late_posts_percent > 0 && this.world.random.chance(late_posts_percent / 100) ? late_seconds * 1_000 : 0
  }

  private addTruth(truth: PostTruth): void {
    this.truth.push(truth)
    if (this.truth.length > MAX_HISTORY) this.truth.splice(0, MAX_HISTORY / 2)
  }

  private addToHistory(post: MatchedPost, now: number): void {
    this.history.push(post)
    while (this.history.length > MAX_HISTORY || (this.history[0]?.at ?? now) < now - DAY_MILLIS) this.history.shift()
  }
}

// ---- helpers ----

const MAX_HISTORY = 100_000
const MAX_STREAMS = 1_000
