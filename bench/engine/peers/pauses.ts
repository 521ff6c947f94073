/** Times single calls so that a pause of ours can be told from one of the garbage collector or of the machine. */
import { PerformanceObserver } from "node:perf_hooks"
import process from "node:process"
import { setImmediate } from "node:timers/promises"
import type { PauseFigures } from "./loaded.ts"

export class CallTimes {
  readonly millis: Array<number> = []
  readonly #slow: Array<Slow> = []
  readonly #collections: Array<{ readonly start: number; readonly end: number }> = []
  readonly #observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      this.#collections.push({ start: startTime, end: startTime + duration })
    }
  })
  readonly #first = performance.now()
  #cpu = process.cpuUsage()
  #calls = 0

  constructor() {
    this.#observer.observe({ entryTypes: ["gc"] })
  }

  /** Milliseconds, from `performance.now()`. */
  add(start: number, end: number): void {
    this.millis.push(end - start)
    this.note(start, end)
  }

  /** Counts for pauses alone. */
  note(start: number, end: number): void {
    this.#calls++
    const isSlow = end - start > SLOW_MILLIS
    if (!isSlow && this.#calls < CALLS_PER_BLOCK) return
    const { user, system } = process.cpuUsage(this.#cpu)
    if (isSlow) this.#slow.push({ start, end, cpuMillis: (user + system) / 1_000 })
    this.begin()
  }

  /** What ran until now belongs to no call. */
  begin(): void {
    this.#cpu = process.cpuUsage()
    this.#calls = 0
  }

  async pauses(): Promise<PauseFigures> {
    // The observer hears of a collection when the process is idle.
    await setImmediate()
    await setImmediate()
    this.#observer.disconnect()
    const ours = this.#slow.map(({ start, end, cpuMillis }) => {
      const collected = this.#collections.reduce(
        (sum, one) => sum + Math.max(0, Math.min(end, one.end) - Math.max(start, one.start)),
        0
      )
      // Where the machine took the core away, the process used less time than went by.
      return Math.min(end - start - collected, cpuMillis)
    })
    const collections = this.#collections.filter(({ start }) => start >= this.#first)
    return {
      callMillis: most(ours.length > 0 ? ours : this.millis),
      collectorMillis: most(collections.map(({ start, end }) => end - start))
    }
  }
}

export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  Float64Array.from(values).sort()[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

// ---- helpers ----

/** Only calls that took longer are looked at more closely, and then by the CPU time of at most so many calls before. */
const SLOW_MILLIS = 0.25
const CALLS_PER_BLOCK = 16

interface Slow {
  readonly start: number
  readonly end: number
  readonly cpuMillis: number
}

/** Of any number of values: more than can be arguments of a call. */
const most = (values: ReadonlyArray<number>): number => values.reduce((one, other) => Math.max(one, other), 0)
