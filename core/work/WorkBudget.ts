/** Limits an analysis to some units of work: it asks before each piece of work, and stops with what it has. */
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
}
