/** An engine whose rules are identified by name. */
import { evaluateInTurns } from "../syntax/expression/evaluate.ts"
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { Pace, type Turns } from "../work/turns.ts"
import { Costs } from "./Costs.ts"
import { Engine, type EngineOptions, type EngineStats, type Found } from "./Engine.ts"

export class NamedRules {
  private readonly engine: Engine
  private readonly numbers = new Map<string, number>()
  private readonly names: Array<string> = []
  private readonly costs = new Costs()

  constructor(options: EngineOptions) {
    this.engine = new Engine(options)
  }

  get stats(): EngineStats {
    return this.engine.stats
  }

  has(name: string): boolean {
    return this.numbers.has(name)
  }

  /** Replaces a rule of the same name. */
  set(name: string, expression: Expression): void {
    this.delete(name)
    const number = this.engine.add(expression)
    this.numbers.set(name, number)
    this.names[number] = name
  }

  delete(name: string): void {
    const number = this.numbers.get(name)
    if (number === undefined) return
    this.engine.remove(number)
    this.costs.forget(number)
    this.numbers.delete(name)
  }

  /** Names of the matching rules, in no particular order. */
  match(event: PlatformEvent): ReadonlyArray<string> {
    return this.engine.match(event).map((number) => this.names[number] ?? "")
  }

  /**
   * Like `match`, for any event and any rules: see `Engine.matchInTurns`. Rules that the engine leaves undecided are
   * evaluated, which can pause within a test. `expressionOf`: `undefined` if the rule was deleted in the meantime.
   * `isCharged`: what each rule costs is added up for `drainCosts`.
   */
  *matchInTurns(
    event: PlatformEvent,
    expressionOf: (name: string) => Expression | undefined,
    { isCharged = false } = {}
  ): Turns<ReadonlyArray<string>> {
    const matched: Array<string> = []
    const undecided: Array<string> = []
    const found: Found = (number, isDecided) => {
      // Named at once: rule numbers are reused.
      const names = isDecided ? matched : undecided
      names.push(this.names[number] ?? "")
    }
    yield* this.engine.matchInTurns(event, found, isCharged ? this.costs : undefined)
    const pace = new Pace()
    for (const name of undecided) {
      yield
      const expression = expressionOf(name)
      if (expression === undefined) continue
      const evaluating = evaluateInTurns(expression, event, pace)
      if (yield* isCharged ? this.charged(name, evaluating) : evaluating) matched.push(name)
    }
    return matched
  }

  /** What matching with `isCharged` has cost since the last call. */
  drainCosts(): ReadonlyArray<{ readonly name: string; readonly seconds: number }> {
    return this.costs.drain().map(({ rule, seconds }) => ({ name: this.names[rule] ?? "", seconds }))
  }

  private *charged(name: string, evaluating: Turns<boolean>): Turns<boolean> {
    for (;;) {
      const startedAt = performance.now()
      const turn = evaluating.next()
      const number = this.numbers.get(name)
      if (number !== undefined) this.costs.add(number, (performance.now() - startedAt) * 1e6)
      if (turn.done === true) return turn.value
      yield
    }
  }
}
