/**
 * Decides who may send events while the disk of the store is nearly full. The account that stores the most is refused
 * first, so that small accounts can go on for as long as possible.
 */
import { Context, Effect, Layer, Option } from "effect"
import { MatchStore } from "../matches/MatchStore.ts"
import { DiskNearlyFull, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import { sharedRead } from "../work/sharedRead.ts"
import { Disk } from "./Disk.ts"

/** By default there is always room. */
export class EventRoom extends Context.Reference<EventRoom>()("core/EventRoom", {
  defaultValue: (): {
    /** Fails if these events must not be stored now. Without a sender they are for all accounts. */
    readonly check: (sender: AccountId | undefined) => Effect.Effect<void, DiskNearlyFull | StoreUnavailable>
    /** Fails once the store cannot be written. */
    readonly untilFull: Effect.Effect<never, StoreUnavailable>
  } => ({ check: () => Effect.void, untilFull: Effect.never })
}) {
  static readonly layer: Layer.Layer<EventRoom, never, MatchStore> = Layer.effect(
    EventRoom,
    Effect.gen(function* () {
      const disk = yield* Disk
      const { usages } = yield* MatchStore
      const recentUsages = sharedRead(usages, USAGE_MILLIS)

      const checkWritable = Effect.flatMap(
        disk.problem,
        Option.match({
          onNone: () => Effect.void,
          onSome: (reason) => new StoreUnavailable({ operation: "EventRoom.check", cause: reason, reason })
        })
      )

      const check = (sender: AccountId | undefined) =>
        Effect.gen(function* () {
          yield* checkWritable
          const space = yield* disk.space
          if (sender === undefined || Option.isNone(space)) return
          const { free, floor } = space.value
          if (free >= floor) return
          const all = yield* recentUsages
          const used = all.get(sender)?.bytes ?? 0
          const largest = Math.max(...[...all.values()].map(({ bytes }) => bytes))
          // The less is free, the smaller are the accounts that are refused.
          if (used > 0 && used >= (largest * free) / floor) return yield* new DiskNearlyFull({ used })
        })

      const untilFull = checkWritable.pipe(Effect.delay(POLL_INTERVAL), Effect.forever)

      return { check, untilFull }
    })
  )
}

// ---- helpers ----

const USAGE_MILLIS = 5_000

const POLL_INTERVAL = "1 second"
