/** The gaps that a webhook has not announced yet, and the messages that announce them. */
import { Effect, Option } from "effect"
import type { Coverage, WireGap } from "../coverage/Coverage.ts"
import type { CoverageOf } from "../coverage/coverageOf.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { PENDING } from "../rules/RuleStore.ts"
import type { AnnouncedGap, StoredWebhook } from "./WebhookStore.ts"

/** What a message tells of a gap. */
export interface GapData {
  readonly platform: PlatformId
  readonly rule_id?: RuleId
  readonly gap: Omit<typeof WireGap.Type, "rule_id">
}

export interface GapMessage {
  /** The same for every attempt. */
  readonly id: string
  readonly timestamp: string
  readonly data: GapData
  /** The announced gaps after this message. */
  readonly announced: ReadonlyArray<AnnouncedGap>
}

/** The messages that are due, in order of time. `now` in milliseconds. */
export type DueGapMessages = (
  webhook: StoredWebhook,
  options: { readonly now: number; readonly platforms: ReadonlyArray<PlatformId> }
) => Effect.Effect<ReadonlyArray<GapMessage>, StoreUnavailable>

/** A subscription to matches gets at most one: about the gaps since the last one that nothing has recovered. */
export const makeDueGapMessages =
  (coverageOf: CoverageOf): DueGapMessages =>
  (webhook, { now, platforms: all }) =>
    Effect.gen(function* () {
      const announces = webhook.events.includes("coverage.gap")
      const isSubscribed = Option.isSome(webhook.subscription)
      if (!announces && !isSubscribed) return []
      const gaps = yield* foundGaps(coverageOf, webhook, {
        platforms: Option.getOrElse(webhook.platforms, () => all),
        from: isSubscribed ? now - MAX_AGE_MILLIS : Math.max(Date.parse(webhook.createdAt), now - MAX_AGE_MILLIS),
        now
      })
      const { announcedGaps } = webhook
      return announces ? messagesFor(announcedGaps, gaps) : missedMessages(announcedGaps, gaps, now)
    })

/** The gaps of some rules since `from`, by default as far back as messages go. In milliseconds. */
export const foundGaps = (
  coverageOf: CoverageOf,
  { account, rules }: Pick<StoredWebhook, "account" | "rules">,
  { platforms, now, from = now - MAX_AGE_MILLIS }: FoundIn
): Effect.Effect<ReadonlyArray<FoundGap>, StoreUnavailable> =>
  Effect.gen(function* () {
    const each = Option.match(rules, { onNone: () => [Option.none()], onSome: (ids) => ids.map(Option.some) })
    const coverages = yield* Effect.forEach(each, (rule) => coverageOf({ account, rule, platforms }))
    return gapsIn(coverages.map((coverageIn) => coverageIn({ from: Option.some(from), to: now })))
  })

/** What is told of these gaps to somebody with this cursor. Without a cursor: only gaps that are open. */
export const gapsSince = (
  cursor: Option.Option<string>,
  gaps: ReadonlyArray<FoundGap>
): { readonly known: ReadonlyArray<AnnouncedGap>; readonly messages: ReadonlyArray<GapMessage> } => {
  const told = Option.map(cursor, (cursor) => new Set(cursor.slice(GAP_CURSOR.length).match(/.{7}/g)))
  const known = gaps
    .filter((gap) =>
      Option.match(told, { onNone: () => gap.to !== undefined, onSome: (told) => told.has(markOf(gap)) })
    )
    .map(({ detail: _, ...gap }) => gap)
  return { known, messages: messagesFor(known, gaps) }
}

/** Names the present state of each gap, so that later changes are noticed. */
export const gapCursorOf = (gaps: ReadonlyArray<AnnouncedGap>): string =>
  GAP_CURSOR + gaps.slice(-MAX_IN_CURSOR).map(markOf).join("")

export const isGapCursor = (text: string): boolean => /^gaps_([0-9a-z]{7})*$/.test(text) && text.length <= 5_000

/** Whether the events of a closed gap are lost, as far as anybody knows. */
export const isLost = ({ to, recovered }: AnnouncedGap): boolean => to !== undefined && !recovered

