/** The match use cases. Every door calls this and nothing below it. */
import { Clock, Context, Effect, identity, Layer, Option, Schema, type Scope } from "effect"
import { Coverage } from "../coverage/Coverage.ts"
import { makeCoverageOf } from "../coverage/coverageOf.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import { type CursorExpired, RuleNotFound, type StorageUnavailable } from "../model/Errors.ts"
import { type AccountId, asRuleId, MatchId, timeOf } from "../model/Ids.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Platforms } from "../platforms/Platform.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { checkCursor, checkNothingMissed } from "./checkCursor.ts"
import { LiveMatches, type Next } from "./LiveMatches.ts"
import { Match } from "./Match.ts"
import { MatchStore } from "./MatchStore.ts"

export const MatchQuery = Schema.Struct({
  rule_id: Schema.optionalWith(Schema.String.annotations({ description: "Only matches of this rule" }), {
    exact: true
  }),
  platform: Schema.optionalWith(PlatformId, { exact: true }),
  limit: wholeNumber({ max: 500, fallback: 50 }),
  cursor: cursorField({
    expected: "Expected the next_cursor of an earlier answer",
    description: "The next_cursor of an earlier answer: the page after it"
  })
})
export type MatchQuery = typeof MatchQuery.Type

export const WatchQuery = Schema.Struct({
  rule_id: MatchQuery.fields.rule_id,
  platform: MatchQuery.fields.platform,
  cursor: cursorField({
    expected: "Expected the id of a match",
    description: "The id of the last match that was seen: what came after it comes first. Without it, only new ones"
  })
})
export type WatchQuery = typeof WatchQuery.Type

export const WaitQuery = Schema.Struct({
  rule_id: MatchQuery.fields.rule_id,
  platform: MatchQuery.fields.platform,
  cursor: cursorField({
    expected: "Expected the cursor of an earlier answer, or the id of a match",
    description:
      "The cursor of the last answer, or the id of a match: what came after it. Without it, only what comes from now on"
  }),
  timeout_seconds: wholeNumber({
    max: 55,
    fallback: 25,
    description: "How long to wait when there is no match yet"
  }),
  limit: wholeNumber({ max: 100, fallback: 20, description: "How many matches to give at most" })
})
export type WaitQuery = typeof WaitQuery.Type

export const WaitResult = Schema.Struct({
  matches: Schema.Array(Match).annotations({ description: "Oldest first" }),
  cursor: MatchId.annotations({
    jsonSchema: {
      type: "string",
      description: "Send it as cursor next time: nothing is missed and nothing comes twice"
    }
  }),
  timed_out: Schema.Boolean.annotations({ description: "True when no match came in time" })
})
export type WaitResult = typeof WaitResult.Type

/** A query that is known to begin somewhere. */
export type Started = WatchQuery & { readonly cursor: MatchId }

export type WatchFailure = RuleNotFound | CursorExpired | StorageUnavailable

export const MatchList = Schema.Struct({
  matches: Schema.Array(Match),
  next_cursor: Schema.optionalWith(
    MatchId.annotations({
      jsonSchema: { type: "string", description: "Send it as cursor for the next page; absent on the last one" }
    }),
    { exact: true }
  ),
  coverage: Schema.propertySignature(Coverage).annotations({
    description: "What of the time that this answer is about was watched: whether nothing happened, or nobody looked"
  })
})
export type MatchList = typeof MatchList.Type

export class Matches extends Context.Tag("core/Matches")<
  Matches,
  {
    /**
     * Newest first, down to the oldest that is kept. Without `rule_id`: of all rules of the account. Fails with
     * `CursorExpired` when the cursor points to where matches are deleted by now.
     */
    readonly list: (
      account: AccountId,
      query: MatchQuery
    ) => Effect.Effect<MatchList, RuleNotFound | CursorExpired | StorageUnavailable>
    /**
     * Where a watch of this begins: at its cursor, or behind all there is. Fails as the watch would, so that a door can
     * say so before it opens; a watch with this as its cursor misses nothing that is stored from now on.
     */
    readonly startOf: (account: AccountId, query: WatchQuery) => Effect.Effect<MatchId, WatchFailure>
    /**
     * What came after `cursor`, oldest first, and then each match as it is stored: every one once, in the order of their
     * ids. Fails when its rule is deleted, never ends by itself. Who asks rarely is read for rarely: nothing piles up.
     */
    readonly listen: (
      account: AccountId,
      query: Started
    ) => Effect.Effect<Next<WatchFailure>, WatchFailure, Scope.Scope>
    /** For who cannot hold a stream open: answers as soon as there is a match, with all there are up to the limit. */
    readonly wait: (account: AccountId, query: WaitQuery) => Effect.Effect<WaitResult, WatchFailure>
  }
