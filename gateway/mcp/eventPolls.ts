/** Polls for events, on the operations that every interface has. */
import { Clock, Effect, Either, Option, Schema } from "effect"
import { matches } from "../../api/matches.ts"
import { rules } from "../../api/rules.ts"
import type { Match, Redaction } from "../../core/matches/Match.ts"
import type { WaitResult } from "../../core/matches/Matches.ts"
import { firstMatchIdAt, MatchId, timeOf } from "../../core/model/Ids.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import type { EventData } from "../../core/webhooks/EventData.ts"
import { type EventBody, gapEvent, matchEvent, redactionEvent } from "../../core/webhooks/eventMessages.ts"
import {
  type FoundGap,
  gapCursorOf,
  gapsIn,
  gapsSince,
  isGapCursor,
  isLost,
  MAX_AGE_MILLIS
} from "../../core/webhooks/gapMessages.ts"
import type { EventName } from "../../core/webhooks/Subscription.ts"
import { type EventSelection, namedRules, notACursor } from "../../core/webhooks/Subscriptions.ts"
import { decoder } from "../decode.ts"
import { toWire } from "../errors.ts"
import type { Call, CallError } from "./calls.ts"
import { presentCursor } from "./cursors.ts"

export interface Poll {
  readonly name: EventName
  readonly selection: EventSelection
  /** None: no events, only a cursor. */
  readonly cursor: Option.Option<string>
  readonly maxAgeMs: number
  readonly maxEvents: number
  /** How long to wait for the first event. */
  readonly timeoutMs: number
}

export interface Polled {
  readonly events: ReadonlyArray<EventBody>
  readonly cursor: string
  readonly hasMore: boolean
  /** Retention or `maxAgeMs` has cut events since the cursor. */
  readonly isCut: boolean
  /** Gaps in which events were lost since the cursor. Empty if there are none. */
  readonly lost: string
}

export interface PollServices<R> {
  readonly call: Call<R>
  readonly data: EventData["Type"]
  readonly newSecret: () => string
}

export const poll = <R>(services: PollServices<R>, wanted: Poll): Effect.Effect<Polled, CallError, R> =>
  wanted.name === "coverage.gap" ? pollGaps(services, wanted) : pollMatches(services, wanted)

/** Of one page. */
export const MAX_EVENTS = 100

// ---- helpers ----

const wait = { contract: matches.wait, decode: decoder(matches.wait.input) }
const histogram = { contract: matches.histogram, decode: decoder(matches.histogram.input) }
const getRule = { contract: rules.get, decode: decoder(rules.get.input) }

/** Long enough to read what is there. */
const LEAST_MILLIS = 1_000

/** A wait does not end with a redaction. */
const REDACTIONS_MILLIS = 2_000

const MAX_WAIT_SECONDS = 55

const checkRules = <R>({ call }: PollServices<R>, { rule_id, rule_ids }: EventSelection) =>
  Effect.forEach(namedRules({ rule_id, rule_ids }), ([path, id]) =>
    Effect.mapError(
      call(getRule, { rule_id: id }),
      (error): CallError =>
        error.code === "not_found"
          ? { ...error, code: "invalid_argument", details: { issues: [{ path, message: error.message }] } }
          : error
    )
  )

const pollMatches = <R>(services: PollServices<R>, wanted: Poll): Effect.Effect<Polled, CallError, R> =>
  Effect.gen(function* () {
    const { call } = services
    const { name, selection, maxEvents } = wanted
    const { rule_id, rule_ids, platform } = selection
    const selector = { ...(rule_id !== undefined && { rule_id }), ...(platform !== undefined && { platform }) }
    const isWanted = ({ rule_id }: Pick<Match, "rule_id">) => rule_ids === undefined || rule_ids.includes(rule_id)
    if (Option.isNone(wanted.cursor) || rule_ids !== undefined) yield* checkRules(services, selection)
    if (Option.isNone(wanted.cursor) && name === "match.created") {
      return { events: [], cursor: yield* presentCursor(call, selector), hasMore: false, isCut: false, lost: "" }
    }
    const startedAt = yield* Clock.currentTimeMillis
    const deadline = startedAt + Math.max(wanted.timeoutMs, LEAST_MILLIS)
    let { cursor, isCut } = yield* startOf(services, wanted, startedAt)
    let lost = ""
    while (true) {
      const left = deadline - (yield* Clock.currentTimeMillis)
      const millis = name === "match.redacted" ? Math.min(left, REDACTIONS_MILLIS) : left
      const timeout_seconds = Math.min(MAX_WAIT_SECONDS, Math.max(1, Math.ceil(millis / 1_000)))
      const asked = { ...selector, ...(cursor !== undefined && { cursor }), timeout_seconds, limit: maxEvents }
      const result = yield* Effect.either(call(wait, asked))
      if (Either.isLeft(result)) {
        const after = afterFloor(result.left)
        if (after === undefined) return yield* Effect.fail(result.left)
        cursor = after
        isCut = true
        continue
      }
      const found = result.right
      lost = [lost, lostIn(found, cursor, selection)].filter((one) => one !== "").join(" ")
      const page: ReadonlyArray<Match | Redaction> = name === "match.created" ? found.matches : (found.redacted ?? [])
      const events = eventsOf(services, page.filter(isWanted), { start: cursor ?? found.cursor, end: found.cursor })
      cursor = found.cursor
      const isOver = (yield* Clock.currentTimeMillis) >= deadline || timeout_seconds * 1_000 >= left
      if (events.length > 0 || (isOver && found.timed_out) || isCut) {
        return { events, cursor: found.cursor, hasMore: page.length >= maxEvents, isCut, lost }
      }
    }
  })

