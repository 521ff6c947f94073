/** Makes what was handed over from a shadow matches of its rule. */
import { Effect } from "effect"
import { addLater } from "../matches/addLater.ts"
import type { MatchStore } from "../matches/MatchStore.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { Ids } from "../model/Ids.ts"
import type { Rule } from "../rules/Rule.ts"
import type { ShadowStore } from "./ShadowStore.ts"

/** Skips what the rule has already. After a crash, the next call continues. */
export const adopt = (
  services: {
    readonly shadows: ShadowStore["Type"]
    readonly matches: MatchStore["Type"]
    readonly ids: Ids["Type"]
  },
  rule: Pick<Rule, "id" | "version">
): Effect.Effect<void, StoreUnavailable> =>
  Effect.gen(function* () {
    for (;;) {
      const page = yield* services.shadows.waiting(rule.id, PAGE)
      if (page.length === 0) return
      yield* addLater(services, rule, page)
      yield* services.shadows.settle(rule.id, page)
    }
  })

// ---- helpers ----

const PAGE = 200
