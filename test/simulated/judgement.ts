/** What a simulated day must have come to. Each check says in words what was wrong; nothing means that all is well. */
import { Effect, Option } from "effect"
import type { State } from "../../adapters/simulator/Control.ts"
import { PLATFORM_IDS } from "../platforms.ts"
import type { Day, PublishedEvent, TrackedRule } from "./day.ts"
import { kindsOf } from "./plan.ts"
import { heldOn, type Service, TAG } from "./service.ts"
import type { Wire } from "./Wire.ts"

/** Events that are missing, came too often, or were stored for the wrong rule. */
export const wrongMatches = (day: Day, wire: Wire): ReadonlyArray<string> => {
  const seen = seenOn(wire)
  const counts = new Map(day.rules.map((rule) => [rule, countsOf(rule)]))
  const topics = new Map(day.events.map((event) => [event.name, event.topics]))
  const stray = day.rules.flatMap((rule) =>
    [...(counts.get(rule) ?? [])].flatMap(([name, count]) => [
      ...(count > 1 ? [`${name} is stored ${count} times for ${rule.id}`] : []),
      ...(topics.get(name)?.includes(rule.topic) === true ? [] : [`${name} is stored for ${rule.id} (${rule.topic})`])
    ])
  )
  const missing = day.events.flatMap((event) => {
    if (event.due.length === 0) return []
    const { wholeAt, isDamaged = false } = seen.get(event.name) ?? {}
    if (wholeAt === undefined) {
      const mustCome = event.platform === "firehose" ? !isDamaged : event.isUntouched
      const isWanted = event.due.some(({ deletedAt }) => deletedAt === undefined)
      return mustCome && isWanted ? [`${event.name} of ${timeOf(event.at)} has never come`] : []
    }
    return event.due
      .filter((rule) => isOwed(day, event, rule, wholeAt) && counts.get(rule)?.get(event.name) !== 1)
      .map((rule) => `${event.name} of ${timeOf(event.at)} came at ${timeOf(wholeAt)} and is missing for ${rule.id}`)
  })
  return [...stray, ...missing]
}

/** Where the store and a platform do not agree on rules, or a rule of someone else was touched. */
export const wrongRules = (day: Day, service: Service): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const { control, store, wire } = service
    const state = yield* control.state
    const wrong = wire.deleted
      .filter((id) => day.foreign.everMade.has(id))
      .map((id) => `Someone else's ${id} is deleted`)
    for (const platform of PLATFORM_IDS) {
      const upstream = new Map(heldOn(state, platform).map((rule) => [rule.id, rule]))
      const registrations = yield* Effect.orDie(store.registrationsOn(platform))
      for (const { ruleId, state, text, platformRuleId } of registrations) {
        const rule = upstream.get(Option.getOrElse(platformRuleId, () => ""))
        if (state !== "active" || rule?.value !== text) wrong.push(`${platform} does not hold ${ruleId} (${state})`)
      }
      const wanted = new Set(registrations.map(({ platformRuleId }) => Option.getOrElse(platformRuleId, () => "")))
      for (const { id, tag, value } of upstream.values()) {
        if (tag === TAG ? !wanted.has(id) : day.foreign.made.get(id) !== value) {
          wrong.push(`${platform} holds ${id} (${value})`)
        }
      }
      const there = day.rules.filter((rule) => rule.deletedAt === undefined && rule.platforms.includes(platform))
      const stored = new Set<string>(registrations.map(({ ruleId }) => ruleId))
      if (there.length !== stored.size || there.some(({ id }) => !stored.has(id))) {
        wrong.push(`${platform}: ${there.length} rules were made and not deleted, ${stored.size} are stored`)
      }
    }
    const held = PLATFORM_IDS.flatMap((platform) => heldOn(state, platform).map(({ id }) => id))
    return [...wrong, ...[...day.foreign.made.keys()].filter((id) => !held.includes(id)).map((id) => `${id} is gone`)]
  })

/** Faults that were to fire and have not. */
export const unfired = ({ faults_fired }: State): ReadonlyArray<string> =>
  PLATFORM_IDS.flatMap((platform) => kindsOf(platform).map((kind) => `${platform}.${kind}`)).filter(
    (name) => faults_fired[name] === undefined
  )

// ---- helpers ----

interface Seen {
  readonly wholeAt?: number
  readonly isDamaged: boolean
}

/** When each event first came whole, and whether it came damaged. */
const seenOn = ({ records }: Wire): ReadonlyMap<string, Seen> => {
  const seen = new Map<string, Seen>()
  for (const { name, at, isWhole } of records) {
    const before = seen.get(name) ?? { isDamaged: false }
    if (!isWhole) seen.set(name, { ...before, isDamaged: true })
    else if (before.wholeAt === undefined) seen.set(name, { ...before, wholeAt: at })
  }
  return seen
}

const countsOf = ({ stored }: TrackedRule): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const name of stored) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Not when the rule was gone by then, and not when the platform had given it another id since it met the event. */
const isOwed = (day: Day, event: PublishedEvent, { deletedAt }: TrackedRule, wholeAt: number): boolean =>
  (deletedAt === undefined || deletedAt > wholeAt) &&
  !day.drops[event.platform].some((at) => at > event.at && at <= wholeAt)

const timeOf = (millis: number): string => new Date(millis).toISOString()
