/** The match use cases. The gateway and the CLI call nothing below this. */
import { Array as Arr, Context, Deferred, Effect, Layer, Option, Schema, type Scope } from "effect"
import { Coverage } from "../coverage/Coverage.ts"
import { makeCoverageChanges } from "../coverage/coverageChanges.ts"
import { makeCoverageOf } from "../coverage/coverageOf.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import {
  type CursorExpired,
  InvalidArgument,
  type LimitReached,
  type MatchNotFound,
  RuleNotFound,
  ServerStopping,
  type StoreUnavailable
} from "../model/Errors.ts"
import { type AccountId, asRuleId, MatchId, type RuleId, timeOf } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { cursorField, nextCursor, pageFields } from "../model/paging.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { WholeNumber, wholeNumber } from "../model/wholeNumber.ts"
import { Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { yieldIfTurnIsLong } from "../work/turns.ts"
import { endOf } from "./Bars.ts"
import { checkCursor, checkNotInFuture, checkResumeCursor } from "./checkCursor.ts"
import { barsOf, checkWork, type Histogram, type HistogramQuery, histogramOf } from "./Histogram.ts"
import { LiveMatches, type LiveReader, type LiveUpdate, nextUpdates } from "./LiveMatches.ts"
import { Match, Redaction, redactionOf } from "./Match.ts"
import { type MatchSelector, MatchStore, type RecentCounts } from "./MatchStore.ts"
import { ownMatch } from "./ownMatch.ts"

export const MatchQuery = Schema.Struct({
  rule_id: optional(Schema.String.annotations({ description: "Only matches of this rule" })),
  platform: optional(PlatformId),
  ...pageFields(MatchId)
})
export type MatchQuery = typeof MatchQuery.Type

export const WatchQuery = Schema.Struct({
  rule_id: MatchQuery.fields.rule_id,
  platform: MatchQuery.fields.platform,
  cursor: cursorField(MatchId, {
    expected: "Expected the id of a match",
    description: "The id of the last match you have seen: matches after it come first. Without it, only new matches"
  })
})
export type WatchQuery = typeof WatchQuery.Type

const MAX_AT_LEAST = 50
const DEFAULT_WAIT_LIMIT = 20

export const WaitQuery = Schema.Struct({
  rule_id: MatchQuery.fields.rule_id,
  platform: MatchQuery.fields.platform,
  cursor: cursorField(MatchId, {
    expected: "Expected the cursor of an earlier response, or the id of a match",
    description:
      "The cursor of the last response, or the id of a match: returns matches after it. Without it, only new matches"
  }),
  timeout_seconds: wholeNumber({
    max: 55,
    fallback: 25,
    description: "How long to wait"
  }),
  at_least: optional(
    WholeNumber({ min: 1, max: MAX_AT_LEAST }).annotations({
      jsonSchema: {
        type: "integer",
        minimum: 1,
        maximum: MAX_AT_LEAST,
        default: 1,
        description: "How many matches to wait for. After the timeout, those that came"
      }
    })
  ),
  limit: optional(
    WholeNumber({ min: 1, max: 100 }).annotations({
      jsonSchema: {
        type: "integer",
        minimum: 1,
        maximum: 100,
        default: DEFAULT_WAIT_LIMIT,
        description: "The maximum number of matches. The default is at_least if that is more"
      }
    })
  )
})
export type WaitQuery = typeof WaitQuery.Type

export const WaitResult = Schema.Struct({
  matches: Schema.Array(Match).annotations({ description: "Oldest first" }),
  cursor: MatchId.annotations({
    jsonSchema: {
      type: "string",
      description: "Send it as cursor in the next request: no match or redaction is missed or repeated"
    }
  }),
  timed_out: Schema.Boolean.annotations({ description: "True if fewer matches than at_least came in time" }),
  redacted: optional(
    Schema.Array(Redaction),
    "Matches whose payload was removed since the cursor, such as posts deleted on the platform: remove your copies. Absent if there are none"
  ),
  coverage: Schema.propertySignature(Coverage).annotations({
    description:
      "When the platforms were watched since the cursor, or since the request: tells a quiet period from a gap"
  })
})
export type WaitResult = typeof WaitResult.Type

export type ResolvedWatchQuery = WatchQuery & { readonly cursor: MatchId }

/** `CoverageChanged`: a gap began, ended, was recovered or is gone, or a period is in doubt. It has no id of its own. */
export type MatchUpdate = LiveUpdate | { readonly _tag: "CoverageChanged"; readonly coverage: Coverage }

export type WatchFailure = InvalidArgument | RuleNotFound | CursorExpired | LimitReached | StoreUnavailable

export const MatchList = Schema.Struct({
  matches: Schema.Array(Match),
  next_cursor: nextCursor(MatchId),
  coverage: Schema.propertySignature(Coverage).annotations({
    description: "When the platforms were watched: tells a quiet period from a gap"
  })
})
export type MatchList = typeof MatchList.Type

export class Matches extends Context.Tag("core/Matches")<
  Matches,
  {
    /**
     * Newest first. Without `rule_id`: all rules of the account. Fails with `CursorExpired` if the next page
     * was deleted.
     */
    readonly list: (account: AccountId, query: MatchQuery) => Effect.Effect<MatchList, WatchFailure>
    readonly get: (account: AccountId, id: string) => Effect.Effect<Match, MatchNotFound | StoreUnavailable>
    /**
     * The cursor at which `listen` starts: the query's, or the current watermark. Fails like `listen`, so that a caller
     * can report the error before it opens a stream.
     */
    readonly startCursor: (account: AccountId, query: WatchQuery) => Effect.Effect<MatchId, WatchFailure>
    /** Counts a stream of the account as open until the scope closes. For callers of `listen`. */
    readonly countStream: (account: AccountId) => Effect.Effect<void, LimitReached, Scope.Scope>
    /**
     * Delivers the matches and redactions after `cursor`, then each new one: exactly once, in the order of ids. Fails
     * if the rule is deleted, never ends by itself. Pull-based: a slow reader falls back to reading the store. Delivers
     * the coverage since the cursor, too: at the start if it has gaps, and when they change, after the next heartbeat at
     * the latest.
     */
    readonly listen: (
      account: AccountId,
      query: ResolvedWatchQuery
    ) => Effect.Effect<LiveReader<MatchUpdate, WatchFailure>, WatchFailure, Scope.Scope>
    /** The number of stored matches over time. */
    readonly histogram: (
      account: AccountId,
      query: HistogramQuery
    ) => Effect.Effect<Histogram, InvalidArgument | RuleNotFound | StoreUnavailable>
    /** The counts of these rules, of any account. Without rules that have no stored matches. */
    readonly recentCounts: (
      rules: ReadonlyArray<RuleId>
    ) => Effect.Effect<ReadonlyMap<RuleId, RecentCounts>, StoreUnavailable>
    /** The number of stored matches of these rules, of any account. Without rules that have none. */
    readonly totals: (rules: ReadonlyArray<RuleId>) => Effect.Effect<ReadonlyMap<RuleId, number>, StoreUnavailable>
    /** Long polling: returns as soon as there are `at_least` matches, or `limit` redactions. */
    readonly wait: (account: AccountId, query: WaitQuery) => Effect.Effect<WaitResult, WatchFailure | ServerStopping>
    /** The server stops: every `wait` fails at once, those that begin later too. */
    readonly stopWaiting: Effect.Effect<void>
  }
>() {
  static readonly layer: Layer.Layer<
    Matches,
    never,
    MatchStore | LiveMatches | RuleStore | StreamStore | Platforms | Quotas
  > = Layer.effect(
    Matches,
    Effect.gen(function* () {
      const rules = yield* RuleStore
      const registry = yield* Platforms
      const store = yield* MatchStore
      const live = yield* LiveMatches
      const quotas = yield* Quotas
      const clock = yield* Effect.clock
      const coverageOf = makeCoverageOf({ streams: yield* StreamStore, rules })
      const coverageChanges = makeCoverageChanges(coverageOf)
      const stopping = yield* Deferred.make<never, ServerStopping>()

      const selectorFor = Effect.fnUntraced(function* (
        account: AccountId,
        { rule_id, platform }: Pick<MatchQuery, "rule_id" | "platform">
      ) {
        const rule = rule_id === undefined ? Option.none() : asRuleId(rule_id)
        if (rule_id !== undefined && !(Option.isSome(rule) && (yield* rules.exists(account, rule.value)))) {
          return yield* new RuleNotFound({ ruleId: rule_id })
        }
        const platforms = platform === undefined ? yield* registry.ids : [platform]
        return { account, rules: Option.map(rule, Arr.of), platforms }
      })

      // Untraced: a span would cost as much as the rest of the request.
      const list = Effect.fnUntraced(function* (account: AccountId, query: MatchQuery) {
        const selector = yield* selectorFor(account, query)
        const now = clock.unsafeCurrentTimeMillis()
        const before = Option.fromNullable(query.cursor)
        if (Option.isSome(before)) yield* checkNotInFuture(store, before.value)
        // The coverage first: a gap may be recovered while the page is read. Reading both at once costs a tenth more CPU.
        const coverageIn = yield* coverageOf(coverageSelectorOf(selector))
        const { items: matches, hasMore, bytes } = yield* store.list({ ...selector, before, limit: query.limit })
        const next = hasMore ? Option.fromNullable(matches.at(-1)) : Option.none()
        const from = Option.orElse(
          Option.map(next, ({ id }) => timeOf(id)),
          () => Option.map(selector.rules, ([rule]) => timeOf(rule))
        )
        // Read after the page: see `checkCursor`.
        const floor = Option.isSome(before) || Option.isNone(next) ? yield* store.floor(account) : Option.none()
        if (Option.isSome(before)) yield* checkCursor(floor, before.value)
        const keptSince = Option.map(floor, timeOf).pipe(
          Option.filter((floor) => Option.isNone(next) && !Option.exists(from, (from) => from > floor))
        )
        const coverage = coverageIn({
          from,
          to: Option.match(before, { onNone: () => now, onSome: (id) => Math.min(timeOf(id), now) })
        })
        if (bytes > LARGE_PAGE) yield* yieldIfTurnIsLong
        return {
          matches,
          ...(Option.isSome(next) && { next_cursor: next.value.id }),
          coverage: {
            ...coverage,
            ...(Option.isSome(keptSince) && { kept_since: Timestamp.fromMillis(keptSince.value) })
          }
        }
      })

      const get = (account: AccountId, id: string) =>
        Effect.flatMap(registry.ids, (platforms) => ownMatch(store, { account, platforms }, id))

      const histogram = Effect.fnUntraced(function* (account: AccountId, query: HistogramQuery) {
        const now = clock.unsafeCurrentTimeMillis()
        const bars = yield* barsOf(query, now)
        const selector = yield* selectorFor(account, query)
        if (Option.isNone(selector.rules)) {
          const perPlatform = yield* Effect.forEach(selector.platforms, (platform) => rules.count(account, platform))
          yield* checkWork(
            bars,
            perPlatform.reduce((sum, count) => sum + count, 0)
          )
        }
        const counted = yield* store.counts({ ...selector, bars, isPerRule: query.by === "rule" })
        const keptSince = Option.filter(Option.map(yield* store.floor(account), timeOf), (floor) => floor > bars.from)
        const coverageIn = yield* coverageOf(coverageSelectorOf(selector))
        yield* yieldIfTurnIsLong
        return {
          ...histogramOf(counted, bars, query.by),
          coverage: {
            ...coverageIn({ from: Option.some(bars.from), to: Math.min(endOf(bars), now) }),
            ...(Option.isSome(keptSince) && { kept_since: Timestamp.fromMillis(keptSince.value) })
          }
        }
      })

      const recentCounts = (ids: ReadonlyArray<RuleId>) =>
        Effect.gen(function* () {
          const found = yield* store.recentCounts({
            rules: ids,
            platforms: yield* registry.ids,
            now: clock.unsafeCurrentTimeMillis()
          })
          return new Map(found.map((one) => [one.rule, one]))
        })

      const startCursor = Effect.fnUntraced(function* (account: AccountId, query: WatchQuery) {
        yield* selectorFor(account, query)
        yield* quotas.checkStreams(account)
        if (query.cursor === undefined) return yield* store.watermark
        yield* checkNotInFuture(store, query.cursor)
        yield* checkResumeCursor(store, account, query.cursor)
        return query.cursor
      })

      const listenTo = Effect.fnUntraced(function* (wanted: Selector, query: ResolvedWatchQuery) {
        const { account } = wanted
        const { read, takeQueued, onReady } = yield* live.listen(wanted, Option.some(query.cursor))
        // An outage of the store does not end the stream.
        const checkRule = Effect.catchTag(selectorFor(account, query), "StoreUnavailable", () => Effect.void)
        const checkedRead = Effect.tap(read, ([first]) => (first?._tag === "Heartbeat" ? checkRule : Effect.void))
        return { read: checkedRead, takeQueued, onReady }
      })

      const listen = Effect.fnUntraced(function* (account: AccountId, query: ResolvedWatchQuery) {
        const wanted = yield* selectorFor(account, query)
        const { read, takeQueued, onReady } = yield* listenTo(wanted, query)
        const { isDue, changed } = yield* coverageChanges(coverageSelectorOf(wanted), timeOf(query.cursor))
        const readAll = Effect.flatMap(changed, (coverage): Effect.Effect<ReadonlyArray<MatchUpdate>, WatchFailure> => {
          if (Option.isNone(coverage)) return read
          return Effect.succeed([{ _tag: "CoverageChanged", coverage: coverage.value }])
        })
        return { read: readAll, takeQueued: () => (isDue() ? [] : takeQueued()), onReady }
      })

      const wait = Effect.fnUntraced(function* (account: AccountId, query: WaitQuery) {
        const { timeout_seconds, at_least = 1, limit = Math.max(DEFAULT_WAIT_LIMIT, at_least), ...wanted } = query
        if (at_least > limit) {
          const message = `Expected at most ${limit}, which is the limit`
          return yield* new InvalidArgument({ issues: [{ path: "at_least", message }] })
        }
        const start = yield* startCursor(account, wanted)
        yield* quotas.openStream(account)
        const selector = yield* selectorFor(account, wanted)
        const next = nextUpdates(yield* listenTo(selector, { ...wanted, cursor: start }))
        let cursor = start
        const matches: Array<Match> = []
        const redacted: Array<Redaction> = []
        const isFull = () => matches.length === limit || redacted.length >= limit
        const take = (updates: ReadonlyArray<LiveUpdate>) => {
          for (const update of updates) {
            if (isFull()) return
            cursor = update.id
            if (update._tag === "Matched") matches.push(update.match)
            if (update._tag === "Redacted") redacted.push(redactionOf(update.match))
          }
        }
        yield* next.pipe(
          Effect.map(take),
          Effect.repeat({ until: () => matches.length >= at_least || isFull() }),
          Effect.timeoutOption(timeout_seconds * 1_000),
          Effect.raceFirst(Deferred.await(stopping))
        )
        yield* yieldIfTurnIsLong
        const coverageIn = yield* coverageOf(coverageSelectorOf(selector))
        const now = clock.unsafeCurrentTimeMillis()
        return {
          matches,
          cursor,
          timed_out: matches.length < at_least && !isFull(),
          ...(redacted.length > 0 && { redacted }),
          coverage: coverageIn({ from: Option.some(Math.min(timeOf(start), now)), to: now })
        }
      }, Effect.scoped)

      return Matches.of({
        list,
        get,
        histogram,
        recentCounts,
        totals: store.totals,
        startCursor,
        countStream: quotas.openStream,
        listen,
        wait,
        stopWaiting: Deferred.fail(stopping, new ServerStopping())
      })
    })
  )
}

// ---- helpers ----

/** In bytes. Encoding a larger page takes about a millisecond or more. */
const LARGE_PAGE = 100_000

/** At most one rule. */
interface Selector extends MatchSelector {
  readonly rules: Option.Option<Arr.NonEmptyArray<RuleId>>
}

const coverageSelectorOf = ({ account, rules, platforms }: Selector) => ({
  account,
  rule: Option.map(rules, ([rule]) => rule),
  platforms
})