const isMatchId = Schema.is(MatchId)

/** Without a cursor, a poll for redactions starts with those of its first second. */
const startOf = <R>({ call }: PollServices<R>, { cursor, maxAgeMs, selection }: Poll, now: number) =>
  Effect.gen(function* () {
    if (Option.isNone(cursor)) return { cursor: undefined, isCut: false }
    const oldest = firstMatchIdAt(now - maxAgeMs)
    // The operation says what is wrong with another text.
    if (cursor.value >= oldest || !isMatchId(cursor.value)) return { cursor: cursor.value, isCut: false }
    const { rule_id, platform } = selection
    const asked = {
      ...(rule_id !== undefined && { rule_id }),
      ...(platform !== undefined && { platform }),
      cursor: cursor.value,
      timeout_seconds: 1,
      limit: 1
    }
    const first = yield* Effect.either(call(wait, asked))
    const isCut = Either.match(first, {
      onLeft: ({ code }) => code === "failed_precondition",
      onRight: ({ matches: [match], redacted = [] }) =>
        (match !== undefined && match.id < oldest) || redacted.length > 0
    })
    return { cursor: oldest as string, isCut }
  })

/** The place after which matches are still kept, if that is why a call failed. */
const afterFloor = ({ code, details }: CallError): MatchId | undefined => {
  const floor = details["floor"]
  return code === "failed_precondition" && typeof floor === "string" ? firstMatchIdAt(Date.parse(floor) + 1) : undefined
}

const eventsOf = <R>(
  { data, newSecret }: PollServices<R>,
  page: ReadonlyArray<Match | Redaction>,
  { start, end }: { readonly start: string; readonly end: string }
): ReadonlyArray<EventBody> =>
  page.map((one, index) => {
    const isLast = index === page.length - 1
    return "payload" in one
      ? matchEvent(data, one, { word: newSecret(), cursor: isLast ? end : one.id })
      : // A redaction is told without its own place in the order.
        redactionEvent(data, one, isLast ? end : start)
  })

const ofRules = (gaps: ReadonlyArray<FoundGap>, { rule_ids }: EventSelection): ReadonlyArray<FoundGap> =>
  gaps.filter(({ rule_id }) => rule_id === undefined || rule_ids === undefined || rule_ids.includes(rule_id))

const lostIn = ({ coverage }: WaitResult, cursor: string | undefined, selection: EventSelection): string => {
  const since = cursor === undefined ? Number.POSITIVE_INFINITY : timeOf(cursor as MatchId)
  const lost = ofRules(gapsIn([coverage]), selection).filter((gap) => isLost(gap) && Date.parse(gap.to ?? "") > since)
  return lost.length === 0 ? "" : gapCursorOf(lost)
}

const GAP_MILLIS = 5_000

const pollGaps = <R>(services: PollServices<R>, wanted: Poll): Effect.Effect<Polled, CallError, R> =>
  Effect.gen(function* () {
    const { call, data } = services
    const { selection, cursor, maxEvents, timeoutMs, maxAgeMs } = wanted
    const { rule_id, rule_ids, platform } = selection
    if (Option.exists(cursor, (text) => !isGapCursor(text))) return yield* Effect.fail(toWire(notACursor()))
    yield* checkRules(services, selection)
    const deadline = (yield* Clock.currentTimeMillis) + timeoutMs
    while (true) {
      const now = yield* Clock.currentTimeMillis
      const from = Timestamp.fromMillis(now - Math.min(MAX_AGE_MILLIS, Math.max(maxAgeMs, 1_000)))
      const each = rule_ids ?? [rule_id]
      const counted = yield* Effect.forEach(each, (id) =>
        call(histogram, {
          ...(id !== undefined && { rule_id: id }),
          ...(platform !== undefined && { platform }),
          from,
          unit: "day"
        })
      )
      const gaps = gapsIn(counted.map(({ coverage }) => coverage))
      const { known, messages } = gapsSince(cursor, gaps)
      const page = Option.isNone(cursor) ? [] : messages.slice(0, maxEvents)
      const last = page.at(-1)
      const events = page.map((message) => gapEvent(data, message))
      if (events.length > 0 || Option.isNone(cursor) || now + GAP_MILLIS > deadline) {
        return {
          events,
          cursor: gapCursorOf(last?.announced ?? known),
          hasMore: page.length < messages.length && Option.isSome(cursor),
          isCut: false,
          lost: ""
        }
      }
      yield* Effect.sleep(GAP_MILLIS)
    }
  })
