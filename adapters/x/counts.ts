/** Counts posts of the last seven days with X's search. */
import { Effect } from "effect"
import { PlatformRefused } from "../../core/model/Errors.ts"
import type { Platform, RecentCount } from "../../core/platforms/Platform.ts"
import { check, print } from "../../core/syntax/x/language.ts"
import { limits } from "../../core/syntax/x/operators.ts"
import { excludesRetweets, toSearch } from "../../core/syntax/x/search.ts"
import { instantOf, type JsonObject, numberOf, objectOf, objectsOf } from "../../core/text/json.ts"
import { type Api, unavailable } from "./api.ts"
import { callBudget } from "./limits.ts"

export const makeCounts = (api: Api): NonNullable<Platform["countRecent"]> => {
  // X allows 300 in all. Accounts cannot use up the calls with a period, which are our own.
  const checks = callBudget(195)
  const looks = callBudget(95)

  return (text, period) =>
    Effect.gen(function* () {
      const { query, without, note } = yield* queryOf(text)
      const call = {
        path: "/2/tweets/counts/recent",
        query: {
          query,
          ...(period === undefined
            ? { granularity: "hour" }
            : { granularity: "minute", start_time: timeOf(period.from), end_time: timeOf(period.to) })
        }
      }
      const body = yield* api.send(period === undefined ? checks : looks, call)
      const counted = countIn(body)
      if (counted === undefined) return yield* unavailable("its counts cannot be read")
      return { ...counted, without, ...(note !== undefined && { note }) }
    })
}

// ---- helpers ----

/** Since May 2026 X's search finds no retweets by keyword. */
const RETWEETS_NOTE =
  "X may leave retweets out of its counts, but the stream delivers them unless the filter has -is:retweet"

const timeOf = (millis: number): string => new Date(millis).toISOString()

const queryOf = (text: string) => {
  const { rule } = check(text, { maxLength: limits.maxLengthEnterprise })
  if (rule === undefined) return refused("the filter is not valid", text)
  const { ast, without } = toSearch(rule.ast)
  const query = without.length === 0 ? text : ast === undefined ? "" : print(ast)
  if (without.length > 0 && check(query, { maxLength: limits.maxLengthEnterprise }).rule === undefined) {
    const names = without.map((name) => `${name}:`).join(", ")
    return refused(`X's search does not know ${names}, and the filter cannot do without`, text)
  }
  return Effect.succeed({ query, without, note: excludesRetweets(rule.ast) ? undefined : RETWEETS_NOTE })
}

const refused = (reason: string, text: string) => new PlatformRefused({ platform: "x", reason, upstream: text })

/** There is one page: X sends a second one only for more than 31 days. */
const countIn = ({ data, meta }: JsonObject): Omit<RecentCount, "without" | "note"> | undefined => {
  const parts = objectsOf(data).flatMap(({ start, end, tweet_count }) => {
    const [from, to, total] = [instantOf(start), instantOf(end), numberOf(tweet_count)]
    return from === undefined || to === undefined || total === undefined ? [] : [{ from, to, total }]
  })
  const total = numberOf(objectOf(meta)?.["total_tweet_count"])
  const [from, to] = [parts[0]?.from, parts.at(-1)?.to]
  return total === undefined || from === undefined || to === undefined || to <= from
    ? undefined
    : { total, from, to, parts }
}
