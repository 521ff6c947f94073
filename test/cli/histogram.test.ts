/** `earshot matches histogram`: on a running server, and what it draws. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { drawBars } from "../../cli/histogram.ts"
import type { Histogram } from "../../core/matches/Histogram.ts"
import type { Timestamp } from "../../core/model/Timestamp.ts"
import { call, xPost } from "../gateway/client.ts"
import { KEY, runInProcess, type Served, START_MILLIS, serveInProcess } from "../program.ts"

describe("earshot matches histogram", { timeout: START_MILLIS * 2 }, () => {
  let server: Served
  let rule = ""
  beforeAll(async () => {
    server = await serveInProcess()
    const target = { ...server, key: KEY }
    const draft = { name: "n", intent: "i", platforms: ["x"], overrides: { x: "storm" } }
    rule = String((await call(target, "/api.CreateRule", draft)).body["rule_id"])
    await call(target, "/local/events", [xPost("1", "storm"), xPost("2", "storm")])
  }, START_MILLIS)
  afterAll(() => server.stop())

  const earshot = (...args: ReadonlyArray<string>) =>
    runInProcess(["matches", "histogram", ...args], { EARSHOT_URL: server.url, EARSHOT_API_KEY: KEY })

  it("draws a bar per unit, and prints the total", async () => {
    const from = new Date(Date.now() - 3 * 86_400_000).toISOString()
    const { code, stdout, stderr } = await earshot("--rule", rule, "--from", from, "--unit", "day")
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^\d{4}-\d\d-\d\d {2}0\n(.*\n){2,3}\d{4}-\d\d-\d\d {2}[12] {2}#{50}\n$/)
    assert.match(stderr, /^2 matches from \S+ to \S+\n$/)
  })

  it("prints JSON, and the error of the server", async () => {
    const { series } = JSON.parse((await earshot("--platform", "x", "--json")).stdout) as Histogram
    assert.strictEqual(series[0]?.total, 2)
    const wide = await earshot("--from", "2020-01-01")
    assert.strictEqual(wide.code, 1)
    assert.match(wide.stderr, /^earshot: --unit: there would be \d+ bars, and at most 1500 are allowed/)
  })
})

describe("drawBars", () => {
  it("scales to the largest count, and shows every count above zero", () => {
    const from = "2026-11-15T06:59:00.000Z" as Timestamp
    assert.deepStrictEqual(drawBars({ unit: "minute", from, series: [{ total: 1_001, counts: [0, 1, 1_000] }] }), [
      "2026-11-15 06:59     0",
      "2026-11-15 07:00     1  #",
      `2026-11-15 07:01  1000  ${"#".repeat(50)}`
    ])
  })

  it("puts four or more bars without a match in one line", () => {
    const from = "2026-11-15T00:00:00.000Z" as Timestamp
    const counts = [0, 0, 0, 0, 2, 0, 0, 0, 1, ...Array.from({ length: 15 }, () => 0)]
    assert.deepStrictEqual(drawBars({ unit: "hour", from, series: [{ total: 3, counts }] }), [
      "2026-11-15 00:00  0  for 4 hours",
      `2026-11-15 04:00  2  ${"#".repeat(50)}`,
      "2026-11-15 05:00  0",
      "2026-11-15 06:00  0",
      "2026-11-15 07:00  0",
      `2026-11-15 08:00  1  ${"#".repeat(25)}`,
      "2026-11-15 09:00  0  for 15 hours"
    ])
  })
})
