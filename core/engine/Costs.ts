/** What verifying each rule has cost, to charge it to the owners of the rules. */

export class Costs {
  private nanos = new Float64Array(1_024)
  /** Rules with a cost. May name one twice, or one that was forgotten. */
  private rules: Array<number> = []

  add(rule: number, nanos: number): void {
    if (rule >= this.nanos.length) {
      const larger = new Float64Array(2 * rule)
      larger.set(this.nanos)
      this.nanos = larger
    }
    const before = this.nanos[rule] ?? 0
    if (before === 0) this.rules.push(rule)
    this.nanos[rule] = before + nanos
  }

  /** Call it for a removed rule: its number is reused. */
  forget(rule: number): void {
    if (rule < this.nanos.length) this.nanos[rule] = 0
  }

  /** In seconds since the last call. */
  drain(): ReadonlyArray<{ readonly rule: number; readonly seconds: number }> {
    const { nanos, rules } = this
    this.rules = []
    const drained: Array<{ rule: number; seconds: number }> = []
    for (const rule of rules) {
      const spent = nanos[rule] ?? 0
      if (spent > 0) drained.push({ rule, seconds: spent / 1e9 })
      nanos[rule] = 0
    }
    return drained
  }
}
