/** Times single calls so that a pause of ours can be told from one of the garbage collector or of the machine. */
import { PerformanceObserver } from "node:perf_hooks"
import { setImmediate } from "node:timers/promises"

/**
 * The same calls made several times over: what one of them costs shows every time, what the collector or another
 * process took away does not. So each counts with the shortest time it ever took.
 */
export class RepeatedCalls {
  #shortest: Float64Array<ArrayBuffer> = new Float64Array(0)

  /** Milliseconds of each call, the same calls in the same order each time. */
  add(millis: ReadonlyArray<number>): void {
    this.#shortest =
      this.#shortest.length === 0
        ? Float64Array.from(millis)
        : this.#shortest.map((one, call) => Math.min(one, millis[call] ?? one))
  }

  percentile(share: number): number {
    return percentile(this.#shortest, share)
  }

  /** Undefined if there was none. */
  get longest(): number | undefined {
    return this.#shortest.length === 0 ? undefined : this.#shortest.reduce((one, other) => Math.max(one, other))
  }
}

/** The longest time that the garbage collector takes from now on. */
export class Collections {
  #longest = 0
  readonly #observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) this.#longest = Math.max(this.#longest, duration)
  })

  constructor() {
    this.#observer.observe({ entryTypes: ["gc"] })
  }

  async longest(): Promise<number> {
    // The observer hears of a collection when the process is idle.
    await setImmediate()
    await setImmediate()
    return this.#longest
  }
}

export const percentile = (values: ArrayLike<number>, share: number): number =>
  Float64Array.from(values).sort()[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
