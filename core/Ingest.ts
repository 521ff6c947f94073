/** From the platforms' streams into the store: one supervised fiber per platform. */
import { Array as Arr, Cause, Chunk, Effect, Layer, Option, Schedule, Stream } from "effect"
import { Ids } from "./Ids.ts"
import type { Match } from "./Match.ts"
import { MatchStore } from "./MatchStore.ts"
import { type Delivery, type Platform, Platforms } from "./Platform.ts"
import { RuleStore } from "./RuleStore.ts"
import * as Timestamp from "./Timestamp.ts"

/** Runs for as long as its scope is open. */
export const layer: Layer.Layer<never, never, Platforms | RuleStore | MatchStore | Ids> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const platforms = yield* Platforms
    const rules = yield* RuleStore
    const store = yield* MatchStore
    const ids = yield* Ids

    const matchesOf = (platform: Platform, deliveries: ReadonlyArray<Delivery>) =>
      Effect.gen(function* () {
        const platformRuleIds = [...new Set(deliveries.flatMap((delivery) => delivery.platformRuleIds))]
        const holders = yield* rules.holders(platform.id, platformRuleIds)
        const created_at = yield* Timestamp.now
        const matches: Array<Match> = []
        for (const { platformPostId, payload, platformRuleIds } of deliveries) {
          const met = new Set(platformRuleIds)
          for (const { platformRuleId, ruleId } of holders) {
            if (!met.has(platformRuleId)) continue
            matches.push({
              id: yield* ids.match,
              rule_id: ruleId,
              created_at,
              platform: platform.id,
              platform_post_id: platformPostId,
              payload
            })
          }
        }
        return matches
      })

    const storeBatch = (platform: Platform, batch: Chunk.Chunk<Delivery>) =>
      Effect.gen(function* () {
        const deliveries = Chunk.toReadonlyArray(batch)
        const cursor = Arr.findLast(deliveries, ({ cursor }) => Option.isSome(cursor)).pipe(
          Option.flatMap(({ cursor }) => cursor),
          Option.map((cursor) => ({ platform: platform.id, cursor }))
        )
        yield* Effect.flatMap(matchesOf(platform, deliveries), (matches) =>
          store.insert(matches, Option.getOrUndefined(cursor))
        ).pipe(
          Effect.tapError((error) => Effect.logWarning(`Matches of "${platform.id}" wait for the store`, error.cause)),
          Effect.retry(untilItWorks)
        )
        yield* Effect.forEach(deliveries, ({ ack }) => ack, { discard: true })
      }).pipe(
        // A bug that one batch brings out must not stop those that follow; without its ack the sender knows.
        Effect.catchAllDefect((defect) => Effect.logError(`A batch of "${platform.id}" is left out`, defect))
      )

    const consume = (platform: Platform) =>
      Effect.gen(function* () {
        const from = yield* Effect.retry(store.reached(platform.id), untilItWorks)
        yield* Stream.runForEachChunk(platform.deliveries(from), (batch) => storeBatch(platform, batch))
      }).pipe(
        // A platform's stream does not fail by itself; a bug in it must not be the end of it.
        Effect.sandbox,
        Effect.tapError((cause) => Effect.logError(`The stream of "${platform.id}" broke and is resumed`, cause)),
        Effect.retry({ schedule: untilItWorks, while: (cause) => !Cause.isInterruptedOnly(cause) })
      )

    yield* Effect.forEach(yield* platforms.all, (platform) => Effect.forkScoped(consume(platform)), { discard: true })
  })
)

// ---- helpers ----

/** Quickly at first, then every five seconds, for ever: a store that is down stops the stream and loses nothing. */
const untilItWorks = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("5 seconds"))
