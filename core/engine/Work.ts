/** How much work one event has caused, to divide it into turns. In steps of about a nanosecond. */
import { Pace, STEPS_PER_TURN } from "../work/turns.ts"
import type { Costs } from "./Costs.ts"

/** A few milliseconds. */
const STEPS_OF_TESTS = 5_000_000
const STEPS_OF_PHRASES = 2_000_000

export class Work {
  /** Unique per event. */
  readonly stamp: number
  /** Pace of all tests of the event: its first turn is the only one. */
  readonly tests: Pace
  /** Whether tests are still run. */
  hasTests = true
  /** A test or phrase of the current rule was skipped. */
  isUndecided = false
  /** Steps of terms and phrases in this turn. Above `maxSteps`, phrases are skipped. */
  steps = 0
  readonly maxSteps: number
  readonly stepsPerTurn: number
  /** Set if the work is charged to the rules. */
  readonly costs: Costs | undefined
  /** Of tests, if the work is charged. Measured, because the steps of a pattern are those of its worst case. */
  testNanos = 0

  constructor(stamp: number, isLimited: boolean, costs?: Costs) {
    this.stamp = stamp
    this.costs = costs
    this.stepsPerTurn = isLimited ? STEPS_PER_TURN : Number.POSITIVE_INFINITY
    this.maxSteps = isLimited ? STEPS_OF_PHRASES : Number.POSITIVE_INFINITY
    this.tests = new Pace(isLimited ? STEPS_OF_TESTS : Number.POSITIVE_INFINITY)
  }
}
