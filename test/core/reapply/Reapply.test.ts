/** Reapply: its limit of work. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream, TestClock } from "effect"
import { Backtests } from "../../../core/backtests/Backtests.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { Ids } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import { Platforms } from "../../../core/platforms/Platform.ts"
import { Reapply } from "../../../core/reapply/Reapply.ts"
import { Pauses } from "../../../core/rules/Pauses.ts"
import { Registrations } from "../../../core/rules/Registrations.ts"
import { Rules } from "../../../core/rules/Rules.ts"
import { firehoseUpdate, xPost } from "../../gateway/client.ts"
import { quotas } from "../../quotas.ts"
import { memoryStores } from "../../stores/memoryStores.ts"
import { workTaking } from "../work/workTaking.ts"
import { ann, both, fakes } from "../world.ts"

describe("Reapply", () => {
  it.effect("run tests every event of a slow store: only its work is limited", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* Rules).create(ann, both("storm"))
      const { platforms } = yield* (yield* Reapply).run(ann, { rule_id: id })
      const all = { tested: EVENTS, matched: EVENTS, added: EVENTS, from: Timestamp.fromMillis(0), is_complete: true }
      assert.deepStrictEqual(platforms, { x: all, firehose: all })
    }).pipe(Effect.provide(layer))
  )

  it.scoped(
    "run stops after ten seconds of work on each platform, and keeps what it found among the newest events",
    () =>
      Effect.gen(function* () {
        const rules = yield* Rules
        const { id } = yield* rules.create(ann, both("storm"))
        yield* workTaking(4_000)
        const { platforms } = yield* (yield* Reapply).run(ann, { rule_id: id })
        const stopped = { tested: 3, matched: 3, added: 3, from: Timestamp.fromMillis(7), is_complete: false }
        assert.deepStrictEqual(platforms, { x: stopped, firehose: stopped })

        const matches = yield* MatchStore
        const { items } = yield* matches.list({
          account: ann,
          rules: Option.some([id]),
          platforms: ["x"],
          before: Option.none(),
          limit: 10
        })
        assert.deepStrictEqual(
          items.map(({ platform_post_id, reapplied }) => [platform_post_id, reapplied]),
          [
            ["9", true],
            ["8", true],
            ["7", true]
          ]
        )
      }).pipe(Effect.provide(layer))
  )
})

// ---- helpers ----

const EVENTS = 10
const SECONDS_PER_EVENT = 4

/** Ten events on each platform, received at the milliseconds 0 to 9. It takes four seconds to read one. */
const slowEvents = RecentEvents.of({
  keep: 100,
  record: () => Effect.void,
  remove: () => Effect.void,
  newest: ([log]) =>
    Stream.range(0, EVENTS - 1).pipe(
      Stream.map((place) => EVENTS - 1 - place),
      Stream.map((n) => {
        const event = log === "x" ? xPost(String(n), "A storm") : firehoseUpdate(`https://a.example/${n}`, "A storm")
        return { events: [{ receivedAt: n, json: JSON.stringify(event) }], missed: 0 }
      }),
      Stream.rechunk(1),
      Stream.tap(() => TestClock.adjust(`${SECONDS_PER_EVENT} seconds`))
    )
})

const layer = Reapply.layer.pipe(
  Layer.provideMerge(Layer.merge(Rules.layer, Backtests.layer)),
  Layer.provide(Layer.succeed(Pauses, { pauseFor: () => Effect.succeedNone })),
  Layer.provide(Layer.succeed(RecentEvents, slowEvents)),
  Layer.provide(Registrations.layerWithChanges),
  Layer.provide(Layer.merge(quotas(), fakes)),
  Layer.provideMerge(Layer.merge(Platforms.layer, memoryStores)),
  Layer.provide(Ids.layer),
  Layer.provide(Entropy.layerCounting)
)
