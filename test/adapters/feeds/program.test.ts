/** The program with and without `EARSHOT_FEEDS=on`: the feeds of accounts on every interface. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { addressesIn } from "../../../core/feeds/opml.ts"
import { eventually } from "../../eventually.ts"
import { assertError, call, type Target } from "../../gateway/client.ts"
import { KEY, RUNTIMES, runInProcess, type Served, START_MILLIS, serveInProcess, serveOn } from "../../program.ts"
import { startReceiver } from "../webhooks/receiver.ts"

const SETTINGS = { EARSHOT_FEEDS: "on", EARSHOT_FEED_ALLOW: "127.0.0.0/8", EARSHOT_LIMIT_FEEDS: "3" }

const RSS = "<rss version='2.0'><channel><title>News</title><item><guid>1</guid></item></channel></rss>"

describe("the program", () => {
  it.scopedLive(
    "shows the feeds of accounts nowhere unless the platform is on",
    () =>
      Effect.gen(function* () {
        const target = yield* serving(serveInProcess())
        const answers = yield* Effect.promise(() =>
          Promise.all([call(target, "/openapi.json"), call(target, "/account"), call(target, "/platforms/status")])
        )
        for (const { body } of answers) assert.notMatch(JSON.stringify(body), /\bfeeds\b/i)
        const unknown = yield* Effect.promise(() => call(target, "/feeds"))
        assertError(unknown, 404, "not_found", /^Cannot find path "\/feeds"/)
        assert.deepStrictEqual((yield* trpc(target, "feeds.list")).status, 404)
        const { tools } = yield* mcp(target)
        assert.isFalse(tools.some((name) => name.includes("feed")))
        assert.notMatch((yield* run(["--help"])).stdout, /feeds/)
      }),
    START_MILLIS
  )

  for (const runtime of RUNTIMES) {
    it.scopedLive(
      `adds, lists and removes the feeds of an account, on ${runtime}`,
      () =>
        Effect.gen(function* () {
          const publisher = yield* startReceiver((_, response) => void response.end(RSS))
          const target = yield* serving(serveOn(runtime, SETTINGS))
          const ask = (path: string, body?: unknown, init?: RequestInit) =>
            Effect.promise(() => call(target, path, body, init))
          const url = `${publisher.url}/feed.xml`

          const added = yield* ask("/feeds/add", { url: `${url}#top` }, { headers: { "idempotency-key": "one" } })
          assert.deepInclude(added.body["feed"] as object, { url, state: "waiting" })
          const repeated = yield* ask("/feeds/add", { url: `${url}#top` }, { headers: { "idempotency-key": "one" } })
          assert.strictEqual(repeated.headers.get("idempotent-replayed"), "true")
          assert.deepStrictEqual(repeated.body as unknown, added.body)
          const read = yield* Effect.promise(() =>
            eventually(async () => {
              const { body } = await call(target, "/feeds")
              const [feed, ...others] = [...(body["feeds"] ?? [])]
              assert.deepInclude(feed as object, { url, title: "News", state: "ok" })
              assert.lengthOf(others, 0)
              return feed
            })
          )
          assert.isAbove(Date.parse(String(read?.["next_read_at"])), Date.now() + 4 * 60_000)
          assert.lengthOf(publisher.received, 1)
          const again = yield* ask("/feeds/add", { url })
          assert.deepStrictEqual(again.body["feed"] as unknown, read)

          const refusals: ReadonlyArray<readonly [unknown, RegExp]> = [
            [{}, /"url": Is missing/],
            [{ url: "example.org/feed" }, /Expected a URL like https:\/\/example.org\/feed.xml, which starts with/],
            [{ url: "ftp://example.org/" }, /got the scheme "ftp"/],
            [{ url: "https://ann:secret@example.org/" }, /Contains a user name or password/],
            [{ url: `https://example.org/${"a".repeat(2_000)}` }, /Is too long: 2020 characters, at most 2000/],
            [{ url: `https://example.org/${"ü".repeat(900)}` }, /Is too long: 5420 characters when it is escaped/],
            [{ url: "http://10.1.2.3/" }, /"10.1.2.3" is a private address.*EARSHOT_FEED_ALLOW/],
            [{ url: "http://[::1]/" }, /is a loopback address/],
            [{ url: "https://example.org:22/" }, /Has the port 22, which feeds may not use/]
          ]
          for (const [body, message] of refusals) {
            assertError(yield* ask("/feeds/add", body), 400, "invalid_argument", message)
          }
          for (const more of ["a", "b"]) yield* ask("/feeds/add", { url: `${publisher.url}/${more}` })
          const full = yield* ask("/feeds/add", { url: `${publisher.url}/c` })
          assertError(full, 429, "resource_exhausted", /its limit "feeds": 3 of 3 are used/)
          const { limits } = (yield* ask("/account")).body
          assert.deepInclude([...(limits ?? [])].find(({ name }) => String(name) === "feeds") as object, {
            limit: 3,
            used: 3
          })

          assert.deepStrictEqual((yield* ask("/feeds/remove", { url: `${url}#x` })).body as unknown, { url })
          for (const gone of [url, "no URL", "\u0000"]) {
            assertError(yield* ask("/feeds/remove", { url: gone }), 404, "not_found", /^Cannot find feed "/)
          }
          assert.notInclude(JSON.stringify((yield* ask("/platforms/status")).body), publisher.url)
          assert.include(JSON.stringify((yield* ask("/openapi.json")).body), '"/feeds/add"')
          assert.strictEqual((yield* trpc(target, "feeds.list")).status, 200)
        }),
      START_MILLIS
    )
  }

  it("says at the start why there is no demo feed, and how to add a feed", { timeout: START_MILLIS }, async () => {
    const service = await serveInProcess({ EARSHOT_FEEDS: "on", EARSHOT_DEMO_FEED: "on" })
    const { stdout } = await service.stop()
    assert.include(
      stdout,
      "\nDemo feed: off (it never runs next to a real platform: feeds); x and firehose only get what you send to POST /local/events\n"
    )
    assert.include(stdout, "\nFeeds: add some with EARSHOT_FEEDS=on earshot feeds add ")
  })

  it.scopedLive(
    "offers commands and tools for the feeds of an account",
    () =>
      Effect.gen(function* () {
        const publisher = yield* startReceiver((_, response) => void response.end(RSS))
        const target = yield* serving(serveInProcess(SETTINGS))
        const client = { EARSHOT_URL: target.url, EARSHOT_API_KEY: KEY, EARSHOT_FEEDS: "on" }
        const feeds = (...args: ReadonlyArray<string>) => run(["feeds", ...args], client)
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "earshot-test-"))),
          (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
        )
        const file = join(folder, "feeds.opml")
        const [one, two] = [`${publisher.url}/?a=1&b=2`, `${publisher.url}/two`]
        writeFileSync(
          file,
          `<opml><body><outline text="n" xmlUrl="${one.replace("&", "&amp;")}"/><outline xmlUrl='nowhere'/><outline xmlUrl="${two}"/></body></opml>`
        )
        assert.match((yield* feeds("list")).stderr, /^No feeds yet/)
        const imported = yield* feeds("import", file)
        assert.strictEqual(imported.code, 1)
        assert.match(imported.stderr, /^earshot: 2\/3 {2}nowhere: expected a URL/)
        assert.include(imported.stdout, "Added 2 of 3 feeds")
        assert.sameMembers([...Either.getOrThrow(addressesIn((yield* feeds("export")).stdout))], [one, two])
        assert.match((yield* feeds("add", "nowhere")).stderr, /^earshot: nowhere: expected a URL/)
        assert.strictEqual((yield* feeds("remove", two)).stdout, `Removed ${two}\n`)
        assert.include((yield* feeds("list")).stdout, one)
        assert.match((yield* feeds("remove", two)).stderr, /Cannot find feed/)

        const { tools, ask } = yield* mcp(target)
        assert.includeMembers([...tools], ["list_feeds", "add_feed", "remove_feed"])
        assert.include(yield* ask("list_feeds"), one)

        const key = yield* Effect.promise(() => call(target, "/keys/create", { name: "reader", scope: "read" }))
        const reader = { ...target, key: String(key.body["secret"]) }
        assertError(yield* Effect.promise(() => call(reader, "/feeds/add", { url: two })), 403, "permission_denied")
        assert.strictEqual((yield* Effect.promise(() => call(reader, "/feeds"))).status, 200)
      }),
    START_MILLIS
  )
})

// ---- helpers ----

const serving = (start: Promise<Served>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start),
      (served) => Effect.promise(() => served.stop())
    ),
    ({ url, host, port }): Target => ({ url, host, port, key: KEY })
  )

const run = (args: ReadonlyArray<string>, settings = {}) => Effect.promise(() => runInProcess(args, settings))

const trpc = ({ url, key }: Target, procedure: string) =>
  Effect.promise(() => fetch(`${url}/trpc/${procedure}`, { headers: { authorization: `Bearer ${key}` } }))

/** The names of the tools, and a function that calls one. */
const mcp = (target: Target) =>
  Effect.gen(function* () {
    const send = (method: string, params: object) =>
      Effect.promise(async () => {
        const { body } = await call(
          target,
          "/mcp",
          { jsonrpc: "2.0", id: 1, method, params },
          { headers: { accept: "application/json, text/event-stream" } }
        )
        return body
      })
    const listed = yield* send("tools/list", {})
    return {
      tools: [...(listed["result"]?.["tools"] ?? [])].map(({ name }) => String(name)),
      ask: (name: string) => Effect.map(send("tools/call", { name, arguments: {} }), (body) => JSON.stringify(body))
    }
  })
