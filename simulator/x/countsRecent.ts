/** GET counts/recent: counts the published posts of the last seven days. */
import { Either } from "effect"
import { DAY_MILLIS } from "../../core/model/Timestamp.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import * as Language from "../../core/syntax/x/language.ts"
import { toSearch } from "../../core/syntax/x/search.ts"
import { instantOf } from "../../core/text/json.ts"
import { blockingIssues } from "../blockingIssues.ts"
import type { Settings } from "../settings.ts"
import { jsonReply, type Reply } from "../wire.ts"
import { planOf } from "./plan.ts"
import { clientForbidden } from "./problems.ts"
import { detailsOf } from "./ruleErrors.ts"
import type { XCall } from "./XCall.ts"

export const countsRecent = ({ state, call, refuse }: XCall): Reply => {
  const { settings } = state.world
  const { now, query } = call
  if (settings.x.tier === "free") return clientForbidden(settings)
  const unknown = [...query.keys()].find((name) => !parameters.includes(name))
  if (unknown !== undefined)
    return refuse(unknown, `The query parameter [${unknown}] is not one of [${parameters.join(",")}]`)
  const expression = expressionOf(query.get("query") ?? "", settings)
  if (Either.isLeft(expression)) return refuse("query", expression.left)
  const granularity = query.get("granularity") ?? "hour"
  const size = Object.hasOwn(sizes, granularity) ? sizes[granularity] : undefined
  if (size === undefined) {
    const names = Object.keys(sizes).join(",")
    return refuse("granularity", `The \`granularity\` query parameter value [${granularity}] is not one of [${names}]`)
  }
  const latest = now - settings.x.recent_counts_delay_seconds * 1_000
  const earliest = now - SEARCHABLE_MILLIS
  const from = query.has("start_time") ? timeOf(query.get("start_time")) : earliest
  const to = query.has("end_time") ? timeOf(query.get("end_time")) : latest
  if (from === undefined || from < earliest) {
    return refuse("start_time", `'start_time' must be a time on or after '${new Date(earliest).toISOString()}'`)
  }
  if (to === undefined || to <= from || to > now) return refuse("end_time", "'end_time' must be after 'start_time'")

  const buckets = bucketsOf(from, to, size)
  const times = state.posts.timesOf(expression.right, from, to)
  for (const at of times) {
    const bucket = buckets[Math.floor(at / size) - Math.floor(from / size)]
    if (bucket !== undefined) bucket.count++
  }
  const data = buckets.map(({ start, end, count }) => ({
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    tweet_count: count
  }))
  return jsonReply(200, { data, meta: { total_tweet_count: times.length } })
}

// ---- helpers ----

const SEARCHABLE_MILLIS = 7 * DAY_MILLIS

const parameters = ["query", "granularity", "start_time", "end_time"]

/** In milliseconds. */
const sizes: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: DAY_MILLIS }

/** Left is X's message for an invalid query. */
const expressionOf = (query: string, settings: Settings): Either.Either<Expression, string> => {
  if (query === "") return Either.left("The `query` query parameter can not be empty")
  const maxLength = planOf(settings).maxQueryLength
  if (query.length > maxLength) {
    return Either.left(`The \`query\` query parameter value length [${query.length}] is not between 1 and ${maxLength}`)
  }
  const { rule, issues } = Language.check(query, { maxLength })
  const blocking = blockingIssues(issues, settings.x.refused_warnings)
  if (rule === undefined || blocking.length > 0) return Either.left(processing(detailsOf(query, blocking, maxLength)))
  const { without } = toSearch(rule.ast)
  return without.length === 0
    ? Either.right(Language.lower(rule.ast))
    : Either.left(
        processing(
          without.map(
            (name) =>
              `Reference to invalid operator '${name}'. Operator is not available in current product or product packaging. Please refer to complete available operator list at https://docs.x.com/x-api/posts/search/integrate/operators.`
          )
        )
      )
}

const processing = (details: ReadonlyArray<string>): string =>
  `There were errors processing your request: ${details.join(", ")}`

const timeOf = (text: string | null): number | undefined =>
  text !== null && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? instantOf(text) : undefined

/** Buckets of whole minutes, hours or days; the first and the last are cut to the period. */
const bucketsOf = (from: number, to: number, size: number) => {
  const buckets: Array<{ readonly start: number; readonly end: number; count: number }> = []
  for (let start = from; start < to; ) {
    const end = Math.min((Math.floor(start / size) + 1) * size, to)
    buckets.push({ start, end, count: 0 })
    start = end
  }
  return buckets
}
