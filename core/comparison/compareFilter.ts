/** The use case that compares a candidate filter with that of a rule, at once: on its stored matches and the recent events. */
import { Effect, Option, Schema } from "effect"
import { Backtests, Basis, basisOf } from "../backtests/Backtests.ts"
import type { Match } from "../matches/Match.ts"
import { Matches } from "../matches/Matches.ts"
import {
  InvalidArgument,
  type LimitReached,
  type PlatformNotConfigured,
  type RuleNotFound,
  type StoreUnavailable
} from "../model/Errors.ts"
import { type AccountId, MatchId, RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { wholeNumber } from "../model/wholeNumber.ts"
import { type Platform, Platforms } from "../platforms/Platform.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { checkDraft } from "../rules/Drafting.ts"
import { RuleDraft, type RuleVersion } from "../rules/Rule.ts"
import { Rules } from "../rules/Rules.ts"
import { firstAsNow } from "../rules/versions.ts"
import { counted } from "../text/counted.ts"
import { inTurns, withMeter } from "../work/turns.ts"
import { type Compared, Comparison } from "./Comparison.ts"

const count = (description: string) =>
  Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0 }, description })

export const CompareFilterRequest = Schema.Struct({
  rule_id: Schema.String,
  overrides: RuleDraft.fields.overrides.annotations({
    description: "The candidate: one filter for each platform of the rule on which to compare"
  }),
  matches: wholeNumber({ min: 0, max: 10_000, fallback: 1_000 }).annotations({
    description: "How many of the newest stored matches of the rule to test, on each platform"
  }),
  events: wholeNumber({ min: 0, max: 100_000, fallback: 10_000 }).annotations({
    description: "How many of the newest events of each platform to test, limited by how many the server keeps"
  }),
  samples: wholeNumber({ min: 0, max: 20, fallback: 3 }).annotations({
    description: "How many lost and how many gained events to return"
  })
})
export type CompareFilterRequest = typeof CompareFilterRequest.Type

const Kept = Schema.Struct({
  count: count("How many events"),
  stored: count("How many of them are stored matches of the rule")
})

const Changed = Schema.Struct({
  ...Kept.fields,
  decided_by: Schema.Array(
    Schema.Struct({ clause: Schema.String, count: count("On how many of the events") })
  ).annotations({
    description: "The clauses of the filter that does not match, without which it would: the most frequent ten"
  }),
  samples: Schema.Array(
    Schema.Struct({
      match_id: optional(MatchId, "Of a stored match"),
      payload: Schema.Record({ key: Schema.String, value: Schema.Unknown })
    })
  ).annotations({ description: "The newest of them, stored matches first" })
})

const Tested = {
  tested: count("How many were tested"),
  from: optional(Timestamp.Timestamp, "When the oldest that was tested was stored or received")
}

export const FilterComparison = Schema.Struct({
  present: Schema.String.annotations({ description: "The filter of the rule" }),
  candidate: Schema.String.annotations({ description: "The candidate in canonical form" }),
  kept: Kept.annotations({ description: "What both match" }),
  lost: Changed.annotations({ description: "What only the rule matches" }),
  gained: Changed.annotations({ description: "What only the candidate matches" }),
  basis: Schema.Struct({
    stored: Schema.Struct(Tested).annotations({ description: "The stored matches of the rule" }),
    recent: Schema.Struct({ ...Tested, basis: Basis }).annotations({
      description: "The recent events beside them: those that all accounts share and those that your account sent"
    }),
    not_covered: Schema.Array(Schema.String).annotations({ description: "What was not tested, and why" })
  }),
  incomplete: optional(Schema.String, "Why the comparison stopped early. Absent if it did not")
}).annotations({ identifier: "FilterComparison" })
export type FilterComparison = typeof FilterComparison.Type

export const CompareFilterResult = Schema.Struct({
  rule_id: RuleId,
  platforms: Schema.Record({ key: PlatformId, value: FilterComparison })
})
export type CompareFilterResult = typeof CompareFilterResult.Type

/** Stores and registers nothing. Counts as a check of the account. */
export const compareFilter = (
  account: AccountId,
  request: CompareFilterRequest
): Effect.Effect<CompareFilterResult, CompareFailure, Services> =>
  Effect.gen(function* () {
    const quotas = yield* Quotas
    return yield* quotas.whileChecking(account, compareAll(account, request))
  })

// ---- helpers ----

type Services = Backtests | Matches | Platforms | Quotas | Rules

type CompareFailure = InvalidArgument | RuleNotFound | PlatformNotConfigured | LimitReached | StoreUnavailable

const compareAll = (account: AccountId, request: CompareFilterRequest) =>
  Effect.gen(function* () {
    const { get, versions } = yield* Rules
    const rule = yield* get(account, request.rule_id)
    const wanted = Object.keys(request.overrides)
    if (wanted.length === 0) return yield* invalid("overrides", "Is empty: send a filter")
    const foreign = wanted.find((platform) => rule.platforms[platform] === undefined)
    if (foreign !== undefined) {
      return yield* invalid(
        `overrides.${foreign}`,
        `The rule does not watch "${foreign}", so there is nothing to compare with: check_rule and POST /rules/check backtest a filter`
      )
    }
    const services = { platforms: yield* Platforms, quotas: yield* Quotas }
    const filters = yield* checkDraft(services, account, { platforms: wanted, overrides: request.overrides })
    const history = yield* versions(account, rule.id)
    const platforms: Record<PlatformId, FilterComparison> = {}
    for (const { platform, text } of filters) {
      const task = { account, request, platform, candidate: text, history, rule: rule.id }
      platforms[platform.id] = yield* compareOn(task)
    }
    return { rule_id: rule.id, platforms }
  })

