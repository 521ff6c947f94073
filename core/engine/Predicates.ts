/** Tests that are more than "the event has this term": kept once for all rules that ask them, run once for an event. */
import { meets } from "../syntax/expression/evaluate.ts"
import type { EventFields } from "../syntax/expression/eventFields.ts"
import type { Predicate } from "../syntax/expression/expression.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { gramsOf } from "./grams.ts"

interface Entry {
  readonly key: string
  readonly predicate: Predicate
  readonly grams: Int32Array
  uses: number
  /** The event it was run for last, by number, and what came out. */
  stamp: number
  held: boolean
}

export class Predicates {
  private readonly entries: Array<Entry | undefined> = []
  private readonly numbers = new Map<string, number>()
  private readonly unused: Array<number> = []
  private readonly fingerprints: Fingerprints

  constructor(fingerprints: Fingerprints) {
    this.fingerprints = fingerprints
  }

  /** The number of the test; each call is to be matched by one of `release`. */
  use(predicate: Predicate): number {
    const { span: _, ...meaning } = predicate
    const key = JSON.stringify(meaning)
    const known = this.numbers.get(key)
    const entry = known === undefined ? undefined : this.entries[known]
    if (known !== undefined && entry !== undefined) {
      entry.uses++
      return known
    }
    const number = this.unused.pop() ?? this.entries.length
    const grams = gramsOf(predicate, this.fingerprints)
    this.entries[number] = { key, predicate, grams, uses: 1, stamp: 0, held: false }
    this.numbers.set(key, number)
    return number
  }

  release(number: number): void {
    const entry = this.entries[number]
    if (entry === undefined || --entry.uses > 0) return
    this.numbers.delete(entry.key)
    this.entries[number] = undefined
    this.unused.push(number)
  }

  /** By what the test can be looked up; see `gramsOf`. */
  gramsOf(number: number): Int32Array {
    return this.entries[number]?.grams ?? noGrams
  }

  /** `stamp` is another for each event. */
  holds(number: number, event: EventFields, stamp: number): boolean {
    const entry = this.entries[number]
    if (entry === undefined) return false
    if (entry.stamp !== stamp) {
      entry.stamp = stamp
      entry.held = meets(entry.predicate, event)
    }
    return entry.held
  }
}

// ---- helpers ----

const noGrams = new Int32Array(0)
