/** Waits until X reports room below a usage cap that was reached: the owner of the app can raise it at any time. */
import { Effect, type Option } from "effect"
import type { Inventory } from "../../core/platforms/Platform.ts"

type Usage = Pick<Option.Option.Value<Inventory["usage"]>, "used" | "limit">

/** Looks every few minutes: X allows 50 looks in 15 minutes. `usage`: undefined where X does not say. */
export const awaitRoom = (usage: Effect.Effect<Usage | undefined, unknown>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const read = Effect.orElseSucceed(usage, () => undefined)
    const refusedAt = yield* read
    const hasRoom = (now: Usage | undefined): boolean =>
      now !== undefined && now.used < now.limit && (refusedAt === undefined || isBetter(now, refusedAt))
    const look = Effect.map(Effect.zipRight(Effect.sleep(INTERVAL), read), hasRoom)
    yield* Effect.repeat(look, { until: (isFree) => isFree })
  })

// ---- helpers ----

const INTERVAL = "3 minutes"

/** X refused the connection with those figures: the same ones do not show that it would accept it now. */
const isBetter = (now: Usage, before: Usage): boolean => now.limit > before.limit || now.used < before.used
