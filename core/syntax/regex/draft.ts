/** An automaton in the making, with an account of what it may cost. */

/** Reads one character between `from` and `to`, both included. */
export interface Edge {
  readonly from: number
  readonly to: number
  readonly target: number
}

export interface Automaton {
  readonly edges: ReadonlyArray<ReadonlyArray<Edge>>
  /** Steps that read nothing. */
  readonly jumps: ReadonlyArray<ReadonlyArray<number>>
  readonly start: number
  readonly end: number
}

/** What all patterns of one rule may cost together. */
export const automatonLimits = {
  /** Positions of the automata that are run; a move takes them 32 at once. */
  maxPositions: 10_000,
  /** Ways from one position to another that is not the next, as `Layout` packs them. */
  maxLinks: 5_000,
  /** States of the deterministic automaton that a `~` inside a pattern needs. */
  maxSubsets: 5_000,
  /** Steps taken to build the automata. */
  maxWork: 200_000,
  /** Memory for the moves of one automaton, in numbers of four bytes. */
  maxCells: 65_536
} as const

/** What is left of the limits. */
export class Budget {
  private work: number = automatonLimits.maxWork
  private positions: number = automatonLimits.maxPositions
  private links: number = automatonLimits.maxLinks

  get isSpent(): boolean {
    return this.work <= 0 || this.positions < 0 || this.links < 0
  }

  spend(work: number): void {
    this.work -= work
  }

  spendPositions(count: number): void {
    this.positions -= count
  }

  spendLinks(count: number): void {
    this.links -= count
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
    if (this.budget.isSpent) {
      return 0
    }
    this.budget.spend(1)
    this.edges.push([])
    this.jumps.push([])
    return this.edges.length - 1
  }

  edge(state: number, from: number, to: number, target: number): void {
    this.budget.spend(1)
    this.edges[state]?.push({ from, to, target })
  }

  jump(state: number, target: number): void {
    this.budget.spend(1)
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
