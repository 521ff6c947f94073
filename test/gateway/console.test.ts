/** Serving the web console: with made-up files in this process, and with the built ones from the real program. */
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as NodeServer from "../../adapters/runtimes/node.ts"
import { unreadableRequest } from "../../gateway/errors.ts"
import { gateway } from "../../gateway/gateway.ts"
import type { Files } from "../../gateway/http/files.ts"
import { KEY, RUNTIMES, type Served, START_MILLIS, serveOn } from "../program.ts"
import { answerOf, assertError } from "./client.ts"
import { service } from "./inProcess.ts"
import { exchange, requestText } from "./raw.ts"

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const IMMUTABLE = "public, max-age=31536000, immutable"

describe("/console", () => {
  it.scopedLive("and every path below it without a file extension is the page", () =>
    Effect.gen(function* () {
      const { get } = yield* serve(FILES)
      for (const path of ["", "/", "/rules", "/rules/rule_01", "/..%2f..%2fetc/passwd", "//evil", "?a=b.c"]) {
        const { status, headers, text } = yield* get(`/console${path}`)
        assert.deepStrictEqual([status, text], [200, "the page"], path)
        assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
        assert.strictEqual(headers.get("cache-control"), "no-cache")
        assertIsolated(headers)
      }
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("serves assets for good, with their type and length", () =>
    Effect.gen(function* () {
      const { get } = yield* serve(FILES)
      for (const [path, type] of [
        ["/assets/main-ABCD.js", "text/javascript; charset=utf-8"],
        ["/assets/main-ABCD.css", "text/css; charset=utf-8"]
      ]) {
        const { status, headers, text } = yield* get(`/console${path}`)
        assert.deepStrictEqual([status, headers.get("content-type")], [200, type])
        assert.strictEqual(headers.get("cache-control"), IMMUTABLE)
        assert.strictEqual(headers.get("content-length"), String(text.length))
        assertIsolated(headers)
      }
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("serves nothing but its files", () =>
    Effect.gen(function* () {
      const { port, get } = yield* serve(FILES)
      for (const path of [
        "/assets/other-ABCD.js",
        "/assets/",
        "/assets/main-ABCD",
        "/assets/main-ABCD.js.br",
        "/assets/main-ABCD.js.map",
        "/index.html.gz",
        "/../package.json",
        "/%2e%2e/package.json",
        "/assets/__proto__.js",
        "/favicon.ico",
        "/secret.txt"
      ]) {
        // A socket, because fetch would resolve the dots.
        const answer = yield* Effect.promise(() =>
          exchange({ host: HOST, port }, requestText("GET", `/console${path}`))
        )
        assertError({ status: answer?.status ?? 0, body: JSON.parse(answer?.body ?? "{}") }, 404, "not_found")
        assert.strictEqual(answer?.headers["cache-control"], "no-store", path)
      }
      for (const path of ["/consoles", "/console.html", "/Console"]) {
        assert.strictEqual((yield* get(path)).status, 404, path)
      }
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("is compressed as the client accepts it", () =>
    Effect.gen(function* () {
      const { port } = yield* serve(FILES)
      const encodingFor = (accepted: string | undefined, path: string) =>
        Effect.promise(async () => {
          const headers = { "accept-encoding": accepted }
          const answer = await exchange({ host: HOST, port }, requestText("GET", `/console${path}`, headers))
          assert.strictEqual(answer?.headers["vary"], "Accept-Encoding")
          assert.strictEqual(answer?.headers["content-length"], String(answer?.body.length))
          assert.strictEqual(answer?.headers["content-type"], "text/javascript; charset=utf-8")
          return [answer?.headers["content-encoding"], answer?.body]
        })
      const js = "/assets/main-ABCD.js"
      const cases: ReadonlyArray<readonly [accepted: string | undefined, encoding: string | undefined, body: string]> =
        [
          ["gzip, deflate, br, zstd", "br", "script by brotli"],
          ["BR;q=0.5, gzip", "br", "script by brotli"],
          ["gzip, br;q=0", "gzip", "script by gzip"],
          ["br;q=0.0 , gzip;q=0", undefined, "script"],
          ["identity", undefined, "script"],
          ["bright", undefined, "script"],
          [undefined, undefined, "script"]
        ]
      for (const [accepted, ...expected] of cases) {
        assert.deepStrictEqual(yield* encodingFor(accepted, js), expected, accepted)
      }
      assert.deepStrictEqual(yield* encodingFor("br, gzip", "/assets/small-ABCD.js"), [undefined, "small"])
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("has an ETag per encoding, and 304 for one that the client has", () =>
    Effect.gen(function* () {
      const { get } = yield* serve(FILES)
      const plain = yield* get("/console", { "accept-encoding": "identity" })
      const compressed = yield* get("/console", { "accept-encoding": "gzip" })
      const etag = plain.headers.get("etag") ?? ""
      assert.match(etag, /^"[0-9a-f]{24}"$/)
      assert.notStrictEqual(compressed.headers.get("etag"), etag)
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const { status, headers, text } = yield* get("/console/rules", {
          "accept-encoding": "identity",
          "if-none-match": known
        })
        assert.deepStrictEqual([status, text, headers.get("etag")], [304, "", etag])
        assert.strictEqual(headers.get("cache-control"), "no-cache")
      }
      assert.strictEqual((yield* get("/console", { "if-none-match": '"other"' })).status, 200)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("accepts HEAD, and no other method", () =>
    Effect.gen(function* () {
      const { get, port } = yield* serve(FILES)
      const answer = yield* Effect.promise(() =>
        exchange({ host: HOST, port }, requestText("HEAD", "/console"), { bodiless: true })
      )
      assert.deepStrictEqual([answer?.status, answer?.headers["content-length"]], [200, "8"])
      const { status, headers, text } = yield* get("/console", {}, "POST")
      assertError({ status, body: JSON.parse(text) }, 405, "unimplemented")
      assert.strictEqual(headers.get("allow"), "GET")
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("is where / sends a browser", () =>
    Effect.gen(function* () {
      const { get } = yield* serve(FILES)
      const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" }
      const { status, headers } = yield* get("/", browser)
      assert.deepStrictEqual([status, headers.get("location"), headers.get("vary")], [302, "/console", "Accept"])
      for (const accept of ["*/*", "application/json"]) {
        const info = yield* get("/", { accept })
        assert.deepStrictEqual([info.status, info.headers.get("vary")], [200, "Accept"])
        assert.include(JSON.parse(info.text), { name: "Earshot", console: "/console" })
      }
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("is 404 if it is off or not built, and / answers every client alike", () =>
    Effect.gen(function* () {
      for (const [files, message] of [
        [undefined, /^Cannot find path "\/console"/],
        [new Map(), /^The console is not built: run "npm run build"/]
      ] as const) {
        const { get } = yield* serve(files)
        const { status, text } = yield* get("/console")
        assertError({ status, body: JSON.parse(text) }, 404, "not_found", message)
        const info = yield* get("/", { accept: "text/html" })
        assert.deepStrictEqual([info.status, info.headers.get("vary")], [200, null])
        assert.notProperty(JSON.parse(info.text), "console")
      }
    }).pipe(Effect.provide(service))
  )
})

for (const runtime of RUNTIMES) {
  describe(`/console on ${runtime}`, () => {
    let running: Served | undefined
    beforeAll(async () => {
      running = await serveOn(runtime)
    }, START_MILLIS)
    afterAll(async () => {
      await running?.stop()
    }, START_MILLIS)

    it("is the built page, and everything that it links to is served compressed, without a key", async () => {
      const page = await fetch(`${running?.url}/console`)
      assertIsolated(page.headers)
      const html = await page.text()
      const links = [...html.matchAll(/(?:src|href)="(\/console\/[^"]*)"/g)].map((match) => match[1] ?? "")
      assert.isNotEmpty(links)
      for (const link of links) {
        const original = await raw(`${link}`, "identity")
        for (const [encoding, decompress] of [
          ["br", brotliDecompressSync],
          ["gzip", gunzipSync]
        ] as const) {
          const { headers, body } = await raw(link, encoding)
          assert.strictEqual(headers["content-encoding"], encoding, link)
          assert.strictEqual(headers["content-length"], String(body.length))
          assert.isTrue(decompress(body).equals(original.body), link)
        }
      }
    })

    it("needs no more than HEAD to be found", async () => {
      const answer = await exchange(target(), requestText("HEAD", "/console"), { bodiless: true })
      assert.strictEqual(answer?.status, 200)
      assert.match(answer?.headers["content-length"] ?? "", /^[1-9]\d*$/)
    })

    const target = () => ({ host: running?.host ?? "", port: running?.port ?? 0 })

    /** Unlike fetch, it does not decompress. */
    const raw = async (path: string, encoding: string) => {
      const { get } = await import("node:http")
      return new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
        const request = get({ ...target(), path, headers: { "accept-encoding": encoding } }, (response) => {
          const chunks: Array<Buffer> = []
          response.on("data", (chunk: Buffer) => chunks.push(chunk))
          response.on("end", () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }))
        })
        request.on("error", reject)
      })
    }
  })
}

describe("serve", { timeout: START_MILLIS }, () => {
  it("prints the address alone when there is a key already", async () => {
    const running = await serveOn("node")
    assert.strictEqual(await running.printed(/^Console: .*\n/m), `Console: ${running.url}/console\n`)
    assert.notInclude((await running.stop()).stdout, KEY)
  })

  it("has no console with EARSHOT_CONSOLE=off", async () => {
    const running = await serveOn("node", { EARSHOT_CONSOLE: "off", EARSHOT_BOOTSTRAP_KEY: undefined })
    await running.printed(/first API key/)
    assertError(await answerOf(await fetch(`${running.url}/console`)), 404, "not_found", /^Cannot find path/)
    const info = await answerOf(await fetch(running.url, { headers: { accept: "text/html" } }))
    assert.deepStrictEqual([info.status, "console" in info.body], [200, false])
    assert.notInclude((await running.stop()).stdout, "onsole")
  })
})

// ---- helpers ----

const HOST = "127.0.0.1"

const file = (text: string) => Effect.succeed(new TextEncoder().encode(text))

const FILES: Files = new Map([
  ["index.html", file("the page")],
  ["index.html.gz", file("the page by gzip")],
  ["assets/main-ABCD.js", file("script")],
  ["assets/main-ABCD.js.br", file("script by brotli")],
  ["assets/main-ABCD.js.gz", file("script by gzip")],
  ["assets/main-ABCD.css", file("style")],
  ["assets/main-ABCD.js.map", file("map")],
  ["assets/small-ABCD.js", file("small")],
  ["secret.txt", file("secret")]
])

/** The gateway with these files. Without them the console is off. */
const serve = (files: Files | undefined) =>
  Effect.gen(function* () {
    const handler = yield* gateway({
      host: Option.some(HOST),
      console: Option.fromNullable(files),
      observeProcess: Effect.void,
      version: "0.0.0"
    })
    const port = yield* NodeServer.serve({ host: HOST, port: 0, handler, unreadable: unreadableRequest })
    const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
      Effect.promise(async () => {
        const sent = { "accept-encoding": "identity", ...headers }
        const response = await fetch(`http://${HOST}:${port}${path}`, { method, headers: sent, redirect: "manual" })
        // The made-up compressed forms are not compressed.
        const text = response.headers.has("content-encoding") ? "" : await response.text()
        return { status: response.status, headers: response.headers, text }
      })
    return { port, get }
  })

const assertIsolated = (headers: Headers): void => {
  assert.strictEqual(headers.get("content-security-policy"), POLICY)
  assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
  assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
  assert.strictEqual(headers.get("cross-origin-opener-policy"), "same-origin")
}
