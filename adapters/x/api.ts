/** X's calls on rules and usage, typed and within their limits. */
import { Clock, Effect } from "effect"
import { PlatformUnavailable } from "../../core/model/Errors.ts"
import type { PlatformFailure, RuleRefusal } from "../../core/platforms/Platform.ts"
import { type JsonObject, jsonOf, numberOf, objectOf, objectsOf, textOf } from "../../core/syntax/json.ts"
import type { Budget } from "../http/Budget.ts"
import type { Upstream, UpstreamCall } from "../http/Upstream.ts"
import { budgetOf, keepLimit } from "./limits.ts"
import { failureOf, isDuplicate, refusalOf } from "./problems.ts"

/** A rule as X holds it. */
export interface XRule {
  readonly id: string
  readonly value: string
  readonly tag: string | undefined
}

/** What became of the values of an add; X need not say it of each. */
export interface Added {
  readonly created: ReadonlyArray<XRule>
  /** By value: the id of the rule that is there already. */
  readonly duplicates: ReadonlyMap<string, string>
  readonly refused: ReadonlyMap<string, RuleRefusal>
}

/** What X does not say is undefined. */
export interface Counts {
  readonly limit: number | undefined
  /** How many more rules there may be. */
  readonly room: number | undefined
}

export class Api {
  private readonly upstream: Upstream
  /** X allows 100. */
  private readonly changes = budgetOf(95)
  /** X allows 450, for listing; that counting is counted with it is an assumption. */
  private readonly reads = budgetOf(440)
  /** X allows 50. */
  private readonly usageReads = budgetOf(45)

  constructor(upstream: Upstream) {
    this.upstream = upstream
  }

  /** At most `MOST_AT_ONCE` values. It fails with a refusal when X refuses all of them in one. */
  add(
    values: ReadonlyArray<string>,
    options: { readonly tag: string; readonly isDryRun: boolean }
  ): Effect.Effect<Added, PlatformFailure | RuleRefusal> {
    const call = {
      method: "POST",
      path: RULES,
      ...(options.isDryRun && { query: { dry_run: "true" } }),
      body: { add: values.map((value) => ({ value, tag: options.tag })) }
    } as const
    return Effect.flatMap(this.ask(this.changes, call), (body) => addedIn(body, values))
  }

  /** At most `MOST_AT_ONCE` ids. Whatever their tags; unknown ones are passed over. */
  remove(ids: ReadonlyArray<string>): Effect.Effect<void, PlatformFailure> {
    const call = { method: "POST", path: RULES, body: { delete: { ids } } } as const
    return Effect.asVoid(onlyFailing(this.ask(this.changes, call)))
  }

