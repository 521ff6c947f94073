/** The platform `firehose` on the real service: the rules and the stream of one tap. */
import { Clock, Effect, Either, Layer, Option, type Redacted } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { firehose } from "../../core/languages/firehose.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import {
  type Installed,
  type Platform,
  Platforms,
  type Registered,
  type RuleRefusal,
  type UpstreamMode,
  type UpstreamRule
} from "../../core/platforms/Platform.ts"
import { helpFor, ruleLimit, ruleLimits } from "../../core/platforms/syntaxHelp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { pages } from "../demo/pages.ts"
import { Budget } from "../http/Budget.ts"
import { KnownRules } from "../http/KnownRules.ts"
import { ownTags } from "../http/OwnTags.ts"
import { otherAddress } from "../http/otherAddress.ts"
import { StreamHealth } from "../http/StreamHealth.ts"
import { Upstream } from "../http/Upstream.ts"
import { type FirehoseRule, makeApi } from "./api.ts"
import { watch } from "./stream.ts"

/** Without a token, the platform runs in process. */
export const install = (settings: {
  readonly firehoseToken: Option.Option<Redacted.Redacted>
  readonly firehoseBaseUrl: string
  readonly firehoseRulesPerAccount: number
  readonly upstream: UpstreamMode
}): Installed<Platforms | RuleStore | RecentEvents | Entropy> => ({
  language: firehose,
  rulesPerAccount: ruleLimit(settings.firehoseRulesPerAccount),
  remote: Option.map(settings.firehoseToken, (token) => ({
    baseUrl: settings.firehoseBaseUrl,
    layer: layerWith({
      baseUrl: settings.firehoseBaseUrl,
      token,
      rulesPerAccount: settings.firehoseRulesPerAccount,
      takesOver: settings.upstream === "takeover"
    })
  })),
  demo: { perSecond: 1, make: pages, filter: "nasa" }
})

export const layerWith = (options: {
  readonly baseUrl: string
  readonly token: Redacted.Redacted
  /** 0: no limit. */
  readonly rulesPerAccount: number
  /** Rules that were made from a copy of this store count as ours. */
  readonly takesOver?: boolean
}): Layer.Layer<never, never, Platforms | RuleStore | RecentEvents | Entropy> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const store = yield* RuleStore
      const recent = yield* RecentEvents
      const { sha256 } = yield* Entropy
      const tags = yield* ownTags(store, "firehose", options)
      const upstream = new Upstream(options)
      const known = new KnownRules()
      const health = new StreamHealth(yield* Clock.currentTimeMillis)
      const watching = { upstream, budget: new Budget(connectionLimit), known, health, recent, digest: sha256 }
      const api = makeApi(upstream)

      const list = Effect.gen(function* () {
        const rules = yield* api.list
        // After the list: what another server has registered meanwhile is then known.
        const originOf = yield* tags.origins
        const found: ReadonlyArray<UpstreamRule> = rules.map((rule) => ({
          ...registeredOf(rule),
          ...originOf(rule.tag)
        }))
        known.replace(found)
        return found
      })

      const create = (value: string, tag: string) =>
        Effect.map(
          api.create({ value, tag }),
          Either.map((rule) => {
            const registered = registeredOf(rule)
            known.add(registered)
            return registered
          })
        )

      const register = (texts: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const rules = texts.length === 0 ? [] : yield* list
          // Firehose does not deduplicate texts. Foreign rules are not reused: their owner may delete them.
          const outcomes = new Map<string, Either.Either<Registered, RuleRefusal>>(
            rules.flatMap(({ isOurs, isNewer, ...rule }) =>
              isOurs ? [[rule.translatedValue, Either.right(rule)]] : []
            )
          )
          const isNew = texts.some((text) => !outcomes.has(text))
          const tag = isNew ? yield* tags.next : tags.deployment
          return yield* Effect.forEach(texts, (text) =>
            Effect.gen(function* () {
              const outcome = outcomes.get(text) ?? (yield* create(text, tag))
              outcomes.set(text, outcome)
              return outcome
            })
          )
        })

      const unregister = (platformRuleIds: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          if (platformRuleIds.length === 0) return
          const ours = (yield* list).filter((rule) => rule.isOurs && platformRuleIds.includes(rule.platformRuleId))
          for (const { platformRuleId } of ours) {
            yield* api.remove(platformRuleId)
            known.delete([platformRuleId])
          }
        })

      const rulesPerAccount = ruleLimit(options.rulesPerAccount)
      const platform: Platform = {
        id: firehose.id,
        language: firehose,
        syntax: helpFor(firehose, ruleLimits(rulesPerAccount)),
        capabilities: {
          rulesPerAccount,
          isRemote: true,
          ...otherAddress(options.baseUrl, OWN_ORIGINS),
          sendsAlive: true
        },
        verify: api.validate,
        register,
        unregister,
        inventory: Effect.map(list, (rules) => ({ rules, ruleLimit: Option.none(), usage: Option.none() })),
        watch: (from) => watch(watching, from),
        status: health.status
      }
      yield* platforms.register(platform)
    })
  )

// ---- helpers ----

const OWN_ORIGINS = ["https://api.firehose.com"]

/** Firehose allows 30 per minute; the margin covers clock drift. */
const connectionLimit = { limit: 28, windowMillis: 60_000 }

const registeredOf = ({ id, value }: FirehoseRule): Registered => ({ platformRuleId: id, translatedValue: value })
