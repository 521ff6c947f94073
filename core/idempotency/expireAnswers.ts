/** Deletes idempotency keys and their answers when their time is over. */
import { Clock, Duration, Effect } from "effect"
import { fromMillis } from "../model/Timestamp.ts"
import { ClaimStore } from "./ClaimStore.ts"
import { KEPT } from "./Idempotency.ts"

export const expireAnswers = Effect.map(ClaimStore, ({ expire }) =>
  Effect.gen(function* () {
    const before = fromMillis((yield* Clock.currentTimeMillis) - Duration.toMillis(KEPT))
    yield* Effect.repeat(expire(before, BATCH), { while: (deleted) => deleted === BATCH })
  })
)

// ---- helpers ----

/** Small, because the embedded store runs one statement at a time. */
const BATCH = 500
