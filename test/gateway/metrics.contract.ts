/** `/metrics` over HTTP: valid text format, and no labels from callers. */
import { assert, describe, it } from "@effect/vitest"
import type { RuntimeName } from "../program.ts"
import { parseMetrics, valueIn } from "../prometheus.ts"
import { call, draft, OPERATIONS, type Target } from "./client.ts"

const initialMetrics = [
  "earshot_build_info",
  "earshot_deliveries_received_total",
  "earshot_event_loop_delay_seconds",
  "earshot_http_request_seconds",
  "earshot_http_requests_total",
  "earshot_live_streams",
  "earshot_matches_duplicate_total",
  "earshot_matches_stored_total",
  "earshot_process_cpu_seconds_total",
  "earshot_process_resident_memory_bytes",
  "earshot_rules_missing",
  "earshot_rules_orphaned",
  "earshot_rules_wanted",
  "earshot_stream_state"
]

export const metricsContract = (target: () => Target, runtime: RuntimeName): void => {
  const scrape = async () => {
    const response = await fetch(`${target().url}/metrics`)
    assert.deepStrictEqual(
      [response.status, response.headers.get("content-type")],
      [200, "text/plain; version=0.0.4; charset=utf-8"]
    )
    return parseMetrics(await response.text())
  }

  describe("GET /metrics", () => {
    it("is valid for a strict parser, needs no key, and all names start with earshot_", async () => {
      // The second scrape counts the first.
      await scrape()
      const families = await scrape()
      assert.includeMembers([...families.keys()], initialMetrics)
      for (const name of families.keys()) assert.match(name, /^earshot_[a-z_]+$/)
    })

    it("counts requests by route and status, and times them by route", async () => {
      const before = await scrape()
      for (let i = 0; i < 3; i++) await call(target(), "/api.ListRules")
      await call(target(), "/matches", { limit: "many" })
      await call(target(), "/matches", { limit: 1 })
      await fetch(`${target().url}/trpc/rules.list`)
      const after = await scrape()
      const more = (name: string, labels: Readonly<Record<string, string>>) =>
        valueIn(after, name, labels) - valueIn(before, name, labels)
      assert.strictEqual(more("earshot_http_requests_total", { route: "/api.ListRules", status: "200" }), 3)
      assert.strictEqual(more("earshot_http_requests_total", { route: "/matches", status: "400" }), 1)
      assert.strictEqual(more("earshot_http_requests_total", { route: "/matches", status: "200" }), 1)
      assert.strictEqual(more("earshot_http_requests_total", { route: "/trpc/", status: "401" }), 1)
      assert.strictEqual(more("earshot_http_request_seconds_count", { route: "/matches" }), 2)
      assert.isAbove(more("earshot_http_request_seconds_sum", { route: "/matches" }), 0)
    })

    it("has no labels from callers", async () => {
      const secret = "s3cret-in-a-path"
      for (const path of [
        `/${secret}`,
        `/matches/${secret}`,
        `/trpc/${secret}`,
        `/api.ListRules?a=${secret}`,
        "/%00"
      ]) {
        await call(target(), path, undefined, { headers: { "x-request-id": secret, traceparent: secret } })
      }
      await fetch(`${target().url}/matches`, { method: "PUT", body: secret })
      const families = await scrape()
      const samples = [...families.values()].flatMap((family) => family.samples)
      assert.isFalse(JSON.stringify(samples).includes(secret))
      const routes =
        families.get("earshot_http_requests_total")?.samples.map(({ labels }) => labels["route"] ?? "") ?? []
      assert.include(routes, "unknown")
      for (const route of routes) assert.match(route, /^(\/[\w./-]*|unknown)$/)
      // The operations, and routes such as /metrics and /trpc/.
      assert.isBelow(new Set(routes).size, OPERATIONS.length + 20)
    })

    it("has stream and rule gauges of every platform", async () => {
      const wanted = valueIn(await scrape(), "earshot_rules_wanted", { platform: "firehose" })
      const created = await call(target(), "/api.CreateRule", draft())
      assert.strictEqual(created.status, 200)
      const families = await scrape()
      assert.strictEqual(valueIn(families, "earshot_rules_wanted", { platform: "firehose" }), wanted + 1)
      for (const platform of ["x", "firehose"]) {
        assert.strictEqual(valueIn(families, "earshot_stream_state", { platform, state: "live" }), 1)
        assert.strictEqual(valueIn(families, "earshot_stream_state", { platform, state: "waiting" }), 0)
      }
      assert.strictEqual(families.get("earshot_stream_state")?.samples.length, 12)
      assert.strictEqual(families.get("earshot_rules_missing")?.samples.length, 2)
      assert.strictEqual(families.get("earshot_rules_orphaned")?.samples.length, 2)
    })

    it("has metrics of the process", async () => {
      const before = await scrape()
      const after = await scrape()
      const cpu = (families: typeof before) => valueIn(families, "earshot_process_cpu_seconds_total", { mode: "user" })
      assert.isAbove(cpu(before), 0)
      assert.isAtLeast(cpu(after), cpu(before))
      assert.isBelow(cpu(after) - cpu(before), 60)
      const started = valueIn(after, "earshot_process_start_time_seconds")
      assert.isBelow(Math.abs(Date.now() / 1_000 - started), 3_600)
      for (const name of ["resident_memory", "heap", "external_memory"]) {
        assert.isAbove(valueIn(after, `earshot_process_${name}_bytes`), 100_000)
      }
      assert.isAbove(valueIn(after, "earshot_event_loop_delay_seconds_count"), 0)
      const [build] = after.get("earshot_build_info")?.samples ?? []
      assert.match(build?.labels["version"] ?? "", /^\d+\.\d+\.\d+$/)
      assert.match(build?.labels["runtime"] ?? "", new RegExp(`^${runtime} \\d`))
    })
  })
}
