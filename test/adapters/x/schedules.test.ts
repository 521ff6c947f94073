/** Any mix of faults over half an hour: X is never asked for more than it allows, and all is well when they end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Option } from "effect"
import type { FaultRequest } from "../../../adapters/simulator/faults.ts"
import { sized } from "../../long.ts"
import { pass } from "../simulator/stage.ts"
import { onStage, passSlowly } from "./platform.ts"

const x = { platform: "x" } as const
const ends = FastCheck.record({ seconds: FastCheck.integer({ min: 1, max: 120 }) })
const FAULTS: ReadonlyArray<FastCheck.Arbitrary<FaultRequest>> = [
  ends.map((more) => ({ kind: "refuse", ...x, ...more })),
  ends.map((more) => ({ kind: "server-error", ...x, status: 503, ...more })),
  ends.map((more) => ({ kind: "payment-required", ...x, ...more })),
  ends.map((more) => ({ kind: "rate-limit", ...x, headers: more.seconds % 2 === 0, reset_seconds: 90, ...more })),
  ends.map((more) => ({ kind: "clock-skew", ...x, skew_seconds: (more.seconds - 60) * 1_000, ...more })),
  ends.map((more) => ({ kind: "lower-caps", ...x, connections: 0, rules: 0, ...more })),
  ends.map(({ seconds }) => ({ kind: "hold-slot", ...x, hold_seconds: seconds })),
  ends.map(({ seconds }) => ({ kind: "stall", ...x, keep_alives: seconds % 2 === 0, stall_seconds: seconds })),
  ...(["cut", "close", "torn-line", "half-utf8", "duplicate", "drop-rules"] as const).map((kind) =>
    FastCheck.constant({ kind, ...x })
  ),
  FastCheck.constant({ kind: "disconnect", ...x, disconnect_type: "OperationalDisconnect" }),
  FastCheck.constant({ kind: "slow", ...x, bytes: 50, millis: 100 })
]
const anyFault = FastCheck.oneof(...FAULTS)

describe("any schedule of faults", () => {
  it.scoped.prop(
    "is survived within what X allows",
    [
      FastCheck.array(FastCheck.tuple(FastCheck.integer({ min: 0, max: 59 }), anyFault), {
        minLength: 5,
        maxLength: 25
      }),
      FastCheck.constantFrom("pay-per-use" as const, "enterprise" as const)
    ],
    ([schedule, tier]) =>
      onStage({ x: { tier, connection_cap: 1 } }, (on, { platform, watch }) =>
        Effect.gen(function* () {
          yield* platform.register(["cat"])
          const watching = yield* watch()
          // As the reconciler does it: what X dropped is registered again.
          const mend = Effect.ignore(Effect.zipRight(platform.inventory, platform.register(["cat"])))
          for (let turn = 0; turn < 60; turn++) {
            for (const [at, fault] of schedule) if (at === turn) yield* on.control.inject(fault)
            if (turn % 10 === 0) yield* mend
            yield* on.post(`cat ${turn}`)
            yield* passSlowly(30, 15)
          }
          yield* on.control.clear()
          yield* passSlowly(1_000, 20)
          yield* mend
          yield* pass(1)
          yield* on.post("cat at last")
          yield* pass(1)
          assert.strictEqual(watching.texts().at(-1), "cat at last")
          assert.strictEqual((yield* platform.status).state, "live")
          const ids = watching.deliveries.map(({ platformPostId }) => platformPostId)
          assert.lengthOf(new Set(ids), ids.length, "each post once")
          assert.isTrue(watching.deliveries.every(({ cursor }) => Option.isSome(cursor)))
          const { violations, most_connections, windows } = yield* on.control.state
          assert.deepStrictEqual(violations, [])
          assert.strictEqual(most_connections["x"], 1)
          assert.isAtMost(windows["x.stream"]?.most ?? 0, 50)
        })
      ),
    { fastCheck: { numRuns: sized(2, 10) } }
  )
})
