/** Backtests in the whole service on its embedded store: exact, immediate, and stable across restarts. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createTRPCClient, httpLink } from "@trpc/client"
import type { CheckResult } from "../../core/rules/RuleCheck.ts"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { isLong } from "../long.ts"
import { KEY, RUNTIMES, type Served, START_MILLIS, serveOn } from "../program.ts"
import { assertError, call, firehoseUpdate, type Target, xPost } from "./client.ts"

for (const runtime of RUNTIMES) {
  describe(`a backtest on ${runtime}`, { timeout: START_MILLIS * 2 }, () => {
    let folder = ""
    let running: Served | undefined
    const target = (): Target => {
      if (running === undefined) throw new Error("The service is not running")
      return { url: running.url, host: running.host, port: running.port, key: KEY }
    }
    const stop = async () => {
      const ended = await running?.stop()
      running = undefined
      assert.notMatch(ended?.stderr ?? "", /"level":"(warn|error|fatal)"/)
    }
    const restart = async (settings: Readonly<Record<string, string>> = {}) => {
      await stop()
      running = await serveOn(runtime, { EARSHOT_DATA_DIR: folder, ...settings })
    }
    const backtest = async (overrides: object, request: object = { events: 100_000 }) => {
      const { status, body } = await call(target(), "/rules/check", { overrides, backtest: request })
      assert.strictEqual(status, 200, JSON.stringify(body))
      // Each test checks the parts that it uses.
      return (body as unknown as CheckResult).platforms
    }

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "earshot-test-"))
      await restart()
    }, START_MILLIS)
    afterAll(async () => {
      await stop()
      await rm(folder, { recursive: true, force: true })
    }, START_MILLIS)

    const posts = Array.from({ length: 2_000 }, (_, n) => xPost(String(n), n % 7 === 0 ? `storm ${n}` : `calm ${n}`))
    const counted = { basis: "all_events", tested: 2_000, matched: 286, share: 0.143 } as const

    it("reports that there are no events yet", async () => {
      const found = await backtest({ x: "storm" })
      assert.deepStrictEqual(found["x"]?.backtest, {
        basis: "all_events",
        tested: 0,
        matched: 0,
        already_matched: 0,
        samples: [],
        note: 'No events to test: no events of "x" have been received yet'
      })
    })

    it("counts matches among 2,000 events exactly, as soon as they are published", async () => {
      for (let at = 0; at < posts.length; at += 500) {
        assert.strictEqual((await call(target(), "/local/events", posts.slice(at, at + 500))).status, 200)
      }
      // This request is refused, so none of its events is kept.
      await call(target(), "/local/events", [firehoseUpdate("https://example.com/", "storm\0 \ud83d"), xPost("", "")])
      await call(target(), "/local/events", [firehoseUpdate("https://example.com/", "storm\0 \ud83d")])
      const found = await backtest({ x: "storm", firehose: "storm" })
      assert.deepInclude(found["x"]?.backtest, counted)
      assert.deepStrictEqual(found["x"]?.backtest?.samples, [posts[1_995], posts[1_988], posts[1_981]])
      assert.deepInclude(found["firehose"]?.backtest, { tested: 1, matched: 1 })
      assert.deepStrictEqual(found["firehose"]?.backtest?.samples, [
        firehoseUpdate("https://example.com/", "storm\0 \ud83d")
      ])
    })

    it("tests the requested number of newest events, by default 1,000 with 3 samples", async () => {
      const plain = (await backtest({ x: "storm" }, {}))["x"]?.backtest
      assert.deepInclude(plain, { tested: 1_000, matched: 143 })
      assert.lengthOf(plain?.samples ?? [], 3)
      const few = (await backtest({ x: "storm" }, { events: 5, samples: 0 }))["x"]?.backtest
      assert.deepInclude(few, { tested: 5, matched: 1, samples: [] })
    })

    it("is typed over tRPC and returns the same as REST", async () => {
      const client = createTRPCClient<AppRouter>({
        links: [httpLink({ url: `${target().url}/trpc`, headers: { authorization: `Bearer ${KEY}` } })]
      })
      const { platforms } = await client.rules.check.query({ overrides: { x: "storm" }, backtest: { events: 2_000 } })
      const tested: number | undefined = platforms["x"]?.backtest?.tested
      assert.strictEqual(tested, 2_000)
      assert.deepStrictEqual<unknown>(platforms, await backtest({ x: "storm" }))
    })

    it("refuses numbers out of range and unknown fields", async () => {
      for (const [request, message] of [
        [{ events: 0 }, /"backtest\.events": Expected a whole number from 1 to 100000/],
        [{ events: 100_001 }, /"backtest\.events": Expected/],
        [{ events: 1.5 }, /"backtest\.events": Expected/],
        [{ samples: 21 }, /"backtest\.samples": Expected a whole number from 0 to 20/],
        [{ samples: "3" }, /"backtest\.samples": Expected a whole number from 0 to 20, got "3"/],
        [{ event: 3 }, /"backtest\.event": Is not a known field: did you mean "events"\?/],
        [true, /"backtest": Expected an object, got true/]
      ] as const) {
        const answer = await call(target(), "/rules/check", { overrides: { x: "storm" }, backtest: request })
        assertError(answer, 400, "invalid_argument", message)
      }
    })

    it("returns the same after a restart", async () => {
      const before = await backtest({ x: "storm" })
      await restart()
      assert.deepStrictEqual(await backtest({ x: "storm" }), before)
      assert.deepInclude(before["x"]?.backtest, counted)
    })

    const isKeptTested = runtime === "node" || isLong
    it.runIf(isKeptTested)("keeps EARSHOT_RECENT_EVENTS events; 0 also deletes those kept before", async () => {
      await restart({ EARSHOT_RECENT_EVENTS: "100" })
      const last = (await backtest({ x: "storm" }))["x"]?.backtest
      assert.deepInclude(last, { tested: 100, matched: 14 })
      await restart({ EARSHOT_RECENT_EVENTS: "0" })
      await call(target(), "/local/events", posts.slice(0, 1))
      const off = (await backtest({ x: "storm" }))["x"]?.backtest
      assert.match(off?.note ?? "", /keeps no recent events/)
      await restart()
      assert.deepInclude((await backtest({ x: "storm" }))["x"]?.backtest, { tested: 0 })
    })
  })
}
