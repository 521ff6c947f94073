/** A limit on the work of an analysis. */
import { STEPS_PER_TURN, type Turns } from "./turns.ts"

/** The analysis asks before each piece of work, and stops with what it has. */
export class WorkBudget {
  /** Some work was left out. */
  isUsedUp = false
  private left: number

  /** One unit takes about a microsecond. */
  constructor(units: number) {
    this.left = units
  }

  /** Whether there is work left for this piece. The first refusal uses up the rest. */
  take(units: number): boolean {
    if (this.isUsedUp || units > this.left) {
      this.isUsedUp = true
      return false
    }
    this.left -= units
    return true
  }

  /** Takes what each turn costs. `undefined` if the budget is used up before the work is done. */
  *run<A>(work: Turns<A>): Turns<A | undefined> {
    for (let turn = work.next(); ; turn = work.next()) {
      if (turn.done === true) return turn.value
      if (!this.take(UNITS_PER_TURN)) return undefined
      yield
    }
  }
}

export const STEPS_PER_UNIT = 1_000

// ---- helpers ----

const UNITS_PER_TURN = STEPS_PER_TURN / STEPS_PER_UNIT
