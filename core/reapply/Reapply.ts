/** The use case that adds matches of earlier events: runs the present filters of a rule over the recent events. */
import { Context, Effect, Either, Layer, Option, Schema } from "effect"
import { Backtests, type Visitor } from "../backtests/Backtests.ts"
import type { LoggedEvent } from "../backtests/EventLog.ts"
import type { Language } from "../languages/Language.ts"
import { addLater } from "../matches/addLater.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { Payload } from "../matches/Payload.ts"
import { Entropy } from "../model/Entropy.ts"
import type { LimitReached, RuleNotFound, StoreUnavailable } from "../model/Errors.ts"
import { type AccountId, Ids, RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import type { Rule } from "../rules/Rule.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { Rules } from "../rules/Rules.ts"
import { evaluateInTurns } from "../syntax/expression/evaluate.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { jsonOf } from "../text/json.ts"
import { Pace, type Turns } from "../work/turns.ts"

export const ReapplyRequest = Schema.Struct({
  rule_id: Schema.String,
  since: optional(Timestamp.FromRequest, "Only events received since then. Without it: all recent events")
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
      from: optional(Timestamp.Timestamp, "When the oldest event tested was received; absent if there was none"),
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
    /** Works for at most ten seconds per platform. Coverage stays as it is: the events of a gap are not there to be tested. */
    readonly run: (
      account: AccountId,
      request: ReapplyRequest
    ) => Effect.Effect<Reapplied, RuleNotFound | LimitReached | StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<
    Reapply,
    never,
    Rules | RuleStore | MatchStore | Backtests | Platforms | Quotas | Ids | Entropy
  > = Layer.effect(
    Reapply,
    Effect.gen(function* () {
      const rules = yield* Rules
      const store = yield* RuleStore
      const matches = yield* MatchStore
      const { scan } = yield* Backtests
      const platforms = yield* Platforms
      const quotas = yield* Quotas
      const ids = yield* Ids
      const { sha256 } = yield* Entropy

      /** `found`: newest first. */
      const add = (rule: Rule, platform: PlatformId, found: ReadonlyArray<Found>) =>
        Effect.gen(function* () {
          const created_at = yield* Timestamp.now
          const events = found.toReversed().map(({ postId, json }) => ({
            created_at,
            platform,
            platform_post_id: postId,
            payload: new Payload(json)
          }))
          return yield* addLater({ matches, ids }, rule, events)
        })

      const run = Effect.fn("Reapply.run")(function* (account: AccountId, { rule_id, since }: ReapplyRequest) {
        const rule = yield* rules.get(account, rule_id)
        const from = since === undefined ? 0 : Date.parse(since)
        const result: Record<PlatformId, Reapplied["platforms"][PlatformId]> = {}
        for (const { platform, text } of yield* store.registrations(rule.id)) {
          const found = yield* Effect.option(platforms.get(platform))
          if (Option.isNone(found)) continue
          const { language } = found.value
          const expression = language.check(text, { fixes: "none" }).rule?.expression
          if (expression === undefined) continue
          const search = new Search(language, expression, from, sha256)
          const note = yield* quotas.whileChecking(account, scan({ account, platform, events: ALL }, search))
          const added = yield* add(rule, platform, search.found)
          result[platform] = { ...search.result(note), added }
        }
        return { rule_id: rule.id, platforms: result }
      })

      return Reapply.of({ run })
    })
  )
}

// ---- helpers ----

/** As many as the server keeps. */
const ALL = Number.MAX_SAFE_INTEGER

/** In characters of JSON. */
const MAX_FOUND = 32 * 1024 * 1024

interface Found {
  readonly postId: string
  readonly json: string
}

/** Expects events newest first. */
class Search implements Visitor {
  readonly found: Array<Found> = []
  private isComplete = true
  private hasEnded = false
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

  *visit(events: ReadonlyArray<LoggedEvent>): Turns<void> {
    for (const { receivedAt, json } of events) {
      if (receivedAt < this.since || this.size > MAX_FOUND) {
        this.isComplete = receivedAt < this.since
        this.hasEnded = true
        return
      }
      yield* this.testOne(receivedAt, json)
    }
  }

  isDone(): boolean {
    return this.hasEnded
  }

  /** `note`: why fewer events were visited than wanted. If there was none at all, none was left out. */
  result(note: Option.Option<string>) {
    return {
      tested: this.tested,
      matched: this.found.length,
      ...(this.oldest !== undefined && { from: Timestamp.fromMillis(this.oldest) }),
      is_complete: this.isComplete && (Option.isNone(note) || this.tested === 0)
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
