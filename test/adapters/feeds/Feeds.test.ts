/** The stream of feeds, from real sockets: what is new is delivered once, and what may be missing is reported. */
import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { Addresses } from "../../../adapters/http/addresses.ts"
import { startReceiver } from "../webhooks/receiver.ts"
import { idsIn } from "../wikimedia/platform.ts"
import { answered, gapsIn, NOW, pass, site, watched } from "./site.ts"

describe("the stream of feeds", () => {
  it.scoped("delivers new items once, not those of the first poll, with conditional requests", () =>
    Effect.gen(function* () {
      const on = yield* site()
      on.show("1", "2")
      const { signals } = yield* watched(on.url)
      yield* pass(1)
      assert.deepStrictEqual(idsIn(signals), [])
      on.show("3", "1", "2")
      yield* pass(20 * 60)
      on.headers = { etag: '"a"', "last-modified": "Sun, 15 Nov 2026 12:00:00 GMT" }
      on.show("4", "3", "1")
      yield* pass(20 * 60)
      on.status = 304
      yield* pass(40 * 60)
      assert.deepStrictEqual(idsIn(signals), [`${on.url} 3`, `${on.url} 4`])
      assert.deepStrictEqual(gapsIn(signals), [])
      assert.isTrue(signals.some(({ _tag }) => _tag === "CaughtUp") || signals.some(({ _tag }) => _tag === "Alive"))
      const last = on.received.at(-1)?.headers
      assert.strictEqual(last?.["if-none-match"], '"a"')
      assert.strictEqual(last?.["if-modified-since"], "Sun, 15 Nov 2026 12:00:00 GMT")
      assert.isAtMost(on.received.length, 9)
    })
  )

  it.scoped("goes on after a restart, and delivers what came meanwhile", () =>
    Effect.gen(function* () {
      const on = yield* site()
      on.show("1")
      const first = yield* watched(on.url)
      yield* pass(1)
      yield* first.stop
      on.show("2", "1")
      yield* TestClock.adjust("3 hours")
      const second = yield* watched(on.url, { store: first.store })
      yield* pass(1)
      assert.deepStrictEqual(idsIn(second.signals), [`${on.url} 2`])
      assert.deepInclude(second.signals[0], { _tag: "Watching", since: NOW })
      assert.isTrue(second.signals.some(({ _tag }) => _tag === "CaughtUp"))
    })
  )

  it.scoped("suspects a loss when no item of the poll before is left, and none when all ids are written anew", () =>
    Effect.gen(function* () {
      const on = yield* site()
      on.show("1", "2")
      const { signals } = yield* watched(on.url)
      yield* pass(1)
      on.show("7", "8")
      yield* pass(20 * 60)
      assert.sameMembers([...idsIn(signals)], [`${on.url} 7`, `${on.url} 8`])
      assert.match(gapsIn(signals)[0]?.detail ?? "", /shows no item of the poll before/)
      on.idPrefix = "urn:new:"
      on.show("7", "8")
      yield* pass(20 * 60)
      assert.lengthOf(idsIn(signals), 2)
      assert.lengthOf(gapsIn(signals), 1)
    })
  )

  it.scoped("waits as it is told, backs off, and reports the feed that fails, not the others", () =>
    Effect.gen(function* () {
      const [bad, good] = [yield* site(), yield* site()]
      good.show("1")
      bad.show("1")
      const { signals, status } = yield* watched(`${bad.url},${good.url}`)
      yield* pass(1)
      bad.status = 503
      bad.headers = { "retry-after": "1200" }
      yield* pass(20 * 60)
      good.show("2", "1")
      yield* pass(50 * 60)
      assert.isAtMost(bad.received.length, 4)
      assert.deepStrictEqual(idsIn(signals), [`${good.url} 2`])
      const gaps = gapsIn(signals)
      assert.isAtLeast(gaps.length, 1)
      assert.isTrue(gaps.every(({ _tag, detail }) => _tag === "Suspected" && detail === `Feed "${bad.url}": HTTP 503`))
      assert.include((yield* status).detail, `Reads 2 feeds; 1 cannot be read, such as "${bad.url}": HTTP 503`)
      bad.status = 410
      yield* pass(40 * 60)
      const asked = bad.received.length
      yield* pass(60 * 60)
      assert.lengthOf(bad.received, asked, "gone for good")
    })
  )

  it.scoped("reports a feed that is gone for as long as it is gone, and does not ask it again", () =>
    Effect.gen(function* () {
      const on = yield* site()
      on.show("1")
      const first = yield* watched(on.url)
      yield* pass(1)
      on.status = 410
      yield* pass(20 * 60)
      for (let day = 0; day < 3; day++) {
        first.jump(24 * 3_600_000)
        yield* pass(30)
      }
      const gone = {
        _tag: "Suspected" as const,
        detail: `Feed "${on.url}": it is gone (HTTP 410) and is not asked again`
      }
      const gaps = gapsIn(first.signals)
      assert.strictEqual(gaps[0]?.from, NOW)
      for (const [index, gap] of gaps.entries()) {
        assert.deepInclude(gap, gone)
        if (index > 0) assert.strictEqual(gap.from, gaps[index - 1]?.to)
      }
      assert.lengthOf(gaps, 4)
      assert.isAbove(gaps.at(-1)?.to ?? 0, NOW + 3 * 24 * 3_600_000)
      assert.include((yield* first.status).detail, `Reads 1 feed; 1 cannot be read, such as "${on.url}": it is gone`)
      yield* first.stop

      on.status = 200
      const second = yield* watched(on.url, { store: first.store })
      yield* pass(60)
      assert.deepStrictEqual(gapsIn(second.signals).length, 1)
      assert.deepInclude(gapsIn(second.signals)[0], { ...gone, from: NOW })
      assert.lengthOf(on.received, 2)
    })
  )

  it.scoped("follows a permanent redirect for good after three polls", () =>
    Effect.gen(function* () {
      const [old, now] = [yield* site(), yield* site()]
      now.show("1")
      old.status = 301
      old.headers = { location: now.url }
      const { signals } = yield* watched(old.url)
      yield* pass(50 * 60)
      assert.strictEqual(old.received.length, 3)
      now.show("2", "1")
      yield* pass(60 * 60)
      assert.strictEqual(old.received.length, 3)
      assert.deepStrictEqual(idsIn(signals), [`${old.url} 2`])
    })
  )

  it.scoped("begins a gap of the platform when no feed can be reached at all", () =>
    Effect.gen(function* () {
      const on = yield* site()
      on.show("1")
      const { signals, status } = yield* watched(on.url)
      yield* pass(1)
      on.isDown = true
      yield* pass(20 * 60)
      assert.match(
        (yield* status).detail,
        /^Reads 1 feed; 1 cannot be read, .*\. No feed of the operator can be reached: /
      )
      on.isDown = false
      on.show("2", "1")
      yield* pass(20 * 60)
      const started = signals.find(({ _tag }) => _tag === "GapStarted")
      const detail = "No feed of the operator can be reached: this server may have no network"
      assert.deepInclude(started, { at: NOW, cause: "outage", detail })
      assert.deepStrictEqual(idsIn(signals), [`${on.url} 2`])
      assert.strictEqual(signals.filter(({ _tag }) => _tag === "Watching").length, 2)
    })
  )

  it.scoped("counts no time as watched before a feed was read", () =>
    Effect.gen(function* () {
      const [failing, down] = [yield* site(), yield* site()]
      failing.status = 503
      down.isDown = true
      const { signals } = yield* watched(`${failing.url},${down.url}`)
      yield* pass(1)
      failing.isDown = true
      yield* pass(30 * 60)
      const of = (tag: string) => signals.find(({ _tag }) => _tag === tag)
      assert.deepInclude(of("Watching"), { at: NOW, since: NOW })
      assert.deepInclude(of("GapStarted"), { at: NOW, cause: "outage" })
    })
  )

  const refusals: ReadonlyArray<readonly [string, (response: ServerResponse) => void, RegExp]> = [
    ["a web page", (response) => response.end("<!doctype html><html></html>"), /is a web page, not a feed/],
    ["a document that is cut off", (response) => response.end('<rss version="2.0"><channel><item><title>a'), /cut off/],
    [
      "a bomb",
      (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000))),
      /larger than 5 MB/
    ],
    ["wrong compression", (response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no"), /./],
    [
      "a redirect to a private address",
      (response) => response.writeHead(302, { location: "http://10.1.2.3/" }).end(),
      /10\.1\.2\.3" is a private address, but feeds may only call public addresses.*EARSHOT_FEED_ALLOW/
    ],
    [
      "a redirect to a file",
      (response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
      /expected an address with http/
    ],
    [
      "a redirect with a password",
      (response) => response.writeHead(302, { location: "http://a:b@example.org/" }).end(),
      /password/
    ],
    [
      "a redirect to another service",
      (response) => response.writeHead(302, { location: "http://127.0.0.1:22/" }).end(),
      /a port that is not for web pages/
    ],
    ["a redirect to itself", (response) => response.writeHead(302, { location: "/" }).end(), /more than 5 times/]
  ]
  for (const [what, answer, reason] of refusals) {
    it.scoped(`refuses ${what} with the reason`, () =>
      Effect.gen(function* () {
        const { url } = yield* startReceiver((_, response) => answer(response))
        const { signals, status } = yield* watched(`${url}/`)
        // Decompression runs on another thread.
        for (let turn = 0; turn < 1_000 && !(yield* status).detail.includes("cannot be read"); turn++) yield* answered
        assert.deepStrictEqual(idsIn(signals), [])
        assert.match((yield* status).detail, reason)
      })
    )
  }

  it.scoped("does not call a private address that the operator does not allow", () =>
    Effect.gen(function* () {
      const on = yield* site()
      const { status } = yield* watched(on.url, {
        addresses: new Addresses({ who: "feeds", setting: "EARSHOT_FEED_ALLOW" })
      })
      yield* pass(1)
      assert.lengthOf(on.received, 0)
      assert.include((yield* status).detail, '"127.0.0.1" is a loopback address')
    })
  )
})
