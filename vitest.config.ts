import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** Leave nothing behind that another file could meet: they share processes, each of which loads Effect once. */
const SHARING = [
  "test/core/**/*.test.ts",
  "test/contract/**/*.test.ts",
  "test/adapters/{http,local,runtimes,simulator,telemetry,webhooks}/**/*.test.ts",
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
    reporters: ["default", "./test/slowest.ts"],
    // Half again as many as there are cores: many tests wait for a process, or for time to pass.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: [
      { test: { ...shared, name: "sharing", include: SHARING, isolate: false } },
      { test: { ...shared, name: "isolated", include: ["test/**/*.test.ts"], exclude: SHARING } }
    ]
  }
})
