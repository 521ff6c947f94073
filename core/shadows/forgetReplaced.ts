/** Forgets what changes of rules and shadows have left, and finishes promotions. */
import { Clock, Effect } from "effect"
import { MatchStore } from "../matches/MatchStore.ts"
import { Ids } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { adopt } from "./adopt.ts"
import { ShadowStore } from "./ShadowStore.ts"

/** `keepDays`: the age limit of matches; 0 means none. */
export const forgetReplaced = (keepDays: number) =>
  Effect.gen(function* () {
    const rules = yield* RuleStore
    const shadows = yield* ShadowStore
    const services = { shadows, matches: yield* MatchStore, ids: yield* Ids }
    return Effect.gen(function* () {
      for (const rule of yield* shadows.waitingRules) yield* adopt(services, rule)
      const now = yield* Clock.currentTimeMillis
      yield* rules.forgetRetired(Timestamp.fromMillis(now - LATEST_EVENT_MILLIS))
      const before = keepDays > 0 ? now - keepDays * Timestamp.DAY_MILLIS : 0
      yield* shadows.trim({ before: Timestamp.fromMillis(before), keep: SHADOW_MATCHES })
    })
  })

// ---- helpers ----

/** A platform sends events again for at most a day. */
const LATEST_EVENT_MILLIS = Timestamp.DAY_MILLIS

/** Per shadow. */
const SHADOW_MATCHES = 10_000