  readonly list: Effect.Effect<ReadonlyArray<XRule>, PlatformFailure> = Effect.gen(this, function* () {
    const rules: Array<XRule> = []
    let token: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const query = { max_results: "1000", ...(token !== undefined && { pagination_token: token }) }
      const body = yield* this.listed(query)
      rules.push(...rulesIn(body))
      token = textOf(objectOf(body["meta"])?.["next_token"])
      if (token === undefined) return rules
    }
    return yield* unreadable("its list of rules does not end")
  })

  /** Those of the ids that there are. */
  find(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<XRule>, PlatformFailure> {
    const known = ids.filter((id) => RULE_ID.test(id))
    const lookUp = (some: ReadonlyArray<string>) => Effect.map(this.listed({ ids: some.join(",") }), rulesIn)
    return Effect.map(Effect.forEach(inParts(known, MOST_IN_ADDRESS), lookUp), (parts) => parts.flat())
  }

  get counts(): Effect.Effect<Counts, PlatformFailure> {
    return Effect.map(onlyFailing(this.ask(this.reads, { path: `${RULES}/counts` })), ({ data }) => {
      const counts = objectOf(data) ?? {}
      const caps = [
        { cap: counts["cap_per_client_app"], used: objectOf(counts["client_app_rules_count"])?.["rule_count"] },
        { cap: counts["cap_per_project"], used: counts["project_rules_count"] }
      ].flatMap(({ cap, used }) => {
        const limit = numberOf(cap)
        return limit === undefined ? [] : [{ limit, room: Math.max(0, limit - (numberOf(used) ?? 0)) }]
      })
      return { limit: leastOf(caps.map(({ limit }) => limit)), room: leastOf(caps.map(({ room }) => room)) }
    })
  }

  /** Posts of the billing period; undefined where X does not say. */
  get usage(): Effect.Effect<{ readonly used: number; readonly limit: number } | undefined, PlatformFailure> {
    return Effect.map(onlyFailing(this.ask(this.usageReads, { path: "/2/usage/tweets" })), ({ data }) => {
      const used = numberOf(objectOf(data)?.["project_usage"])
      const limit = numberOf(objectOf(data)?.["project_cap"])
      return used === undefined || limit === undefined ? undefined : { used, limit }
    })
  }

  private listed(query: Readonly<Record<string, string>>): Effect.Effect<JsonObject, PlatformFailure> {
    return Effect.filterOrElse(
      onlyFailing(this.ask(this.reads, { path: RULES, query })),
      // With no rules there is no data, but there is always something.
      ({ data, meta }) => Array.isArray(data) || (data === undefined && objectOf(meta) !== undefined),
      () => unreadable("its list of rules cannot be read")
    )
  }

  /** The body of a success. Nothing is sent when it would be over the limit. */
  private ask(budget: Budget, call: UpstreamCall): Effect.Effect<JsonObject, PlatformFailure | RuleRefusal> {
    return Effect.gen(this, function* () {
      const waitMillis = yield* budget.take
      if (waitMillis > 0) {
        return yield* new PlatformUnavailable({
          platform: "x",
          reason: "the calls that it allows in 15 minutes are used up",
          retryAfterSeconds: Math.ceil(waitMillis / 1_000)
        })
      }
      const answer = yield* Effect.mapError(
        this.upstream.call(call),
        ({ reason }) => new PlatformUnavailable({ platform: "x", reason })
      )
      yield* keepLimit(budget, answer.headers)
      if (answer.status < 200 || answer.status > 299) {
        const failure = failureOf(answer, yield* Clock.currentTimeMillis)
        // X makes those wait longer who go on while they are limited.
        if (answer.status === 429 && failure._tag === "PlatformUnavailable") {
          yield* budget.blockFor((failure.retryAfterSeconds ?? 0) * 1_000)
        }
        return yield* failure
      }
      return objectOf(jsonOf(answer.text)) ?? (yield* unreadable("its answer cannot be read"))
    })
  }
}

/** As many rules as X takes in one call. */
export const MOST_AT_ONCE = 1_000

export const inParts = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))

export const unreadable = (reason: string) => new PlatformUnavailable({ platform: "x", reason })

// ---- helpers ----

const RULES = "/2/tweets/search/stream/rules"

/** Another id, such as that of a local rule, is refused with the whole call. */
const RULE_ID = /^[0-9]{1,19}$/

/** An address that is much longer is not taken everywhere. */
const MOST_IN_ADDRESS = 100

/** Four times what the largest plan is known to allow. */
const MOST_PAGES = 100

const leastOf = (numbers: ReadonlyArray<number>): number | undefined =>
  numbers.length === 0 ? undefined : Math.min(...numbers)

/** For calls that are about no rule text: there is none to refuse. */
const onlyFailing = <A>(effect: Effect.Effect<A, PlatformFailure | RuleRefusal>): Effect.Effect<A, PlatformFailure> => {
  const unavailable = ({ reason, upstream }: RuleRefusal) =>
    new PlatformUnavailable({ platform: "x", reason, upstream })
  return Effect.catchTags(effect, { PlatformRefused: unavailable, PlatformLimitReached: unavailable })
}

const rulesIn = ({ data }: JsonObject): ReadonlyArray<XRule> =>
  objectsOf(data).flatMap((rule) => {
    const id = textOf(rule["id"])
    const value = textOf(rule["value"])
    return id === undefined || value === undefined ? [] : [{ id, value, tag: textOf(rule["tag"]) }]
  })

const addedIn = (body: JsonObject, values: ReadonlyArray<string>): Effect.Effect<Added, RuleRefusal> => {
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
