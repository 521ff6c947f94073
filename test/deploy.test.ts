/** The files in deploy/ for Prometheus: they are valid, and name only metrics that exist. */
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import * as Metrics from "../core/telemetry/Metrics.ts"
import { exposition } from "../gateway/metrics.ts"
import { ROOT } from "./program.ts"
import { parseMetrics } from "./prometheus.ts"

const read = (name: string): string => readFileSync(join(ROOT, "deploy", name), "utf8")

describe("deploy", () => {
  for (const name of ["alerts.yml", "alerts.test.yml"]) {
    it.effect(`${name} names only metrics that exist`, () =>
      Effect.gen(function* () {
        const known = yield* knownNames
        const named = namesIn(read(name))
        assert.isAbove(named.length, 15, "finds the metrics")
        assert.deepStrictEqual(
          named.filter((metric) => !known.has(metric)),
          []
        )
      })
    )
  }

  it("alerts.yml has a test, a severity and two texts for each alert", () => {
    const tests = read("alerts.test.yml")
    const alerts = read("alerts.yml")
      .split(/^ +- alert: /m)
      .slice(1)
    assert.isAbove(alerts.length, 15, "finds the alerts")
    for (const alert of alerts) {
      const [name = ""] = alert.split("\n")
      assert.match(tests, new RegExp(`alertname(="|: )${name}\\b`), name)
      for (const part of ["severity: ", "summary: ", "description: "]) assert.include(alert, part, name)
    }
  })

  it("alerts.yml passes the checks and tests of promtool", ({ skip }) => {
    if (spawnSync("promtool", ["--version"]).error !== undefined) {
      console.log("Skipped the tests of deploy/alerts.yml: promtool is missing (apt-get install prometheus)")
      return skip()
    }
    const run = (what: "check" | "test", file: string) =>
      execFileSync("promtool", [what, "rules", `deploy/${file}`], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] })
    run("check", "alerts.yml")
    run("test", "alerts.test.yml")
  })
})

// ---- helpers ----

const namesIn = (text: string): ReadonlyArray<string> => [...new Set(text.match(/\bearshot_\w+/g))]

/** Names of all samples, after each metric was updated once. */
const knownNames = Effect.gen(function* () {
  Metrics.startAtZero("x")
  Metrics.observeLag("x", { sinceReceived: 0, sinceEvent: 0 })
  Metrics.answered({ route: "/", status: 200, seconds: 0 })
  yield* Metrics.stored("x", { deliveries: 1, matches: 1, duplicates: 0, seconds: 0 })
  yield* Metrics.queued("x", 0)
  yield* Metrics.reconnecting("x", "outage")
  yield* Metrics.setStreamState("x", "live")
  yield* Metrics.setRuleCounts("x", { wanted: 0, missing: 0, orphaned: 0 })
  yield* Metrics.setBudget("x", { limit: 1, used: 0, paused: 0 })
  yield* Metrics.setOwner("x", { server: "a", epoch: 1, isAlive: true })
  yield* Metrics.setServers(1)
  yield* Metrics.setBuildInfo({ version: "1", runtime: "node" })
  yield* Metrics.eventLoopDelayed(0)
  yield* Metrics.setProcessStats({
    startedAt: 0,
    cpu: { user: 0, system: 0 },
    memory: { resident: 0, heap: 0, external: 0 }
  })
  const families = parseMetrics(exposition(yield* Metric.snapshot))
  return new Set([...families.values()].flatMap(({ samples }) => samples.map(({ name }) => name)))
})
