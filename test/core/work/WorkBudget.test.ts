import { assert, describe, it } from "@effect/vitest"
import { finish, type Turns } from "../../../core/work/turns.ts"
import { WorkBudget } from "../../../core/work/WorkBudget.ts"

describe("WorkBudget", () => {
  it("take refuses what exceeds the rest, and everything after that", () => {
    const budget = new WorkBudget(10)
    assert.isTrue(budget.take(6))
    assert.isTrue(budget.take(4))
    assert.isFalse(budget.isUsedUp)
    assert.isFalse(budget.take(1))
    assert.isFalse(budget.take(0))
    assert.isTrue(budget.isUsedUp)
  })

  it("run ends the work when its turns have used up the budget", () => {
    let turns = 0
    function* endless(): Turns<never> {
      for (;;) {
        turns++
        yield
      }
    }
    assert.isUndefined(finish(new WorkBudget(1_000).run(endless())))
    assert.strictEqual(turns, 6)
  })
})
