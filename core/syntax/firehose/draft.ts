/** An automaton in the making, with an account of what it may cost. */
import type { Automaton, Edge } from "./machine.ts"

export const automatonLimits = {
  maxStates: 100_000,
  /** Of the deterministic automaton that a `~` needs. */
  maxSubsets: 5_000,
  /** Steps taken to build all automata of one pattern. */
  maxWork: 500_000
} as const

export class Budget {
  private work: number = automatonLimits.maxWork

  get isSpent(): boolean {
    return this.work <= 0
  }

  spend(work: number): void {
    this.work -= work
  }
}

export class Draft {
  readonly budget: Budget
  private readonly edges: Array<Array<Edge>> = []
  private readonly jumps: Array<Array<number>> = []

  constructor(budget: Budget) {
    this.budget = budget
  }

  /** Once the budget is spent no more states are made, and the draft comes to nothing. */
  state(): number {
    if (this.edges.length >= automatonLimits.maxStates) {
      this.budget.spend(automatonLimits.maxWork)
    }
    if (this.budget.isSpent) {
      return 0
    }
    this.budget.spend(1)
    this.edges.push([])
    this.jumps.push([])
    return this.edges.length - 1
  }

  edge(state: number, from: number, to: number, target: number): void {
    this.edges[state]?.push({ from, to, target })
  }

  jump(state: number, target: number): void {
    this.jumps[state]?.push(target)
  }

  /** An edge to a new state. */
  step(start: number, from: number, to: number): number {
    const end = this.state()
    this.edge(start, from, to, end)
    return end
  }

  /** A jump to a new state. */
  jumpTo(start: number): number {
    const end = this.state()
    this.jump(start, end)
    return end
  }

  /** Puts in a whole automaton after `start`; gives the state where it ends. */
  graft(automaton: Automaton | undefined, start: number): number {
    if (automaton === undefined) {
      return start
    }
    const names = automaton.edges.map(() => this.state())
    const nameOf = (state: number) => names[state] ?? 0
    this.jump(start, nameOf(automaton.start))
    automaton.edges.forEach((edges, state) => {
      for (const { from, to, target } of edges) this.edge(nameOf(state), from, to, nameOf(target))
    })
    automaton.jumps.forEach((jumps, state) => {
      for (const target of jumps) this.jump(nameOf(state), nameOf(target))
    })
    return nameOf(automaton.end)
  }

  finish(start: number, end: number): Automaton | undefined {
    return this.budget.isSpent ? undefined : { edges: this.edges, jumps: this.jumps, start, end }
  }
}
