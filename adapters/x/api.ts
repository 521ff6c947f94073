/** Rate-limited client for X's rule and usage endpoints. */
import { Array as Arr, Clock, Effect, type Option } from "effect"
import { PlatformUnavailable } from "../../core/model/Errors.ts"
import { monthStart } from "../../core/model/Timestamp.ts"
import type { Inventory, PlatformFailure, RuleRefusal } from "../../core/platforms/Platform.ts"
import {
  instantOf,
  type JsonObject,
  jsonOf,
  listOf,
  numberOf,
  objectOf,
  objectsOf,
  textOf
} from "../../core/text/json.ts"
import type { Budget } from "../http/Budget.ts"
import type { Upstream, UpstreamCall } from "../http/Upstream.ts"
import { applyRateLimit, callBudget } from "./limits.ts"
import { failureOf, isDuplicate, refusalOf } from "./problems.ts"

export interface XRule {
  readonly id: string
  readonly value: string
  readonly tag: string | undefined
}

/** The outcome of `add`. X may leave out some of the values. */
export interface AddResult {
  readonly created: ReadonlyArray<XRule>
  /** Value to the id of the existing rule. */
  readonly duplicates: ReadonlyMap<string, string>
  readonly refused: ReadonlyMap<string, RuleRefusal>
}

/** Undefined where X does not say. */
export interface RuleCounts {
  /** The lower one of the app's and the project's. */
  readonly limit: number | undefined
  readonly remaining: number | undefined
  readonly projectLimit: number | undefined
}

export class Api {
  private readonly upstream: Upstream
  /** X allows 100. */
  private readonly changes = callBudget(95)
  /** X allows 450 for listing. We assume that counts share this limit. */
  private readonly reads = callBudget(440)
  /** X allows 50. */
  private readonly usageReads = callBudget(45)
  /** X allows 900. */
  private readonly lookUps = callBudget(880)

  constructor(upstream: Upstream) {
    this.upstream = upstream
  }

  /** At most `MAX_BATCH` values. Fails with a refusal when X refuses the whole call. */
  add(
    values: ReadonlyArray<string>,
    options: { readonly tag: string; readonly isDryRun: boolean }
  ): Effect.Effect<AddResult, PlatformFailure | RuleRefusal> {
    const call = {
      method: "POST",
      path: RULES_PATH,
      ...(options.isDryRun && { query: { dry_run: "true" } }),
      body: { add: values.map((value) => ({ value, tag: options.tag })) }
    } as const
    return Effect.flatMap(this.send(this.changes, call), (body) => addResultIn(body, values))
  }

  /** At most `MAX_BATCH` ids, with any tag. False if X does not confirm that it deleted all of them. */
  remove(ids: ReadonlyArray<string>): Effect.Effect<boolean, PlatformFailure> {
    const call = { method: "POST", path: RULES_PATH, body: { delete: { ids } } } as const
    return Effect.map(refusalAsFailure(this.send(this.changes, call)), ({ meta, errors }) => {
      const summary = objectOf(objectOf(meta)?.["summary"])
      const deleted = numberOf(summary?.["deleted"]) ?? 0
      return deleted >= ids.length && (numberOf(summary?.["not_deleted"]) ?? 0) === 0 && listOf(errors).length === 0
    })
  }

  get list(): Effect.Effect<ReadonlyArray<XRule>, PlatformFailure> {
    return this.allPages({ max_results: "1000" })
  }