/** How far back a poll has to look for gaps, in milliseconds: longer than the retries of a message. */
export const MAX_AGE_MILLIS = 7 * 86_400_000

export type FoundGap = { readonly platform: PlatformId } & Coverage["platforms"][number]["gaps"][number]

/** Without repeats: a gap of the platform is a gap of each of its rules, from the creation of the rule on. */
export const gapsIn = (coverages: ReadonlyArray<Coverage>): ReadonlyArray<FoundGap> => {
  const found: Array<FoundGap> = []
  for (const { platforms } of coverages) {
    for (const { platform, gaps } of platforms) {
      for (const gap of gaps) {
        const isKnown = found.some((one) => isSame(one, { ...gap, platform }))
        if (!isKnown && !isExpected(gap)) found.push({ ...gap, platform })
      }
    }
  }
  return found.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
}

// ---- helpers ----

interface FoundIn {
  readonly platforms: ReadonlyArray<PlatformId>
  readonly now: number
  readonly from?: number
}

const GAP_CURSOR = "gaps_"

/** A platform lists at most 100. */
const MAX_IN_CURSOR = 700

/** Events of a gap that has just ended may still be on their way. */
const RECOVERY_MILLIS = 60_000

/** Seven characters for the state of a gap. */
const markOf = (gap: AnnouncedGap): string => {
  let hash = 0x811c9dc5
  for (const character of idOf(gap)) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash.toString(36).padStart(7, "0")
}

const missedMessages = (
  announced: ReadonlyArray<AnnouncedGap>,
  gaps: ReadonlyArray<FoundGap>,
  now: number
): ReadonlyArray<GapMessage> => {
  const known = announced.filter((one) => gaps.some((gap) => isSame(gap, one)))
  const missed = gaps.filter(
    (gap) =>
      isLost(gap) &&
      Date.parse(timeOf(gap)) <= now - RECOVERY_MILLIS &&
      !known.some((one) => isSame(gap, one) && one.to !== undefined)
  )
  const last = missed.at(-1)
  if (last === undefined) return []
  const told = missed.map(({ detail: _, ...gap }) => gap)
  const kept = known.filter((one) => !told.some((gap) => isSame(gap, one)))
  return [messageOf(last, [...kept, ...told])]
}

const messageOf = ({ detail, ...gap }: FoundGap, announced: ReadonlyArray<AnnouncedGap>): GapMessage => {
  const { platform, rule_id, ...rest } = gap
  return {
    id: idOf(gap),
    timestamp: timeOf(gap),
    data: { platform, ...(rule_id !== undefined && { rule_id }), gap: { ...rest, detail } },
    announced
  }
}

/** Every new rule has this gap of some seconds. Whoever made the rule would get a message for each. */
const isExpected = ({ cause, detail }: Pick<FoundGap, "cause" | "detail">): boolean =>
  cause === PENDING.cause && detail === PENDING.detail

const messagesFor = (
  announced: ReadonlyArray<AnnouncedGap>,
  gaps: ReadonlyArray<FoundGap>
): ReadonlyArray<GapMessage> => {
  let known = announced.filter((one) => gaps.some((gap) => isSame(gap, one)))
  return gaps.flatMap((found) => {
    const { detail: _, ...gap } = found
    const before = known.find((one) => isSame(gap, one))
    if (before !== undefined && before.to === gap.to && before.recovered === gap.recovered) return []
    known = [...known.filter((one) => one !== before), gap]
    return [messageOf(found, known)]
  })
}

/** `from` may move to the creation of a later rule. A platform or rule has one open gap at a time. */
const isSame = (a: AnnouncedGap, b: AnnouncedGap): boolean =>
  a.platform === b.platform && a.rule_id === b.rule_id && a.cause === b.cause && (a.from === b.from || a.to === b.to)

const timeOf = ({ from, to }: AnnouncedGap): string => to ?? from

const idOf = ({ platform, rule_id, from, to, cause, recovered }: AnnouncedGap): string => {
  const change = to === undefined ? "began" : recovered ? "recovered" : "ended"
  return ["gap", platform, ...(rule_id === undefined ? [] : [rule_id]), cause, Date.parse(from), change].join("_")
}
