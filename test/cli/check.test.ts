/** `earshot check` and the tool `check_rule` on a service whose platform x is the simulator: basis, counts and price. */
import { assert, describe, it } from "@effect/vitest"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import { untilTrue } from "../eventually.ts"
import { call, xPost } from "../gateway/client.ts"
import { connect } from "../gateway/mcp/session.ts"
import { KEY, runInProcess, type Served, START_MILLIS, serveInProcess } from "../program.ts"

describe("a check on a real platform", { timeout: START_MILLIS * 2 }, () => {
  it.scopedLive("says what a backtest is based on, and shows X's counts, the price and the overlap", () =>
    Effect.gen(function* () {
      const { simulator, service, address } = yield* started()
      // A rule watches for "calm" and "wind". Nobody watches for "storm", so none of its posts is received.
      yield* created(service, "calm OR wind")
      yield* watching(simulator)
      yield* Effect.orDie(
        simulator.control.publish([
          ...Array.from({ length: 20 }, (_, n) => xPost(String(n + 100), `calm ${n}`)),
          ...Array.from({ length: 11 }, (_, n) => xPost(String(n + 200), `storm ${n}`)),
          xPost("300", "calm wind")
        ])
      )
      yield* matched(service, 21)

      const unseen = yield* checked(service, "storm -is:retweet")
      assert.deepInclude(unseen.backtest, { basis: "matched_events", tested: 21, matched: 0, already_matched: 0 })
      assert.doesNotHaveAnyKeys(unseen.backtest, ["share", "per_hour"])
      assert.deepInclude(unseen.counts, { total: 11, per_hour: 0.06548 })
      assert.doesNotHaveAnyKeys(unseen.counts, ["bound", "without", "note"])
      assert.deepStrictEqual(unseen.price, { per_month: 0.24, currency: "USD" })

      const seen = yield* checked(service, "wind bio:sailor")
      assert.deepInclude(seen.counts, { total: 1, bound: "upper", without: ["bio"] })
      assert.match(seen.counts.note, /retweets/)

      const uncounted = yield* checked(service, "storm OR bio:sailor")
      assert.deepInclude(uncounted, {
        platform_verdict: { accepted: true, asked: true, judged_by: "other_service", address }
      })
      assert.match(uncounted.counts_reason, /does not know bio:/)
      assert.doesNotHaveAnyKeys(uncounted, ["counts", "price"])

      const shown = yield* earshot(service, "--backtest", "--ask-platforms", "storm bio:sailor")
      assert.strictEqual(shown.code, 0, shown.stderr)
      assert.match(shown.stdout, /^The filter is valid on x: storm bio:sailor\n/)
      assert.match(
        shown.stdout,
        /\nBacktest: it matched 0 of the newest 21 events, from \S+Z to \S+Z; this is a lower bound, without a rate/
      )
      assert.include(
        shown.stdout,
        `\n${address}, which is set in place of x, accepts the filter\nx counted at most 11 such`
      )
      assert.match(shown.stdout, /cannot count by bio:, which was left out; X may leave retweets out/)
      assert.match(shown.stdout, /\nthey would cost at most 0\.24 USD per month;/)

      const overlap = yield* earshot(service, "--backtest", "wind")
      assert.match(
        overlap.stdout,
        /it matched 1 of the newest 21 events, from \S+Z to \S+Z; the active rules of the account already match 1 of these;/
      )
      assert.match(overlap.stdout, /\n {2}- calm wind/)
      assert.notInclude(overlap.stdout, "counted")
      const json = yield* earshot(service, "--ask-platforms", "--json", "storm -is:retweet")
      assert.deepInclude(JSON.parse(json.stdout), { valid: true, price: { per_month: 0.24, currency: "USD" } })

      const tool = yield* callTool(service, {
        overrides: { x: "storm -is:retweet" },
        backtest: {},
        ask_platforms: true
      })
      assert.isFalse(tool.isError, tool.text)
      assert.match(
        tool.text,
        /- it matched 0 of the newest 21 events, from \S+Z to \S+Z; this is a lower bound, without a rate: x sends only/
      )
      assert.match(tool.text, /- x counted 11 such events from .*\n- they would cost about 0\.24 USD per month/)
      const structured: unknown = tool.structured["platforms"]?.["x"]?.["price"]
      assert.deepStrictEqual(structured, { per_month: 0.24, currency: "USD" })
    })
  )

  it.scopedLive("multiplies with X_PRICE_PER_POST, and gives the reason if X does not count", () =>
    Effect.gen(function* () {
      const { simulator, service } = yield* started({ X_PRICE_PER_POST: "1" })
      yield* Effect.orDie(
        simulator.control.publish(Array.from({ length: 168 }, (_, n) => xPost(String(n), `storm ${n}`)))
      )
      const { price } = yield* checked(service, "storm")
      assert.deepStrictEqual(price, { per_month: 720, currency: "USD" })
      yield* simulator.control.inject({ kind: "server-error", platform: "x", endpoint: "counts.recent", status: 503 })
      const failed = yield* checked(service, "storm")
      assert.match(failed.counts_reason, /X answered 503/)
    })
  )
})

