/** How often it is worth looking for a better place for a rule: for every event while that helps, ever more rarely when not. */

const SLOWEST = 64

export class Pace {
  private period = 1
  private waited = 0
  private state = 1

  isDue(): boolean {
    if (++this.waited < this.period) return false
    this.waited = 0
    return true
  }

  went(well: boolean): void {
    this.period = well ? Math.max(1, this.period >> 1) : Math.min(SLOWEST, this.period + 1)
  }

  /** A number from 0 up to, but not, `limit`. */
  draw(limit: number): number {
    this.state = (Math.imul(this.state, 0x19660d) + 0x3c6ef35f) | 0
    return limit === 0 ? 0 : (this.state >>> 8) % limit
  }
}
