/** The files in deploy/ for Prometheus and Grafana: they are valid, and name only metrics that exist. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import * as Metrics from "../core/telemetry/Metrics.ts"
import { exposition } from "../gateway/http/metrics.ts"
import { ROOT } from "./program.ts"
import { parseMetrics } from "./prometheus.ts"

const read = (name: string): string => readFileSync(join(ROOT, "deploy", name), "utf8")

describe("deploy", () => {
  for (const name of ["alerts.yml", "alerts.test.yml", "grafana.json"]) {
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

  it("grafana.json has places and texts for its panels, and asks the chosen data source", () => {
    const { panels, templating } = JSON.parse(read("grafana.json")) as Dashboard
    assert.includeMembers(
      templating.list.map(({ name, type }) => `${name}: ${type}`),
      ["datasource: datasource"]
    )
    assert.strictEqual(new Set(panels.map(({ id }) => id)).size, panels.length)
    for (const [index, { title, gridPos: a }] of panels.entries()) {
      assert.isAtMost(a.x + a.w, 24, title)
      const overlaps = panels
        .slice(index + 1)
        .filter(({ gridPos: b }) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
      assert.deepStrictEqual(overlaps, [], title)
    }
    const graphs = panels.filter(({ type }) => type !== "row")
    assert.isAbove(graphs.length, 15, "finds the panels")
    for (const { title, description, targets = [] } of graphs) {
      assert.isNotEmpty(description, title)
      assert.isNotEmpty(targets, title)
      for (const { datasource } of targets) assert.match(datasource.uid, /^\$\{datasource\}$/, title)
    }
  })

  it("alerts.yml passes the checks and tests of promtool", async ({ skip }) => {
    if (await isMissing("deploy/alerts.yml")) return skip()
    await promtool("check", "rules", "deploy/alerts.yml")
    await promtool("test", "rules", "deploy/alerts.test.yml")
  })

  it("grafana.json has valid queries", async ({ skip }) => {
    if (await isMissing("deploy/grafana.json")) return skip()
    const { panels } = JSON.parse(read("grafana.json")) as Dashboard
    const rules = panels
      .flatMap(({ targets = [] }) => targets)
      .map(({ expr }, index) => ({ record: `query_${index}`, expr: expr.replaceAll("$__rate_interval", "5m") }))
    const folder = mkdtempSync(join(tmpdir(), "earshot-test-"))
    try {
      const file = join(folder, "queries.yml")
      // JSON is YAML.
      writeFileSync(file, JSON.stringify({ groups: [{ name: "grafana", rules }] }))
      await promtool("check", "rules", file)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

// ---- helpers ----

interface Dashboard {
  readonly templating: { readonly list: ReadonlyArray<{ readonly name: string; readonly type: string }> }
  readonly panels: ReadonlyArray<{
    readonly id: number
    readonly type: string
    readonly title: string
    readonly description?: string
    readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
    readonly targets?: ReadonlyArray<{ readonly expr: string; readonly datasource: { readonly uid: string } }>
  }>
}

const isMissing = async (file: string): Promise<boolean> => {
  const isMissing = await promtool("--version").then(
    () => false,
    ({ code }) => code === "ENOENT"
  )
  if (isMissing) console.log(`Skipped tests of ${file}: promtool is missing (apt-get install prometheus)`)
  return isMissing
}

/** Its tests compute for seconds. A process that waited without turns could not answer the test runner. */
const promtool = (...args: ReadonlyArray<string>) => promisify(execFile)("promtool", args, { cwd: ROOT })

const namesIn = (text: string): ReadonlyArray<string> => [...new Set(text.match(/\bearshot_\w+/g))]

/** Names of all samples, after each metric was updated once. */
const knownNames = Effect.gen(function* () {
  Metrics.startAtZero("x")
  Metrics.observeLag("x", { sinceReceived: 0, sinceEvent: 0 })
  Metrics.exported("sent", 0)
  Metrics.answered({ route: "/", status: 200, seconds: 0 })
  yield* Metrics.stored("x", { deliveries: 1, matches: 1, duplicates: 0, seconds: 0 })
  yield* Metrics.queued("x", 0)
  yield* Metrics.reconnecting("x", "outage")
  yield* Metrics.setStreamState("x", "live")
  yield* Metrics.setStoreUp(true)
  yield* Metrics.setWebhookBacklog({ messages: 0, oldestSeconds: 0, disabled: 0 })
  yield* Metrics.setRulesWanted("x", 0)
  yield* Metrics.setDrift("x", { missing: 0, orphaned: 0, newer: 0 })
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
