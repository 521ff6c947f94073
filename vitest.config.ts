import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/postgres.ts"],
    setupFiles: ["test/seed.ts"],
    reporters: ["default", "./test/slowest.ts"],
    // Vitest leaves one core to itself by default, and does next to nothing on it.
    maxWorkers: "100%",
    // Real databases on a busy machine: a limit is there to end a hang, not to measure.
    testTimeout: 240_000,
    hookTimeout: 120_000
  }
})