describe("a check on a platform in process", { timeout: START_MILLIS * 2 }, () => {
  it.scopedLive("does not claim that the platform was asked", () =>
    Effect.gen(function* () {
      const service = yield* Effect.acquireRelease(
        Effect.promise(() => serveInProcess({})),
        (running) => Effect.promise(() => running.stop())
      )
      const { platform_verdict } = yield* checked(service, "storm")
      assert.deepStrictEqual(platform_verdict, { accepted: true, asked: false, judged_by: "earshot" })
      const said = "x was not asked: only Earshot judges its filters on this server. Its check accepts the filter"
      assert.include((yield* earshot(service, "--ask-platforms", "storm")).stdout, `\n${said}`)
      const tool = yield* callTool(service, { overrides: { x: "storm" }, ask_platforms: true })
      assert.include(tool.text, `\n- ${said}`)
    })
  )
})

describe("earshot check", () => {
  it("needs a server only with --backtest or --ask-platforms", async () => {
    const away = { EARSHOT_URL: "http://127.0.0.1:1", EARSHOT_API_KEY: KEY }
    assert.strictEqual((await runInProcess(["check", "-p", "x", "storm"], away)).code, 0)
    for (const option of ["--backtest", "--ask-platforms"]) {
      const { code, stderr } = await runInProcess(["check", "-p", "x", option, "storm"], away)
      assert.strictEqual(code, 1)
      assert.include(stderr, "Cannot reach Earshot at http://127.0.0.1:1")
    }
  })
})

// ---- helpers ----

/** A service whose platform x is a simulator without the delay of counts. */
const started = (settings: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const simulator = yield* Simulator.make({ seed: 1, settings: { x: { recent_counts_delay_seconds: 0 } } })
    const address = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
    const service = yield* Effect.acquireRelease(
      Effect.promise(() =>
        serveInProcess({
          X_BASE_URL: `${address}/`,
          X_BEARER_TOKEN: simulator.control.settings.x.bearer_token,
          ...settings
        })
      ),
      (running) => Effect.promise(() => running.stop())
    )
    return { simulator, service, address }
  })

const target = ({ url, host, port }: Served) => ({ url, host, port, key: KEY })

const created = (service: Served, filter: string) =>
  Effect.promise(async () => {
    const draft = { name: "n", intent: "i", platforms: ["x"], overrides: { x: filter } }
    const { status, body } = await call(target(service), "/api.CreateRule", draft)
    assert.strictEqual(status, 200, JSON.stringify(body))
  })

const watching = ({ control }: Simulator.Simulator) =>
  untilTrue(
    "the stream is open",
    Effect.map(control.state, ({ x }) => x.connections.length > 0)
  )

const matched = (service: Served, count: number) =>
  untilTrue(
    `${count} matches are stored`,
    Effect.promise(async () => {
      const { body } = await call(target(service), "/matches", { limit: 100 })
      return [...(body["matches"] ?? [])].length === count
    })
  )

const checked = (service: Served, filter: string) =>
  Effect.promise(async () => {
    const request = { overrides: { x: filter }, backtest: {}, ask_platforms: true }
    const { status, body } = await call(target(service), "/rules/check", request)
    assert.strictEqual(status, 200, JSON.stringify(body))
    // biome-ignore lint/suspicious/noExplicitAny: each test checks the parts that it uses
    return body["platforms"]?.["x"] as any
  })

const callTool = (service: Served, request: Readonly<Record<string, unknown>>) =>
  Effect.promise(async () => {
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${KEY}` } }
    })
    const agent = await connect(transport)
    const answer = await agent.call("check_rule", request)
    await agent.client.close()
    return answer
  })

const earshot = (service: Served, ...args: ReadonlyArray<string>) =>
  Effect.promise(() => runInProcess(["check", "-p", "x", ...args], { EARSHOT_URL: service.url, EARSHOT_API_KEY: KEY }))
