/** How much work one event has caused, to divide it into turns. In steps of about a nanosecond. */
import { Pace } from "../work/turns.ts"

/** About ten milliseconds. */
const STEPS_OF_TESTS = 10_000_000

export class Work {
  /** Unique per event. */
  readonly stamp: number
  /** Pace of all tests of the event: its first turn is the only one. */
  readonly tests: Pace
  /** Whether tests are still run. */
  hasTests = true
  /** A test of the current rule was not run. */
  isUndecided = false
  /** Steps of terms and phrases in this turn. */
  steps = 0

  constructor(stamp: number, isLimited: boolean) {
    this.stamp = stamp
    this.tests = new Pace(isLimited ? STEPS_OF_TESTS : Number.POSITIVE_INFINITY)
  }
}
