/** Checks the outcome of a simulated day. Each check returns one message per problem. */
import { Effect, Option } from "effect"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import type { State } from "../../simulator/Control.ts"
import type { Day, TrackedRule } from "./day.ts"
import { kindsOf } from "./plan.ts"
import { rulesOn, type Service, TAG } from "./service.ts"
import type { TrafficRecorder } from "./TrafficRecorder.ts"

/** Matches that are missing, duplicated or stored for the wrong rule. */
export const matchProblems = (day: Day, traffic: TrafficRecorder): ReadonlyArray<string> => {
  const arrivals = arrivalsOf(traffic)
  const counts = new Map(day.rules.map((rule) => [rule, countsOf(rule)]))
  const topics = new Map(day.events.map((event) => [event.name, event.topics]))
  const stray = day.rules.flatMap((rule) =>
    [...(counts.get(rule) ?? [])].flatMap(([name, count]) => [
      ...(count > 1 ? [`${name} is stored ${count} times for ${rule.id}`] : []),
      ...(topics.get(name)?.includes(rule.topic) === true ? [] : [`${name} is stored for ${rule.id} (${rule.topic})`])
    ])
  )
  const missing = day.events.flatMap((event) => {
    if (event.expectedRules.length === 0) return []
    const { intactAt, isDamaged = false } = arrivals.get(event.name) ?? {}
    if (intactAt === undefined) {
      const mustArrive = event.platform === "firehose" ? !isDamaged : event.isUndisturbed
      const isExpected = event.expectedRules.some(({ deletedAt }) => deletedAt === undefined)
      return mustArrive && isExpected ? [`${event.name} of ${timeOf(event.at)} never arrived`] : []
    }
    return event.expectedRules
      .filter(
        (rule) => (rule.deletedAt ?? Number.POSITIVE_INFINITY) > intactAt && counts.get(rule)?.get(event.name) !== 1
      )
      .map((rule) => `${event.name} of ${timeOf(event.at)} (arrived ${timeOf(intactAt)}) is missing for ${rule.id}`)
  })
  return [...stray, ...missing]
}

/** Differences between the store's and the platforms' rules, and changes to another client's rules. */
export const ruleProblems = (day: Day, service: Service): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const { control, store, traffic } = service
    const state = yield* control.state
    const problems = traffic.deletedRuleIds
      .filter((id) => day.otherClient.everCreated.has(id))
      .map((id) => `The service deleted rule ${id} of another client`)
    for (const platform of PLATFORM_IDS) {
      const upstream = new Map(rulesOn(state, platform).map((rule) => [rule.id, rule]))
      const registrations = yield* Effect.orDie(store.registrationsOn(platform))
      for (const { ruleId, state, text, platformRuleId } of registrations) {
        const rule = upstream.get(Option.getOrElse(platformRuleId, () => ""))
        if (state !== "active" || rule?.value !== text) problems.push(`${platform} does not hold ${ruleId} (${state})`)
      }
      const wanted = new Set(registrations.map(({ platformRuleId }) => Option.getOrElse(platformRuleId, () => "")))
      for (const { id, tag, value } of upstream.values()) {
        if (tag?.startsWith(TAG) === true ? !wanted.has(id) : day.otherClient.rules.get(id) !== value) {
          problems.push(`${platform} holds ${id} (${value})`)
        }
      }
      const expected = day.rules.filter((rule) => rule.deletedAt === undefined && rule.platforms.includes(platform))
      const stored = new Set<string>(registrations.map(({ ruleId }) => ruleId))
      if (expected.length !== stored.size || expected.some(({ id }) => !stored.has(id))) {
        problems.push(`${platform}: ${expected.length} rules exist, ${stored.size} are stored`)
      }
    }
    const held = PLATFORM_IDS.flatMap((platform) => rulesOn(state, platform).map(({ id }) => id))
    return [
      ...problems,
      ...[...day.otherClient.rules.keys()].filter((id) => !held.includes(id)).map((id) => `${id} is gone`)
    ]
  })

/** Kinds of faults that never fired. */
export const unfiredFaults = ({ faults_fired }: State): ReadonlyArray<string> =>
  PLATFORM_IDS.flatMap((platform) => kindsOf(platform).map((kind) => `${platform}.${kind}`)).filter(
    (name) => faults_fired[name] === undefined
  )

// ---- helpers ----

interface Arrival {
  readonly intactAt?: number
  readonly isDamaged: boolean
}

/** The first intact arrival of each event, and whether it also arrived damaged. */
const arrivalsOf = ({ records }: TrafficRecorder): ReadonlyMap<string, Arrival> => {
  const arrivals = new Map<string, Arrival>()
  for (const { name, at, isIntact } of records) {
    const before = arrivals.get(name) ?? { isDamaged: false }
    if (!isIntact) arrivals.set(name, { ...before, isDamaged: true })
    else if (before.intactAt === undefined) arrivals.set(name, { ...before, intactAt: at })
  }
  return arrivals
}

const countsOf = ({ stored }: TrackedRule): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const name of stored) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

const timeOf = (millis: number): string => new Date(millis).toISOString()
