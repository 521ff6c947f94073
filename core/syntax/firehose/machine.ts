/** Runs an automaton over a value: all states it could be in are followed at once, so that nothing is ever read twice. */

export const lastCharacter = 0x10ffff

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

/** An automaton laid out flat: the edges of state `s` stand from `edgeAt[s]` up to `edgeAt[s + 1]`, so do its jumps. */
export class Machine {
  /** The states of one round, in the order they were entered. */
  private states: Int32Array
  private count = 0
  private spare: Int32Array
  private spareCount = 0
  private readonly edgeAt: Int32Array
  private readonly edgeFrom: Int32Array
  private readonly edgeTo: Int32Array
  private readonly edgeTarget: Int32Array
  private readonly jumpAt: Int32Array
  private readonly jumpTarget: Int32Array
  /** The round in which a state was last entered, so that it is entered once for each character. */
  private readonly entered: Int32Array
  private round = 0
  private readonly start: number
  private readonly end: number

  constructor({ edges, jumps, start, end }: Automaton) {
    this.start = start
    this.end = end
    this.states = new Int32Array(edges.length)
    this.spare = new Int32Array(edges.length)
    this.entered = new Int32Array(edges.length)
    const flat = edges.flat()
    this.edgeAt = startsOf(edges)
    this.edgeFrom = Int32Array.from(flat, ({ from }) => from)
    this.edgeTo = Int32Array.from(flat, ({ to }) => to)
    this.edgeTarget = Int32Array.from(flat, ({ target }) => target)
    this.jumpAt = startsOf(jumps)
    this.jumpTarget = Int32Array.from(jumps.flat())
  }

  fits(value: string): boolean {
    this.nextRound()
    this.enter(this.start)
    for (let at = 0; at < value.length && this.count > 0; ) {
      const character = value.codePointAt(at) ?? 0
      at += character > 0xffff ? 2 : 1
      this.read(character)
    }
    for (let index = 0; index < this.count; index++) {
      if (this.states[index] === this.end) {
        return true
      }
    }
    return false
  }

  /** The states reached from these by jumps, rising. */
  closure(states: ReadonlyArray<number>): ReadonlyArray<number> {
    this.nextRound()
    for (const state of states) {
      this.enter(state)
    }
    return [...this.states.subarray(0, this.count).sort()]
  }

  private nextRound(): void {
    const { states, count } = this
    this.states = this.spare
    this.spare = states
    this.spareCount = count
    this.count = 0
    if (this.round === 0x7fffffff) {
      this.entered.fill(0)
      this.round = 0
    }
    this.round++
  }

  /** Adds the state and all that lie behind jumps. */
  private enter(state: number): void {
    const { entered, round, states, jumpAt, jumpTarget } = this
    if (entered[state] === round) {
      return
    }
    let at = this.count
    let count = at
    entered[state] = round
    states[count++] = state
    while (at < count) {
      const from = states[at++] ?? 0
      const last = jumpAt[from + 1] ?? 0
      for (let jump = jumpAt[from] ?? 0; jump < last; jump++) {
        const target = jumpTarget[jump] ?? 0
        if (entered[target] !== round) {
          entered[target] = round
          states[count++] = target
        }
      }
    }
    this.count = count
  }

  private read(character: number): void {
    this.nextRound()
    const { spare, spareCount, edgeAt, edgeFrom, edgeTo, edgeTarget } = this
    for (let index = 0; index < spareCount; index++) {
      const state = spare[index] ?? 0
      const last = edgeAt[state + 1] ?? 0
      for (let edge = edgeAt[state] ?? 0; edge < last; edge++) {
        if ((edgeFrom[edge] ?? 0) <= character && character <= (edgeTo[edge] ?? 0)) {
          this.enter(edgeTarget[edge] ?? 0)
        }
      }
    }
  }
}

// ---- helpers ----

const startsOf = (lists: ReadonlyArray<ReadonlyArray<unknown>>): Int32Array => {
  const starts = new Int32Array(lists.length + 1)
  for (let index = 0; index < lists.length; index++) {
    starts[index + 1] = (starts[index] ?? 0) + (lists[index]?.length ?? 0)
  }
  return starts
}
