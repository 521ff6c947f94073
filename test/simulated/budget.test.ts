/** The last hour of a month that would overrun its budget, on the adapter of X and the simulator. */
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { ann, bob } from "../core/world.ts"
import { withService } from "./service.ts"

const START = Date.UTC(2026, 10, 30, 23)
const BUDGET = 100
const SLOW_BUDGET = 300

it("the rule with the most posts is taken off X before the budget is used up, and is back in the next month", () =>
  Effect.runPromise(
    withService(
      1,
      ({ clock, control, platforms, rules, log }) =>
        Effect.gen(function* () {
          const create = (account: typeof ann, text: string) =>
            rules.create(account, { name: text, intent: text, platforms: ["x"], overrides: { x: text } })
          yield* create(ann, "loud")
          yield* create(bob, "loud")
          yield* create(bob, "quiet")
          const texts = Effect.map(control.state, ({ x }) => x.rules.map(({ value }) => value).toSorted())
          const published = { next: 1 }
          const publish = (text: string) =>
            control.publish([{ data: { id: String(1_000_000 + published.next++), text, lang: "en", author_id: "7" } }])
          const usage = Effect.map(control.delivered(0, 1_000), (page) => page.delivered.length)

          // 80 % after 20 minutes.
          for (let minute = 0; minute < 59; minute++) {
            for (let post = 0; post < 4; post++) yield* publish("loud")
            if (minute % 10 === 0) yield* publish("quiet")
            yield* clock.advance(60)
          }
          assert.deepStrictEqual(yield* texts, ["quiet"])
          const delivered = yield* usage
          assert.isAtLeast(delivered, 80)
          assert.isAtMost(delivered, BUDGET)
          assert.include(log.join("\n"), `80 % of the monthly budget of ${BUDGET} posts`)
          const [loud] = (yield* rules.list(ann, {})).rules.map(({ platforms }) => platforms["x"])
          assert.deepInclude(loud, { state: "paused", paused_by: "budget" })
          assert.match(String(loud?.reason), /^paused: the monthly budget of 100 posts is nearly used up/)

          yield* clock.advance(180)
          assert.deepStrictEqual(yield* texts, ["loud", "quiet"])
          assert.deepStrictEqual(
            (yield* rules.list(bob, {})).rules.map(({ platforms }) => platforms["x"]?.state),
            ["active", "active"]
          )
          yield* publish("loud")
          // The usage is read every two minutes.
          yield* clock.advance(120)
          assert.strictEqual(yield* usage, delivered + 1)
          const inventory = yield* Effect.flatMap(platforms.get("x"), ({ inventory }) => inventory)
          assert.deepInclude(Option.getOrThrow(inventory.usage), {
            used: delivered + 1,
            month: { start: Date.UTC(2026, 11), used: 1 }
          })
        }).pipe(Effect.orDie),
      { start: START, monthlyPostBudget: BUDGET }
    )
  ))

/** While a pause waits for the store, X goes on: at 20 posts per second, two waits are 40 posts. */
for (const [perSecond, beyond] of [
  [10, 0],
  [20, 40]
] as const) {
  it(`X delivers at most ${beyond} posts beyond the budget if it sends ${perSecond} per second and each write waits for one`, () =>
    Effect.runPromise(
      withService(
        1,
        ({ clock, control, rules }) =>
          Effect.gen(function* () {
            for (const text of ["loud", "loud noise"]) {
              yield* rules.create(ann, { name: text, intent: text, platforms: ["x"], overrides: { x: text } })
            }
            for (let post = 0; post < 400; post++) {
              const text = post % 2 === 0 ? "loud" : "loud noise"
              yield* control.publish([{ data: { id: String(1_000_000 + post), text, lang: "en", author_id: "7" } }])
              yield* clock.advance(1 / perSecond)
            }
            assert.deepStrictEqual((yield* control.state).x.rules, [])
            const { delivered } = yield* control.delivered(0, 1_000)
            assert.isAtMost(delivered.length, SLOW_BUDGET + beyond)
          }).pipe(Effect.orDie),
        { start: START, monthlyPostBudget: SLOW_BUDGET, writeSeconds: 1 }
      )
    ))
}