  /** Leaves out ids that do not exist. Checks the ids: a server that ignores the filter answers with all rules. */
  find(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<XRule>, PlatformFailure> {
    const valid = new Set(ids.filter((id) => ruleIdPattern.test(id)))
    const lookUp = (batch: ReadonlyArray<string>) => this.allPages({ ids: batch.join(",") })
    return Effect.map(Effect.forEach(Arr.chunksOf(valid, MAX_IDS_IN_QUERY), lookUp), (batches) => {
      const found = new Map(batches.flat().map((rule) => [rule.id, rule]))
      return [...found.values()].filter(({ id }) => valid.has(id))
    })
  }

  get counts(): Effect.Effect<RuleCounts, PlatformFailure> {
    return Effect.map(refusalAsFailure(this.send(this.reads, { path: `${RULES_PATH}/counts` })), ({ data }) => {
      const counts = objectOf(data) ?? {}
      const caps = [
        { cap: counts["cap_per_client_app"], used: objectOf(counts["client_app_rules_count"])?.["rule_count"] },
        { cap: counts["cap_per_project"], used: counts["project_rules_count"] }
      ].flatMap(({ cap, used }) => {
        const limit = numberOf(cap)
        return limit === undefined ? [] : [{ limit, remaining: Math.max(0, limit - (numberOf(used) ?? 0)) }]
      })
      return {
        limit: minOf(caps.map(({ limit }) => limit)),
        remaining: minOf(caps.map(({ remaining }) => remaining)),
        projectLimit: numberOf(counts["cap_per_project"])
      }
    })
  }

  /** Posts in the billing period; undefined where X does not say. */
  get usage(): Effect.Effect<Option.Option.Value<Inventory["usage"]> | undefined, PlatformFailure> {
    const query = { days: "31", "usage.fields": "project_usage,project_cap,daily_project_usage" }
    return Effect.gen(this, function* () {
      const { data } = yield* refusalAsFailure(this.send(this.usageReads, { path: "/2/usage/tweets", query }))
      const used = numberOf(objectOf(data)?.["project_usage"])
      const limit = numberOf(objectOf(data)?.["project_cap"])
      if (used === undefined || limit === undefined) return undefined
      const at = yield* Clock.currentTimeMillis
      const start = monthStart(at)
      const ofMonth = usageSince(start, objectOf(data) ?? {})
      return { at, used, limit, ...(ofMonth !== undefined && { month: { start, used: ofMonth } }) }
    })
  }

  /** At most 100 ids. Each post found is billed. */
  posts(ids: ReadonlyArray<string>): Effect.Effect<JsonObject, PlatformFailure> {
    const query = { ids: ids.join(","), "tweet.fields": "edit_history_tweet_ids,withheld" }
    return refusalAsFailure(this.send(this.lookUps, { path: "/2/tweets", query }))
  }

  private allPages(query: Readonly<Record<string, string>>): Effect.Effect<ReadonlyArray<XRule>, PlatformFailure> {
    return Effect.gen(this, function* () {
      const rules: Array<XRule> = []
      let token: string | undefined
      for (let page = 0; page < MAX_PAGES; page++) {
        const body = yield* this.getRules({ ...query, ...(token !== undefined && { pagination_token: token }) })
        rules.push(...rulesIn(body))
        token = textOf(objectOf(body["meta"])?.["next_token"])
        if (token === undefined) return rules
      }
      return yield* unavailable("its rule list has too many pages")
    })
  }

  private getRules(query: Readonly<Record<string, string>>): Effect.Effect<JsonObject, PlatformFailure> {
    return Effect.filterOrElse(
      refusalAsFailure(this.send(this.reads, { path: RULES_PATH, query })),
      // Without rules X omits `data` but still sends `meta`.
      ({ data, meta }) => Array.isArray(data) || (data === undefined && objectOf(meta) !== undefined),
      () => unavailable("its rule list cannot be read")
    )
  }

  /** Returns the body of a successful response. Fails without a call when the budget is used up. */
  send(budget: Budget, call: UpstreamCall): Effect.Effect<JsonObject, PlatformFailure | RuleRefusal> {
    return Effect.gen(this, function* () {
      const waitMillis = yield* budget.take
      if (waitMillis > 0) {
        return yield* new PlatformUnavailable({
          platform: "x",
          reason: "the rate limit for 15 minutes is used up",
          retryAfterSeconds: Math.ceil(waitMillis / 1_000)
        })
      }
      const answer = yield* Effect.mapError(this.upstream.call(call), ({ reason }) => unavailable(reason))
      yield* applyRateLimit(budget, answer.headers)
      if (answer.status < 200 || answer.status > 299) {
        const failure = failureOf(answer, yield* Clock.currentTimeMillis)
        // X extends the limit for clients that keep calling.
        if (answer.status === 429 && failure._tag === "PlatformUnavailable") {
          yield* budget.blockFor((failure.retryAfterSeconds ?? 0) * 1_000)
        }
        return yield* failure
      }
      return objectOf(jsonOf(answer.text)) ?? (yield* unavailable("its response cannot be read"))
    })
  }
}

/** X's limit of rules per call. */
export const MAX_BATCH = 1_000

export const unavailable = (reason: string) => new PlatformUnavailable({ platform: "x", reason })

// ---- helpers ----

const RULES_PATH = "/2/tweets/search/stream/rules"

/** X refuses the whole call for one id of another form, such as that of a local rule. */
const ruleIdPattern = /^[0-9]{1,19}$/

/** Keeps the URL short enough for every proxy. */
const MAX_IDS_IN_QUERY = 100

/** Four times the rules of the largest known plan. */
const MAX_PAGES = 100

const minOf = (numbers: ReadonlyArray<number>): number | undefined =>
  numbers.length === 0 ? undefined : Math.min(...numbers)

/** For calls without a rule text, which X cannot refuse. */
const refusalAsFailure = <A>(
  effect: Effect.Effect<A, PlatformFailure | RuleRefusal>
): Effect.Effect<A, PlatformFailure> => {
  const toFailure = ({ reason, upstream }: RuleRefusal) => new PlatformUnavailable({ platform: "x", reason, upstream })
  return Effect.catchTags(effect, { PlatformRefused: toFailure, PlatformLimitReached: toFailure })
}

/** The billing period of X need not be the calendar month. */
const usageSince = (from: number, data: JsonObject): number | undefined => {
  const days = objectsOf(objectOf(data["daily_project_usage"])?.["usage"])
  if (days.length === 0) return undefined
  return days
    .filter(({ date }) => (instantOf(date) ?? 0) >= from)
    .reduce((sum, { usage }) => sum + (numberOf(usage) ?? 0), 0)
}

const rulesIn = ({ data }: JsonObject): ReadonlyArray<XRule> =>
  objectsOf(data).flatMap((rule) => {
    const id = textOf(rule["id"])
    const value = textOf(rule["value"])
    return id === undefined || value === undefined ? [] : [{ id, value, tag: textOf(rule["tag"]) }]
  })

const addResultIn = (body: JsonObject, values: ReadonlyArray<string>): Effect.Effect<AddResult, RuleRefusal> => {
  const duplicates = new Map<string, string>()
  const refused = new Map<string, RuleRefusal>()
  for (const error of objectsOf(body["errors"])) {
    const value = values.length === 1 ? values[0] : textOf(error["value"])
    const refusal = refusalOf(error)
    if (value === undefined && refusal._tag === "PlatformLimitReached") return refusal
    if (value === undefined) continue
    const id = textOf(error["id"])
    if (!isDuplicate(error)) refused.set(value, refusal)
    else if (id !== undefined) duplicates.set(value, id)
  }
  return Effect.succeed({ created: rulesIn(body), duplicates, refused })
}
