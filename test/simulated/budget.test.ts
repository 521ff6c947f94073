/** The last hour of a month that would overrun its budget, on the adapter of X and the simulator. */
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { ann, bob } from "../core/world.ts"
import { withService } from "./service.ts"

const START = Date.UTC(2026, 10, 30, 23)
const BUDGET = 100

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
          assert.deepInclude(loud, { state: "failed" })
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
