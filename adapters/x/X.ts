/** The platform `x` on the real service: rules and posts of its filtered stream. */
import { Clock, Duration, Effect, Layer, Option, type Redacted } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { x } from "../../core/languages/x.ts"
import type { Entropy } from "../../core/model/Entropy.ts"
import { type Installed, Platforms, type UpstreamMode } from "../../core/platforms/Platform.ts"
import { helpFor, ruleLimit, ruleLimits } from "../../core/platforms/syntaxHelp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { posts } from "../demo/posts.ts"
import { KnownRules } from "../http/KnownRules.ts"
import { ownTags } from "../http/OwnTags.ts"
import { otherAddress } from "../http/otherAddress.ts"
import { StreamHealth } from "../http/StreamHealth.ts"
import { Upstream } from "../http/Upstream.ts"
import { Api } from "./api.ts"
import { makeCountPosts } from "./countPosts.ts"
import { makeCounts } from "./counts.ts"
import { makeLookUp } from "./lookUp.ts"
import { Plan } from "./Plan.ts"
import { makeRules } from "./rules.ts"
import { makeWatch } from "./stream.ts"

/** Without a token, the platform runs in process. */
export const install = (settings: {
  readonly xToken: Option.Option<Redacted.Redacted>
  readonly xBaseUrl: string
  readonly xRulesPerAccount: number
  readonly xPricePerPost: number
  /** In hours. */
  readonly xComplianceInterval: number
  readonly xMonthlyPostBudget: number
  readonly upstream: UpstreamMode
}): Installed<Platforms | RuleStore | RecentEvents | Entropy> => ({
  language: x,
  rulesPerAccount: ruleLimit(settings.xRulesPerAccount),
  remote: Option.map(settings.xToken, (token) => ({
    baseUrl: settings.xBaseUrl,
    layer: layerWith({
      baseUrl: settings.xBaseUrl,
      token,
      rulesPerAccount: settings.xRulesPerAccount,
      pricePerPost: settings.xPricePerPost,
      lookUpInterval: Duration.hours(settings.xComplianceInterval),
      monthlyPostBudget: settings.xMonthlyPostBudget,
      takesOver: settings.upstream === "takeover"
    })
  })),
  demo: { perSecond: 2, make: posts, filter: "nasa -is:retweet" }
})

export const layerWith = (options: {
  readonly baseUrl: string
  readonly token: Redacted.Redacted
  /** 0: no limit. */
  readonly rulesPerAccount: number
  /** In US dollars. */
  readonly pricePerPost: number
  /** Between two looks at the same post. 0: never. */
  readonly lookUpInterval?: Duration.Duration
  /** 0: no limit. */
  readonly monthlyPostBudget?: number
  /** Rules that were made from a copy of this store count as ours. */
  readonly takesOver?: boolean
}): Layer.Layer<never, never, Platforms | RuleStore | RecentEvents | Entropy> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const store = yield* RuleStore
      const recent = yield* RecentEvents
      const tags = yield* ownTags(store, x.id, options)
      const rulesPerAccount = ruleLimit(options.rulesPerAccount)
      const upstream = new Upstream(options)
      const api = new Api(upstream)
      const countRecent = makeCounts(api)
      const known = new KnownRules()
      const plan = new Plan()
      const startedAt = yield* Clock.currentTimeMillis
      const health = new StreamHealth(startedAt)
      yield* platforms.register({
        id: x.id,
        get language() {
          return plan.language
        },
        get syntax() {
          return helpFor(plan.language, ruleLimits(rulesPerAccount))
        },
        capabilities: {
          rulesPerAccount,
          isRemote: true,
          ...otherAddress(options.baseUrl, OWN_ORIGINS),
          sendsAlive: true,
          // X documents about 20 seconds.
          ruleDelayMillis: 20_000,
          pricePerEvent: options.pricePerPost,
          monthlyBudget: options.monthlyPostBudget ?? 0
        },
        ...makeRules({ api, known, plan, tags }),
        countRecent,
        ...makeLookUp(api, Duration.toMillis(options.lookUpInterval ?? Duration.zero)),
        watch: makeWatch({
          upstream,
          known,
          health,
          recent,
          countPosts: makeCountPosts(known, countRecent),
          usage: api.usage,
          startedAt
        }),
        status: health.status,
        plan
      })
    })
  )

// ---- helpers ----

/** X still answers at its former address. */
const OWN_ORIGINS = ["https://api.x.com", "https://api.twitter.com"]
