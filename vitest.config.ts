import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { useMemoryDisk } from "./test/memoryDisk.ts"
import LongestFirst from "./test/order.ts"

useMemoryDisk()

/** Test files with global side effects: some read metrics, which a thread has once. Each runs in a thread of its own. */
const ISOLATED = [
  "test/**/Metrics.test.ts",
  "test/adapters/http/supervised.test.ts",
  "test/gateway/metrics.test.ts",
  "test/settings.test.ts"
]

/** Many files wait for other processes. */
const PROCESSES = availableParallelism() + 2

const shared = {
  globalSetup: ["fixtures/postgres.ts"],
  setupFiles: ["test/setup.ts"],
  // Real databases on a busy machine: a limit is there to end a hang, not to measure.
  testTimeout: 240_000,
  hookTimeout: 240_000
}

export default defineConfig({
  test: {
    // What tests log goes out directly; through Vitest's own process it would be read and sorted there.
    disableConsoleIntercept: true,
    reporters: ["default", "./test/slowest.ts"],
    sequence: { sequencer: LongestFirst },
    poolOptions: {
      // A process runs many files, and loads Effect and the product once. Fewer at the end would be ended twice.
      forks: { isolate: false, minForks: PROCESSES, maxForks: PROCESSES },
      threads: { minThreads: 1, maxThreads: 1 }
    },
    projects: [
      { test: { ...shared, name: "sharing", include: ["test/**/*.test.ts"], exclude: ISOLATED, pool: "forks" } },
      { test: { ...shared, name: "isolated", include: ISOLATED, pool: "threads" } }
    ]
  }
})
