/** The gaps that a webhook has not announced yet, and the messages that announce them. */
import { Effect, Option } from "effect"
import type { Coverage } from "../coverage/Coverage.ts"
import type { CoverageOf } from "../coverage/coverageOf.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { PENDING } from "../rules/RuleStore.ts"
import type { AnnouncedGap, StoredWebhook } from "./WebhookStore.ts"

export interface GapMessage {
  /** The same for every attempt. */
  readonly id: string
  readonly timestamp: string
  readonly data: object
  /** The announced gaps after this message. */
  readonly announced: ReadonlyArray<AnnouncedGap>
}

/** The messages that are due, in order of time. `now` in milliseconds. */
export type DueGapMessages = (
  webhook: StoredWebhook,
  options: { readonly now: number; readonly platforms: ReadonlyArray<PlatformId> }
) => Effect.Effect<ReadonlyArray<GapMessage>, StoreUnavailable>

export const makeDueGapMessages =
  (coverageOf: CoverageOf): DueGapMessages =>
  (webhook, { now, platforms: all }) =>
    Effect.gen(function* () {
      if (!webhook.events.includes("coverage.gap")) return []
      const { account } = webhook
      const platforms = Option.getOrElse(webhook.platforms, () => all)
      const rules = Option.match(webhook.rules, {
        onNone: () => [Option.none()],
        onSome: (ids) => ids.map(Option.some)
      })
      const from = Option.some(Math.max(Date.parse(webhook.createdAt), now - MAX_AGE_MILLIS))
      const coverages = yield* Effect.forEach(rules, (rule) => coverageOf({ account, rule, platforms }))
      return messagesFor(webhook.announcedGaps, gapsIn(coverages.map((coverageIn) => coverageIn({ from, to: now }))))
    })

// ---- helpers ----

/** Longer than the retries of a message. */
const MAX_AGE_MILLIS = 7 * 86_400_000

type FoundGap = { readonly platform: PlatformId } & Coverage["platforms"][number]["gaps"][number]

/** Without repeats: a gap of the platform is a gap of each of its rules, from the creation of the rule on. */
const gapsIn = (coverages: ReadonlyArray<Coverage>): ReadonlyArray<FoundGap> => {
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

/** Every new rule has this gap of some seconds. Whoever made the rule would get a message for each. */
const isExpected = ({ cause, detail }: Pick<FoundGap, "cause" | "detail">): boolean =>
  cause === PENDING.cause && detail === PENDING.detail

const messagesFor = (
  announced: ReadonlyArray<AnnouncedGap>,
  gaps: ReadonlyArray<FoundGap>
): ReadonlyArray<GapMessage> => {
  let known = announced.filter((one) => gaps.some((gap) => isSame(gap, one)))
  return gaps.flatMap(({ detail, ...gap }) => {
    const before = known.find((one) => isSame(gap, one))
    if (before !== undefined && before.to === gap.to && before.recovered === gap.recovered) return []
    known = [...known.filter((one) => one !== before), gap]
    const { platform, rule_id, ...rest } = gap
    return [
      {
        id: idOf(gap),
        timestamp: timeOf(gap),
        data: { platform, ...(rule_id !== undefined && { rule_id }), gap: { ...rest, detail } },
        announced: known
      }
    ]
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
