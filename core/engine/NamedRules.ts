/** An engine whose rules are identified by name. */
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import type { Turns } from "../work/turns.ts"
import { Engine, type EngineOptions, type EngineStats } from "./Engine.ts"

export class NamedRules {
  private readonly engine: Engine
  private readonly numbers = new Map<string, number>()
  private readonly names: Array<string> = []

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
    this.numbers.delete(name)
  }

  /** Names of the matching rules, in no particular order. */
  match(event: PlatformEvent): ReadonlyArray<string> {
    return this.engine.match(event).map((number) => this.names[number] ?? "")
  }

  /** Names of the matching rules, and of those whose tests need more work. See `Engine.matchInTurns`. */
  *matchInTurns(event: PlatformEvent): Turns<{ matched: ReadonlyArray<string>; undecided: ReadonlyArray<string> }> {
    const matched: Array<string> = []
    const undecided: Array<string> = []
    // Named at once: rule numbers are reused.
    yield* this.engine.matchInTurns(event, (number, isDecided) => {
      const names = isDecided ? matched : undecided
      names.push(this.names[number] ?? "")
    })
    return { matched, undecided }
  }
}
