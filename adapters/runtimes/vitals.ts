/** Process metrics: CPU time, memory, event loop delay. On Node and on Deno. */
import process from "node:process"
import { Clock, Effect, type Scope } from "effect"
import * as Metrics from "../../core/telemetry/Metrics.ts"

/** Measures the event loop until the scope closes. Run the returned effect to update the other metrics. */
export const measure = (version: string): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Metrics.setBuildInfo({ version, runtime: RUNTIME })
    yield* Effect.forkScoped(measureEventLoop)
    const startedAt = performance.timeOrigin / 1_000
    let before = { user: 0, system: 0 }
    return Effect.suspend(() => {
      const cpu = process.cpuUsage()
      const { rss, heapUsed, external } = process.memoryUsage()
      const since = { user: (cpu.user - before.user) / MICRO, system: (cpu.system - before.system) / MICRO }
      before = cpu
      return Metrics.setProcessStats({
        startedAt,
        cpu: since,
        memory: { resident: rss, heap: heapUsed, external }
      })
    })
  })

// ---- helpers ----

const MICRO = 1_000_000

const RUNTIME = "deno" in process.versions ? `deno ${process.versions["deno"]}` : `node ${process.versions.node}`

const PERIOD_MILLIS = 50

// Not `monitorEventLoopDelay`: on Deno it misses a blocked loop, and its histogram does not fit our metrics.
const measureEventLoop = Effect.gen(function* () {
  const before = yield* Clock.currentTimeNanos
  yield* Effect.sleep(PERIOD_MILLIS)
  const passed = Number((yield* Clock.currentTimeNanos) - before) / 1e9
  yield* Metrics.eventLoopDelayed(Math.max(passed - PERIOD_MILLIS / 1_000, 0))
}).pipe(Effect.forever)
