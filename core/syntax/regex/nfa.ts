/** A nondeterministic finite automaton (NFA), the builder for it, and the budget that limits its cost. */

/** A transition on one character between `from` and `to`, both inclusive. */
export interface Edge {
  readonly from: number
  readonly to: number
  readonly target: number
}

export interface Nfa {
  readonly edges: ReadonlyArray<ReadonlyArray<Edge>>
  /** Targets of the epsilon transitions of each state. */
  readonly epsilons: ReadonlyArray<ReadonlyArray<number>>
  readonly start: number
  readonly end: number
}

/** Limits for all patterns of one rule together. They bound the cost of a character in the worst case. */
export const nfaLimits = {
  /** Positions of all layouts; a transition handles 32 of them at once. */
  maxPositions: 8_192,
  /**
   * Positions that read the same character: as many can be active at once. Wildcards, fuzzy words and phrases count as
   * the number of positions that cost as much.
   */
  maxActive: 1_500,
  /** Transitions to a position other than the next one, as packed by `Layout`. */
  maxLinks: 750,
  /** DFA states of the subset construction for a `~` inside a pattern. */
  maxSubsets: 1_000,
  /** Steps to build the automata. */
  maxWork: 40_000,
  /** Size of the transition table of one `LazyDfa`, in 32-bit integers. */
  maxCells: 16_384
} as const

/** What remains of `nfaLimits`. */
export class Budget {
  private work: number = nfaLimits.maxWork
  private positions: number = nfaLimits.maxPositions
  private active: number = nfaLimits.maxActive
  private links: number = nfaLimits.maxLinks

  /** Building the automata took so little that the rule can be checked many times. */
  get isCheap(): boolean {
    return this.work > 0.9 * nfaLimits.maxWork
  }

  get isSpent(): boolean {
    return this.work <= 0 || this.positions < 0 || this.active < 0 || this.links < 0
  }

  /** Once it is spent: the limit that is exceeded, and by how much as far as it was counted. */
  get excess(): string {
    const exceeded = [
      { what: "automaton states", left: this.positions, max: nfaLimits.maxPositions },
      { what: "automaton states that read the same character", left: this.active, max: nfaLimits.maxActive },
      { what: "jumps between automaton states", left: this.links, max: nfaLimits.maxLinks }
    ].find(({ left }) => left < 0)
    return exceeded === undefined
      ? `more than ${nfaLimits.maxWork} steps to prepare, and at most ${nfaLimits.maxWork} are allowed`
      : `at least ${exceeded.max - exceeded.left} ${exceeded.what}, and at most ${exceeded.max} are allowed`
  }

  /** Of `nfaLimits.maxActive`. */
  get usedActive(): number {
    return nfaLimits.maxActive - this.active
  }

  /** Estimated cost of the patterns so far: see `Pace`. */
  get stepsPerCharacter(): number {
    const positions = nfaLimits.maxPositions - this.positions
    return 20 + positions / 4 + 5 * (nfaLimits.maxLinks - this.links)
  }

  canSpendActive(count: number): boolean {
    return count <= Math.max(0, this.active)
  }

  spend(work: number): void {
    this.work -= work
  }

  spendPositions(count: number, active: number): void {
    this.positions -= count
    this.active -= active
  }

  /** Returns whether this exceeds the budget. */
  spendActive(count: number): boolean {
    const wasSpent = this.isSpent
    this.active -= count
    return this.isSpent && !wasSpent
  }

  spendLinks(count: number): void {
    this.links -= count
  }
}

export class NfaBuilder {
  readonly budget: Budget
  private readonly edges: Array<Array<Edge>> = []
  private readonly epsilons: Array<Array<number>> = []

  constructor(budget: Budget) {
    this.budget = budget
  }

  /** Adds no state once the budget is spent; `finish` then returns `undefined`. */
  addState(): number {
    if (this.budget.isSpent) return 0
    this.budget.spend(1)
    this.edges.push([])
    this.epsilons.push([])
    return this.edges.length - 1
  }

  addEdge(state: number, from: number, to: number, target: number): void {
    this.budget.spend(1)
    this.edges[state]?.push({ from, to, target })
  }

  addEpsilon(state: number, target: number): void {
    this.budget.spend(1)
    this.epsilons[state]?.push(target)
  }

  /** Adds an edge to a new state and returns that state. */
  addEdgeTo(start: number, from: number, to: number): number {
    const end = this.addState()
    this.addEdge(start, from, to, end)
    return end
  }

  /** Adds an epsilon transition to a new state and returns that state. */
  addEpsilonTo(start: number): number {
    const end = this.addState()
    this.addEpsilon(start, end)
    return end
  }

  /** Copies an NFA in after `start` and returns its end state. */
  graft(nfa: Nfa | undefined, start: number): number {
    if (nfa === undefined) return start
    const copies = nfa.edges.map(() => this.addState())
    const copyOf = (state: number) => copies[state] ?? 0
    this.addEpsilon(start, copyOf(nfa.start))
    nfa.edges.forEach((edges, state) => {
      for (const { from, to, target } of edges) this.addEdge(copyOf(state), from, to, copyOf(target))
    })
    nfa.epsilons.forEach((epsilons, state) => {
      for (const target of epsilons) this.addEpsilon(copyOf(state), copyOf(target))
    })
    return copyOf(nfa.end)
  }

  finish(start: number, end: number): Nfa | undefined {
    return this.budget.isSpent ? undefined : { edges: this.edges, epsilons: this.epsilons, start, end }
  }
}
