import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** Without processes, sockets or anything else that outlives a file: one process runs them all, and loads Effect once. */
const PURE = ["test/core/**/*.test.ts", "test/contract/**/*.test.ts", "test/architecture.test.ts"]

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
      { test: { ...shared, name: "pure", include: PURE, isolate: false } },
      { test: { ...shared, name: "whole", include: ["test/**/*.test.ts"], exclude: PURE } }
    ]
  }
})