>() {
  static readonly layer: Layer.Layer<Matches, never, MatchStore | LiveMatches | RuleStore | StreamStore | Platforms> =
    Layer.effect(
      Matches,
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const platforms = yield* Platforms
        const store = yield* MatchStore
        const live = yield* LiveMatches
        const coverageOf = yield* makeCoverageOf(yield* StreamStore)

        const wantedBy = Effect.fnUntraced(function* (
          account: AccountId,
          { rule_id, platform }: Pick<MatchQuery, "rule_id" | "platform">
        ) {
          const rule = rule_id === undefined ? Option.none() : asRuleId(rule_id)
          if (rule_id !== undefined && !(Option.isSome(rule) && (yield* rules.exists(account, rule.value)))) {
            return yield* new RuleNotFound({ ruleId: rule_id })
          }
          return { account, rule, platforms: platform === undefined ? yield* platforms.ids : [platform] }
        })

        // Untraced: a span would cost as much as the rest of the request.
        const list = Effect.fnUntraced(function* (account: AccountId, query: MatchQuery) {
          const { rule, platforms } = yield* wantedBy(account, query)
          const now = yield* Clock.currentTimeMillis
          const before = Option.fromNullable(query.cursor)
          const found = yield* store.list({ account, rule, platforms, before, limit: query.limit + 1 })
          const matches = found.slice(0, query.limit)
          const next = found.length > query.limit ? Option.fromNullable(matches.at(-1)) : Option.none()
          const from = Option.orElse(
            Option.map(next, ({ id }) => timeOf(id)),
            () => Option.map(rule, timeOf)
          )
          // After the page was read: see `checkCursor`.
          const floor = Option.isSome(before) || Option.isNone(next) ? yield* store.floor : Option.none()
          if (Option.isSome(before)) yield* checkCursor(floor, before.value)
          const keptSince = Option.map(floor, timeOf).pipe(
            Option.filter((floor) => Option.isNone(next) && !Option.exists(from, (from) => from > floor))
          )
          const coverage = yield* coverageOf(platforms, {
            from,
            to: Option.match(before, { onNone: () => now, onSome: (id) => Math.min(timeOf(id), now) })
          })
          return {
            matches,
            ...(Option.isSome(next) && { next_cursor: next.value.id }),
            coverage: {
              ...coverage,
              ...(Option.isSome(keptSince) && { kept_since: Timestamp.fromMillis(keptSince.value) })
            }
          }
        })

        const startOf = Effect.fnUntraced(function* (account: AccountId, query: WatchQuery) {
          yield* wantedBy(account, query)
          if (query.cursor === undefined) return yield* store.mark
          yield* checkNothingMissed(store, query.cursor)
          return query.cursor
        })

        const listen = Effect.fnUntraced(function* (account: AccountId, query: Started) {
          const wanted = yield* wantedBy(account, query)
          const next = yield* live.listen(wanted, Option.some(query.cursor))
          // A store that is away for a while is no reason to send anybody off.
          const isStillThere = Effect.catchTag(wantedBy(account, query), "StorageUnavailable", () => Effect.void)
          return Effect.tap(next, ([first]) => (first?._tag === "Reached" ? isStillThere : Effect.void))
        })

        const wait = Effect.fnUntraced(function* (account: AccountId, query: WaitQuery) {
          const { timeout_seconds, limit, ...wanted } = query
          let cursor = yield* startOf(account, wanted)
          const next = yield* listen(account, { ...wanted, cursor })
          const matches = yield* next.pipe(
            Effect.map((heard) => {
              for (const one of heard) if (one._tag === "Reached") cursor = one.id
              return heard.flatMap((one) => (one._tag === "Matched" ? [one.match] : [])).slice(0, limit)
            }),
            Effect.repeat({ until: (matches) => matches.length > 0 }),
            Effect.timeoutTo({ duration: timeout_seconds * 1_000, onSuccess: identity, onTimeout: () => [] })
          )
          return { matches, cursor: matches.at(-1)?.id ?? cursor, timed_out: matches.length === 0 }
        }, Effect.scoped)

        return Matches.of({ list, startOf, listen, wait })
      })
    )
}

// ---- helpers ----

/** `expected` is what is said of one that is none. */
function cursorField({ expected, description }: { expected: string; description: string }) {
  return Schema.optionalWith(
    MatchId.annotations({
      message: () => ({ message: expected, override: true }),
      jsonSchema: { type: "string", description }
    }),
    { exact: true }
  )
}

function wholeNumber({ max, fallback, ...documented }: { max: number; fallback: number; description?: string }) {
  const message = `Expected a whole number from 1 to ${max}`
  return Schema.optionalWith(
    Schema.Number.pipe(Schema.filter((n) => (Number.isInteger(n) && n >= 1 && n <= max) || message)).annotations({
      jsonSchema: { type: "integer", minimum: 1, maximum: max, default: fallback, ...documented }
    }),
    { exact: true, default: () => fallback }
  )
}
