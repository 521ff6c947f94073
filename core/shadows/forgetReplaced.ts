/** Forgets what changes of rules and shadows have left. */
import { Clock, Effect } from "effect"
import * as Timestamp from "../model/Timestamp.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { ShadowStore } from "./ShadowStore.ts"

/** `keepDays`: the age limit of matches; 0 means none. */
export const forgetReplaced = (keepDays: number) =>
  Effect.gen(function* () {
    const rules = yield* RuleStore
    const shadows = yield* ShadowStore
    return Effect.gen(function* () {
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
