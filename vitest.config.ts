import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/**
 * Test files without global side effects. They run one after the other in one thread, which loads Effect once. All other
 * files run in a process of their own, as must those that use `excludeTestServices`: it stays in force for the thread.
 */
const SHARING = [
  // Not the two files that read metrics, which are global to the process.
  "test/core/**/!(Metrics).test.ts",
  "test/adapters/{demo,firehose,http,local,runtimes,simulator,telemetry,webhooks,x}/**/!(supervised).test.ts",
  "test/architecture.test.ts"
]

const shared = {
  globalSetup: ["test/postgres.ts"],
  setupFiles: ["test/seed.ts"],
  // Real databases on a busy machine: a limit is there to end a hang, not to measure.
  testTimeout: 240_000,
  hookTimeout: 120_000
}

export default defineConfig({
  test: {
    // What tests log goes out directly; through Vitest's own process it would be read and sorted there.
    disableConsoleIntercept: true,
    reporters: ["default", "./test/slowest.ts"],
    poolOptions: {
      threads: { isolate: false, minThreads: 1, maxThreads: 1 },
      forks: { minForks: 1, maxForks: availableParallelism() + 1 }
    },
    projects: [
      { test: { ...shared, name: "sharing", include: SHARING, pool: "threads" } },
      { test: { ...shared, name: "isolated", include: ["test/**/*.test.ts"], exclude: SHARING, pool: "forks" } }
    ]
  }
})
