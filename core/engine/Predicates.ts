/** Predicates that are not a term lookup. Equal predicates share one entry, evaluated at most once per event. */
import { testInTurns } from "../syntax/expression/evaluate.ts"
import type { EventFields } from "../syntax/expression/eventFields.ts"
import type { Predicate } from "../syntax/expression/expression.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { gramsOf } from "./grams.ts"
import type { Spaces } from "./spaces.ts"
import type { Work } from "./Work.ts"

interface Entry {
  readonly key: string
  readonly predicate: Predicate
  readonly grams: Int32Array
  references: number
  /** `result` is the outcome for the event with this stamp. */
  stamp: number
  result: boolean
}

export class Predicates {
  private readonly entries: Array<Entry | undefined> = []
  private readonly numbers = new Map<string, number>()
  private readonly freeNumbers: Array<number> = []
  private readonly fingerprints: Fingerprints
  private readonly spaces: Spaces

  constructor(fingerprints: Fingerprints, spaces: Spaces) {
    this.fingerprints = fingerprints
    this.spaces = spaces
  }

  /** Returns the predicate's number. Pair each call with one `release`. */
  acquire(predicate: Predicate): number {
    const { span: _, ...meaning } = predicate
    const key = JSON.stringify(meaning)
    const existing = this.numbers.get(key)
    const entry = existing === undefined ? undefined : this.entries[existing]
    if (existing !== undefined && entry !== undefined) {
      entry.references++
      return existing
    }
    const number = this.freeNumbers.pop() ?? this.entries.length
    const grams = gramsOf(predicate, this.fingerprints, this.spaces)
    this.entries[number] = { key, predicate, grams, references: 1, stamp: 0, result: false }
    this.numbers.set(key, number)
    return number
  }

  release(number: number): void {
    const entry = this.entries[number]
    if (entry === undefined || --entry.references > 0) return
    this.numbers.delete(entry.key)
    this.entries[number] = undefined
    this.freeNumbers.push(number)
  }

  /** The grams that the predicate can be anchored on. See `gramsOf`. */
  gramsOf(number: number): Int32Array {
    return this.entries[number]?.grams ?? noGrams
  }

  /** Returns false and marks the rule as undecided if the event has used up its work for tests. */
  evaluate(number: number, event: EventFields, work: Work): boolean {
    const entry = this.entries[number]
    if (entry === undefined) return false
    if (entry.stamp === work.stamp) return entry.result
    if (work.hasTests) {
      const turn = work.costs === undefined ? test(entry, event, work) : timedTest(entry, event, work)
      if (turn.done === true) {
        entry.stamp = work.stamp
        entry.result = turn.value
        return turn.value
      }
      work.hasTests = false
    }
    work.isUndecided = true
    return false
  }
}

// ---- helpers ----

const test = ({ predicate }: Entry, event: EventFields, work: Work) => testInTurns(predicate, event, work.tests).next()

const timedTest = (entry: Entry, event: EventFields, work: Work) => {
  const startedAt = performance.now()
  const turn = test(entry, event, work)
  work.testNanos += (performance.now() - startedAt) * 1e6
  return turn
}

const noGrams = new Int32Array(0)
