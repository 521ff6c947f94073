/** When rules are looked at again for better anchors: all of them each time that eight times as many events were seen. */

/** Rules at a time, so that no event waits for long. */
const AT_ONCE = 8
const FIRST = 256
const TIMES = 8
/** From here on at a steady pace: what people talk about changes. */
const LONGEST = 1 << 20

export class Review {
  private events = 0
  private nextAt = FIRST
  private left = 0
  private rule = 0

  /** How many rules to look at after this event. `rules` is the number of all. */
  due(rules: number): number {
    if (++this.events === this.nextAt) {
      this.left = rules
      this.events = this.nextAt < LONGEST ? this.events : 0
      this.nextAt = Math.min(TIMES * this.nextAt, LONGEST)
    }
    const now = Math.min(this.left, AT_ONCE)
    this.left -= now
    return now
  }

  next(rules: number): number {
    this.rule = this.rule + 1 < rules ? this.rule + 1 : 0
    return this.rule
  }
}
