/** The X platform: rules on its filtered stream, and the posts that it sends for them. */
import { Clock, Effect, Layer, Option, type Redacted } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { helpFor } from "../../core/platforms/syntaxHelp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { checkRule } from "../../core/syntax/language.ts"
import { KnownRules } from "../http/KnownRules.ts"
import { ownTag } from "../http/ownTag.ts"
import { StreamHealth } from "../http/StreamHealth.ts"
import { Upstream } from "../http/Upstream.ts"
import { Api } from "./api.ts"
import { makeRules } from "./rules.ts"
import { makeWatch } from "./stream.ts"

export const layerWith = (options: {
  readonly baseUrl: string
  readonly token: Redacted.Redacted
  readonly rulesPerAccount: number
}): Layer.Layer<never, never, Platforms | RuleStore | RecentEvents> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const store = yield* RuleStore
      const recent = yield* RecentEvents
      const tag = yield* ownTag(store, "x")
      const upstream = new Upstream(options)
      const known = new KnownRules()
      const health = new StreamHealth(yield* Clock.currentTimeMillis)
      yield* platforms.register({
        id: "x",
        syntax: helpFor("x", { rules_per_account: options.rulesPerAccount }),
        capabilities: { rulesPerAccount: Option.some(options.rulesPerAccount), isRemote: true },
        check: (text) => checkRule("x", text),
        ...makeRules({ api: new Api(upstream), known, tag }),
        watch: makeWatch({ upstream, known, health, recent }),
        status: health.status
      })
    })
  )
