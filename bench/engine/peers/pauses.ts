/** Measures single calls, separating our pauses from those of the garbage collector or the machine. */
import { PerformanceObserver } from "node:perf_hooks"
import { setImmediate } from "node:timers/promises"
import { quantile } from "../../figures.ts"

/** Keeps the shortest time of each repeated call: our own cost recurs, a pause by anything else does not. */
export class RepeatedCalls {
  private shortest: Float64Array<ArrayBuffer> = new Float64Array(0)

  /** Milliseconds of each call, in the same order each time. */
  add(millis: ReadonlyArray<number>): void {
    this.shortest =
      this.shortest.length === 0
        ? Float64Array.from(millis)
        : this.shortest.map((one, call) => Math.min(one, millis[call] ?? one))
  }

  percentile(share: number): number {
    return quantile(this.shortest, share)
  }

  /** Undefined without calls. */
  get longest(): number | undefined {
    return this.shortest.length === 0 ? undefined : this.shortest.reduce((one, other) => Math.max(one, other))
  }
}

/** The longest garbage collection from now on. */
export class GcPauses {
  private longestMillis = 0
  private readonly observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) this.longestMillis = Math.max(this.longestMillis, duration)
  })

  constructor() {
    this.observer.observe({ entryTypes: ["gc"] })
  }

  async longest(): Promise<number> {
    // The observer is notified when the process is idle.
    await setImmediate()
    await setImmediate()
    return this.longestMillis
  }
}
