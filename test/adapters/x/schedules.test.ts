/** Random faults over half an hour: the adapter stays within X's limits and recovers when they end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import type { FaultRequest } from "../../../simulator/faults.ts"
import { sized } from "../../long.ts"
import { pass } from "../../simulator/stage.ts"
import { passInSteps, withSimulator } from "./platform.ts"

const x = { platform: "x" } as const
const duration = FastCheck.record({ seconds: FastCheck.integer({ min: 1, max: 120 }) })
const faults: ReadonlyArray<FastCheck.Arbitrary<FaultRequest>> = [
  duration.map((limits) => ({ kind: "refuse", ...x, ...limits })),
  duration.map((limits) => ({ kind: "server-error", ...x, status: 503, ...limits })),
  duration.map((limits) => ({ kind: "payment-required", ...x, ...limits })),
  duration.map((limits) => ({
    kind: "rate-limit",
    ...x,
    headers: limits.seconds % 2 === 0,
    reset_seconds: 90,
    ...limits
  })),
  duration.map((limits) => ({ kind: "clock-skew", ...x, skew_seconds: (limits.seconds - 60) * 1_000, ...limits })),
  duration.map((limits) => ({ kind: "lower-caps", ...x, connections: 0, rules: 0, ...limits })),
  duration.map(({ seconds }) => ({ kind: "hold-slot", ...x, hold_seconds: seconds })),
  duration.map(({ seconds }) => ({ kind: "stall", ...x, keep_alives: seconds % 2 === 0, stall_seconds: seconds })),
  ...(["cut", "close", "torn-line", "half-utf8", "duplicate", "drop-rules"] as const).map((kind) =>
    FastCheck.constant({ kind, ...x })
  ),
  FastCheck.constant({ kind: "disconnect", ...x, disconnect_type: "OperationalDisconnect" }),
  FastCheck.constant({ kind: "slow", ...x, bytes: 50, millis: 100 })
]
const anyFault = FastCheck.oneof(...faults)

describe("random faults", () => {
  it.scoped.prop(
    "the adapter recovers and stays within X's limits",
    [
      FastCheck.array(FastCheck.tuple(FastCheck.integer({ min: 0, max: 59 }), anyFault), {
        minLength: 5,
        maxLength: 25
      }),
      FastCheck.constantFrom("pay-per-use" as const, "enterprise" as const)
    ],
    ([schedule, tier]) =>
      withSimulator({ x: { tier, connection_cap: 1 } }, (on, { platform, watch }) =>
        Effect.gen(function* () {
          yield* platform.register(["cat"])
          const watcher = yield* watch()
          // Like the reconciler: registers rules again that X dropped.
          const reconcile = Effect.ignore(Effect.zipRight(platform.inventory, platform.register(["cat"])))
          for (let turn = 0; turn < 60; turn++) {
            for (const [at, fault] of schedule) if (at === turn) yield* on.control.inject(fault)
            if (turn % 10 === 0) yield* reconcile
            yield* on.post(`cat ${turn}`)
            yield* passInSteps(30, 15)
          }
          yield* on.control.clear()
          yield* passInSteps(1_000, 20)
          yield* reconcile
          yield* pass(1)
          yield* on.post("cat at last")
          yield* pass(1)
          assert.strictEqual(watcher.texts().at(-1), "cat at last")
          assert.strictEqual((yield* platform.status).state, "live")
          const ids = watcher.deliveries.map(({ platformPostId }) => platformPostId)
          assert.lengthOf(new Set(ids), ids.length, "each post once")
          const { violations, most_connections, windows } = yield* on.control.state
          assert.deepStrictEqual(violations, [])
          assert.strictEqual(most_connections["x"], 1)
          assert.isAtMost(windows["x.stream"]?.most ?? 0, 50)
        })
      ),
    { fastCheck: { numRuns: sized(2, 10) } }
  )
})