interface Task {
  readonly account: AccountId
  readonly request: CompareFilterRequest
  readonly platform: Platform
  readonly candidate: string
  /** Newest first. */
  readonly history: ReadonlyArray<RuleVersion>
  readonly rule: RuleId
}

const compareOn = ({ account, request, platform, candidate, history, rule }: Task) =>
  Effect.gen(function* () {
    const { id, language } = platform
    const present = history[0]?.overrides[id] ?? ""
    const expressionOf = (text: string) => {
      const { rule: parsed, issues } = language.check(text, { fixes: "none" })
      return parsed !== undefined
        ? Effect.succeed(parsed.expression)
        : invalid("rule_id", `The filter on "${id}" is no longer valid: ${issues[0]?.message ?? ""}`)
    }
    const comparison = new Comparison({
      format: language.events,
      present: { text: present, expression: yield* expressionOf(present) },
      candidate: { text: candidate, expression: yield* expressionOf(candidate) },
      maxSamples: request.samples
    })
    const first = firstAsNow(history, [id])?.version ?? 1
    const stored = yield* testStored({ account, rule, platform: id, first, limit: request.matches }, comparison)
    const { scan } = yield* Backtests
    const isScanned = request.events > 0 && stored.incomplete === undefined
    const note = isScanned
      ? yield* scan({ account, platform: id, events: request.events }, comparison)
      : Option.none<string>()
    const { tested, ...found } = comparison.result()
    const stopped =
      stored.incomplete ?? Option.getOrUndefined(Option.filter(note, (text) => text.startsWith("Stopped")))
    const basis = basisOf(platform)
    return {
      present,
      candidate,
      ...found,
      basis: {
        stored: tested.stored,
        recent: { ...tested.recent, basis },
        not_covered: [
          ...stored.notCovered,
          ...unreadable(tested),
          ...(isScanned && stopped === undefined ? Option.toArray(note) : []),
          ...(isScanned ? [] : ["Recent events: none were tested"]),
          ...(basis === "matched_events"
            ? [
                `Events that match no rule of this server: ${language.keepsOnlyMatches === true ? "this server does not keep them" : `${id} does not send them`}, so the candidate may gain more than was found`
              ]
            : [])
        ]
      },
      ...(stopped !== undefined && { incomplete: stopped })
    }
  })

const unreadable = ({ unreadable }: Compared["tested"]): ReadonlyArray<string> =>
  unreadable === 0 ? [] : [`${counted(unreadable, "event")} that could not be parsed`]

/** Of its own turns. */
const MAX_WORK_SECONDS = 5

const MATCHES_PER_PAGE = 100

interface Stored {
  readonly account: AccountId
  readonly rule: RuleId
  readonly platform: PlatformId
  /** The first version of the rule with its present filter. */
  readonly first: number
  readonly limit: number
}

/** Tests the stored matches of the rule, newest first. */
const testStored = ({ account, rule, platform, first, limit }: Stored, comparison: Comparison) =>
  withMeter((workedSeconds) =>
    Effect.gen(function* () {
      const { list } = yield* Matches
      const notCovered: Array<string> = []
      let redacted = 0
      let left = limit
      let cursor: MatchId | undefined
      let incomplete: string | undefined
      const isOfPresent = ({ rule_version }: Match) => rule_version >= first
      while (left > 0) {
        const query = { rule_id: rule, platform, limit: Math.min(left, MATCHES_PER_PAGE) }
        const page = yield* list(account, { ...query, ...(cursor !== undefined && { cursor }) }).pipe(
          // Retention deleted the rest of the list meanwhile.
          Effect.catchTag("CursorExpired", () => Effect.succeed({ matches: [], next_cursor: undefined }))
        )
        const own = page.matches.filter(isOfPresent)
        const shown = own.filter((match) => match.redacted === undefined)
        redacted += own.length - shown.length
        yield* inTurns(comparison.testMatches(shown))
        left -= page.matches.length
        cursor = page.next_cursor
        if (own.length < page.matches.length) {
          notCovered.push(`Matches of versions before ${first}, in which the rule had another filter on ${platform}`)
          break
        }
        if (cursor === undefined) break
        if (left <= 0) notCovered.push(`Older matches: only the newest ${limit} were tested`)
        else if (workedSeconds() >= MAX_WORK_SECONDS) {
          incomplete = `Stopped after ${MAX_WORK_SECONDS} seconds of work: older matches and the recent events were not tested`
          break
        }
      }
      if (limit === 0) notCovered.push("Stored matches: none were tested")
      if (redacted > 0)
        notCovered.push(`${counted(redacted, "redacted match", "redacted matches")}, whose payload is gone`)
      return { notCovered, incomplete }
    })
  )

const invalid = (path: string, message: string) => new InvalidArgument({ issues: [{ path, message }] })
