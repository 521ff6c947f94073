/** The use case that adds matches of earlier events: runs the present filters of a rule over the recent events. */
import { Clock, Context, Effect, Either, Layer, Option, Schema, Stream } from "effect"
import { type LoggedEvent, ownLog } from "../backtests/EventLog.ts"
import { RecentEvents } from "../backtests/RecentEvents.ts"
import type { Language } from "../languages/Language.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { Entropy } from "../model/Entropy.ts"
import type { LimitReached, RuleNotFound, StoreUnavailable } from "../model/Errors.ts"
import { type AccountId, Ids, RuleId } from "../model/Ids.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { Rules } from "../rules/Rules.ts"
import { evaluateInTurns } from "../syntax/expression/evaluate.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { jsonOf } from "../text/json.ts"
import { inTurns, Pace, type Turns } from "../work/turns.ts"

export const ReapplyRequest = Schema.Struct({
  rule_id: Schema.String,
  since: Schema.optionalWith(
    Timestamp.FromRequest.annotations({
      description: "Only events received since then. Without it: all recent events"
    }),
    { exact: true }
  )
})
export type ReapplyRequest = typeof ReapplyRequest.Type

const count = (description: string) =>
  Schema.Int.annotations({ jsonSchema: { type: "integer", minimum: 0 }, description })

export const Reapplied = Schema.Struct({
  rule_id: RuleId,
  platforms: Schema.Record({
    key: PlatformId,
    value: Schema.Struct({
      tested: count("The number of recent events that were tested"),
      matched: count("How many of them match"),
      added: count("How many of these the rule did not have yet"),
      from: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
        description: "When the oldest event tested was received; absent if there was none"
      }),
      is_complete: Schema.Boolean.annotations({
        description: "False if older events were left out: there were too many, or it took too long"
      })
    })
  })
})
export type Reapplied = typeof Reapplied.Type

export class Reapply extends Context.Tag("core/Reapply")<
  Reapply,
  {
    /** Takes at most ten seconds per platform. Coverage stays as it is: the events of a gap are not there to be tested. */
    readonly run: (
      account: AccountId,
      request: ReapplyRequest
    ) => Effect.Effect<Reapplied, RuleNotFound | LimitReached | StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<
    Reapply,
    never,
    Rules | RuleStore | MatchStore | RecentEvents | Platforms | Quotas | Ids | Entropy
  > = Layer.effect(
    Reapply,
    Effect.gen(function* () {
      const rules = yield* Rules
      const store = yield* RuleStore
      const matches = yield* MatchStore
      const recent = yield* RecentEvents
      const platforms = yield* Platforms
      const quotas = yield* Quotas
      const ids = yield* Ids
      const { sha256 } = yield* Entropy

      /** The recent events that the filter matches, newest first. */
      const find = (account: AccountId, language: Language, expression: Expression, since: number) =>
        Effect.gen(function* () {
          const search = new Search(language, expression, since, sha256)
          const end = (yield* Clock.currentTimeMillis) + MAX_MILLIS
          yield* recent.newest([language.id, ownLog(language.id, account)], recent.keep).pipe(
            Stream.takeUntilEffect(({ events }) =>
              Effect.gen(function* () {
                yield* inTurns(search.test(events.toReversed()))
                if ((yield* Clock.currentTimeMillis) >= end) search.isComplete = false
                return search.isDone
              })
            ),
            Stream.runDrain
          )
          return search
        })

      const add = (
        rule: { readonly id: RuleId; readonly version: number },
        platform: PlatformId,
        found: ReadonlyArray<Found>
      ) =>
        Effect.gen(function* () {
          let added = 0
          for (let at = 0; at < found.length; at += BATCH) {
            const batch = found.slice(at, at + BATCH)
            const newIds = yield* ids.matches(batch.length)
            const created_at = yield* Timestamp.now
            added += yield* matches.insert(
              batch.flatMap(({ postId, json }, index) => {
                const id = newIds[index]
                const payload = jsonOf(json)
                if (id === undefined || typeof payload !== "object" || payload === null) return []
                return [
                  {
                    id,
                    rule_id: rule.id,
                    rule_version: rule.version,
                    created_at,
                    platform,
                    platform_post_id: postId,
                    payload: payload as Record<string, unknown>,
                    reapplied: true as const
                  }
                ]
              })
            )
          }
          return added
        }).pipe(Effect.catchTag("MatchesUnstorable", Effect.die))

      const run = Effect.fn("Reapply.run")(function* (account: AccountId, { rule_id, since }: ReapplyRequest) {
        const rule = yield* rules.get(account, rule_id)
        const from = since === undefined ? 0 : Date.parse(since)
        const result: Record<PlatformId, Reapplied["platforms"][PlatformId]> = {}
        for (const { platform, text } of yield* store.registrations(rule.id)) {
          const found = yield* Effect.option(platforms.get(platform))
          if (Option.isNone(found)) continue
          const { language } = found.value
          const expression = language.check(text).rule?.expression
          if (expression === undefined) continue
          const search = yield* quotas.whileChecking(account, find(account, language, expression, from))
          const added = yield* add(rule, platform, search.found.toReversed())
          result[platform] = { ...search.result(), added }
        }
        return { rule_id: rule.id, platforms: result }
      })

      return Reapply.of({ run })
    })
  )
}

// ---- helpers ----

const MAX_MILLIS = 10_000

/** In characters of JSON. */
const MAX_FOUND = 32 * 1024 * 1024

const BATCH = 200

interface Found {
  readonly postId: string
  readonly json: string
}

/** Expects events newest first. */
class Search {
  readonly found: Array<Found> = []
  isComplete = true
  isDone = false
  private readonly language: Language
  private readonly expression: Expression
  private readonly since: number
  private readonly digest: (text: string) => string
  private readonly pace = new Pace()
  private readonly seen = new Set<string>()
  private tested = 0
  private size = 0
  private oldest: number | undefined

  constructor(language: Language, expression: Expression, since: number, digest: (text: string) => string) {
    this.language = language
    this.expression = expression
    this.since = since
    this.digest = digest
  }

  *test(events: ReadonlyArray<LoggedEvent>): Turns<void> {
    for (const { receivedAt, json } of events) {
      if (receivedAt < this.since || this.size > MAX_FOUND) {
        this.isComplete = receivedAt < this.since
        this.isDone = true
        return
      }
      yield* this.testOne(receivedAt, json)
    }
  }

  result() {
    return {
      tested: this.tested,
      matched: this.found.length,
      ...(this.oldest !== undefined && { from: Timestamp.fromMillis(this.oldest) }),
      is_complete: this.isComplete
    }
  }

  private *testOne(receivedAt: number, json: string): Turns<void> {
    const { events } = this.language
    const record = jsonOf(json)
    const event = events.read(record, receivedAt)
    const id = events.idOf(record, this.digest)
    if (Either.isLeft(event) || Either.isLeft(id) || this.seen.has(id.right)) return
    this.tested++
    this.oldest = receivedAt
    if (!(yield* evaluateInTurns(this.expression, event.right, this.pace))) return
    this.seen.add(id.right)
    this.found.push({ postId: id.right, json })
    this.size += json.length
  }
}
