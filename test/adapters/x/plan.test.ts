/** The length of rules follows the plan that X reports. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import type { Platform } from "../../../core/platforms/Platform.ts"
import { pass } from "../../simulator/stage.ts"
import { withSimulator } from "./platform.ts"

const textOf = (length: number) => `cat ${"dog ".repeat(length)}`.slice(0, length - 1).padEnd(length, "g")

const lengthOf = ({ language, syntax }: Platform) => {
  const limit = syntax.limits["rule_length"] ?? 0
  assert.isDefined(language.check(textOf(limit)).rule)
  assert.deepStrictEqual(
    language.check(textOf(limit + 1)).issues.map(({ severity, code }) => [severity, code]),
    [["error", "too-long"]]
  )
  return limit
}

describe("the rule length", () => {
  for (const counts_as of ["strings", "numbers"] as const) {
    it.scoped(`is 2,048 on a plan with 25,000 rules per project, counts as ${counts_as}`, () =>
      withSimulator({ x: { tier: "enterprise", counts_as } }, (_, { platform }) =>
        Effect.gen(function* () {
          assert.strictEqual(lengthOf(platform), 1_024, "the plan is not known yet")
          yield* platform.inventory
          assert.strictEqual(lengthOf(platform), 2_048)
          assert.match(platform.syntax.syntax, /Characters per rule: 2,?048/)
          const [outcome] = yield* platform.register([textOf(2_048)])
          assert.isTrue(outcome !== undefined && Either.isRight(outcome))
        })
      )
    )
  }

  it.scoped("is 1,024 on other plans, also after a change of the plan", () =>
    withSimulator({ x: { tier: "enterprise" } }, (on, { platform }) =>
      Effect.gen(function* () {
        yield* platform.inventory
        yield* on.control.patch({ x: { tier: "pro" } })
        yield* pass(120)
        yield* platform.inventory
        assert.strictEqual(lengthOf(platform), 1_024)
        const [outcome] = yield* platform.register([textOf(2_048)])
        assert.strictEqual(outcome !== undefined && Either.isLeft(outcome) && outcome.left._tag, "PlatformRefused")
      })
    )
  )

  it.scoped("stays as it is while X does not answer", () =>
    withSimulator({ x: { tier: "enterprise" } }, (on, { platform }) =>
      Effect.gen(function* () {
        yield* platform.inventory
        yield* on.control.inject({ kind: "server-error", platform: "x", endpoint: "rules.counts", status: 503 })
        yield* pass(120)
        yield* platform.inventory
        assert.strictEqual(lengthOf(platform), 2_048)
      })
    )
  )
})
