/** `earshot matches --follow` end to end: each match once and in order, across reconnects. */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { call, xPost } from "../gateway/client.ts"
import { isLong } from "../long.ts"
import {
  KEY,
  RUNTIMES,
  type Running,
  runCommand,
  runInProcess,
  START_MILLIS,
  startCommand,
  startService
} from "../program.ts"
import { temporaryDatabase } from "../stores.ts"

const folder = mkdtempSync(join(tmpdir(), "earshot-follow-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("earshot matches --follow", { timeout: 3 * START_MILLIS }, () => {
  it("prints each match once and in order, across a restart of the server, and exits with 0 on Ctrl-C", async () => {
    const settings = { EARSHOT_DATA_DIR: folder }
    let service = await startService("node", settings)
    const port = String(service.port)
    await rule(service, "squall")
    await send(service, "old", "squall of old")

    const client = { EARSHOT_URL: service.url, EARSHOT_API_KEY: KEY }
    const followers = RUNTIMES.map((runtime) => startCommand(runtime, ["matches", "-f", "--json"], client))
    const lines = startCommand("node", ["matches", "--follow", "--platform", "x"], client)
    // Sends matches until all followers are connected.
    const connected = Promise.all([...followers, lines].map((one) => one.printed(/hello/)))
    let helloes = 0
    const hello = setInterval(() => void send(service, `hello${helloes++}`, "squall says hello").catch(() => {}), 200)
    await connected
    clearInterval(hello)
    await send(service, "a", "squall first")
    await Promise.all([...followers, lines].map((one) => one.printed(/squall first/)))

    service.signal("SIGKILL")
    await service.ended
    await Promise.all([...followers, lines].map((one) => one.printedError(/Trying again in 1 s/)))
    service = await startService("node", { ...settings, PORT: port })
    await send(service, "b", "squall second")
    await Promise.all([...followers, lines].map((one) => one.printed(/squall second/)))
    await Promise.all([...followers, lines].map((one) => one.printedError(/process_down/)))

    for (const one of [...followers, lines]) one.signal("SIGINT")
    for (const follower of followers) {
      const { code, stdout, stderr } = await follower.ended
      assert.strictEqual(code, 0, stderr)
      const ids = stdout
        .trimEnd()
        .split("\n")
        .map((line) => String(JSON.parse(line).id))
      assert.deepStrictEqual(ids, ids.toSorted(), "in order")
      assert.lengthOf(new Set(ids), ids.length, "each once")
      assert.notInclude(stdout, "squall of old")
      assert.match(stdout, /squall first.*squall second/s)
      const notes = stderr
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      const [retries, changes] = [
        notes.filter(({ code }) => code === "unavailable"),
        notes.filter((one) => one.coverage)
      ]
      assert.lengthOf(notes, retries.length + changes.length)
      assert.strictEqual(changes[0]?.coverage.platforms[0].gaps[0].cause, "process_down")
    }
    const { code, stdout, stderr } = await lines.ended
    assert.strictEqual(code, 0)
    assert.match(stdout, /20\S+Z {2}x {9}Test {2}squall second\n$/)
    assert.match(stderr, /\nNot watched: x, \S+ (to )?\S+, process_down: The server was not running\n/)
    assert.match(stderr, /^Cannot reach Earshot at http:\S+: the connection was cut. Trying again in 1 s\n/)
    assert.match(stderr, /\nReconnected\n/)
    await service.stop()
  })

  it("resumes after the last id, also one without a match, and starts after --cursor", async () => {
    const server = await scripted([
      (response) => {
        response.write("retry: 1000\n: open\n\n")
        response.write(frame(1))
        response.end(`id: ${matchId(2)}\n: still here\n\n`)
      },
      (response) => response.end(frame(3)),
      (response) =>
        response.end('event: error\ndata: {"code":"unavailable","message":"The store is away","details":{}}\n\n'),
      (response) =>
        response.end(
          'event: error\ndata: {"code":"not_found","message":"Cannot find rule \\"r\\"","details":{"rule_id":"r"}}\n\n'
        )
    ])
    const args = ["matches", "--follow", "--json", "--rule", "r", "--cursor", matchId(0)]
    const { code, stdout, stderr } = await runInProcess(args, { EARSHOT_URL: server.url, EARSHOT_API_KEY: KEY })
    assert.strictEqual(code, 1)
    assert.deepStrictEqual(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
      [matchId(1), matchId(3)]
    )
    assert.deepStrictEqual(
      server.asked.map(({ url, headers }) => [url, headers["last-event-id"]]),
      [0, 2, 3, 3].map((id) => ["/matches/stream?rule_id=r", matchId(id)])
    )
    const errors = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      errors.map(({ message }) => message),
      [
        "The server ended the stream. Trying again in 1 s",
        "The server ended the stream. Trying again in 2 s",
        "The store is away. Trying again in 4 s",
        'Cannot find rule "r"'
      ]
    )
    assert.deepInclude(errors.at(-1), { code: "not_found", details: { rule_id: "r" } })
    await server.close()
  })

  it.scopedLive("follows Postgres directly while a server writes to it", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const settings = { DATABASE_URL: Redacted.value(url), LOG_LEVEL: "warning" }
      const service = yield* Effect.acquireRelease(
        Effect.promise(() => startService("node", settings)),
        (running) => Effect.promise(() => running.stop())
      )
      yield* Effect.promise(async () => {
        await rule(service, "mistral")
        const following = startCommand("node", ["matches", "--follow"], settings)
        let helloes = 0
        const hello = setInterval(() => void send(service, `m${helloes++}`, "mistral").catch(() => {}), 200)
        await following.printed(/ Test {2}mistral\n/)
        clearInterval(hello)
        following.signal("SIGINT")
        const { code, stderr } = await following.ended
        assert.deepStrictEqual([code, stderr], [0, ""])
      })
    })
  )

  it("fails for a server without the stream and for an invalid match", async () => {
    const cases: ReadonlyArray<readonly [answer: (response: ServerResponse) => void, message: RegExp]> = [
      [
        (response) => response.writeHead(404).end('{"code":"not_found","message":"There is no path","details":{}}'),
        /^earshot: There is no path\n$/
      ],
      [
        (response) => response.end("id: 1\nevent: match\ndata: {}\n\n"),
        /^earshot: The server sent an event that cannot be read/
      ]
    ]
    for (const [answer, message] of cases) {
      const server = await scripted([answer])
      const args = ["matches", "-f", "--cursor", matchId(0)]
      const client = { EARSHOT_URL: server.url, EARSHOT_API_KEY: KEY }
      const { code, stdout, stderr } = await (isLong ? runCommand("deno", args, client) : runInProcess(args, client))
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, message)
      await server.close()
    }
  })

  for (const runtime of RUNTIMES) {
    it(`ends silently when standard output is closed, on ${runtime}`, async () => {
      const server = await scripted([
        (response) => {
          let id = 0
          const writing = setInterval(() => response.write(frame(++id)), 20)
          response.on("close", () => clearInterval(writing))
        }
      ])
      const following = startCommand(runtime, ["matches", "-f", "--json", "--cursor", matchId(0)], {
        EARSHOT_URL: server.url,
        EARSHOT_API_KEY: KEY
      })
      await following.printed(/match_/)
      following.stdout.destroy()
      const { code, stderr } = await following.ended
      assert.deepStrictEqual([code, stderr], [0, ""])
      await server.close()
    })
  }
})

// ---- helpers ----

const target = ({ url, host, port }: Running) => ({ url, host, port, key: KEY })

const rule = async (service: Running, filter: string) => {
  const draft = { name: "Test", intent: "i", platforms: ["x"], overrides: { x: filter } }
  assert.strictEqual((await call(target(service), "/api.CreateRule", draft)).status, 200)
}

const send = (service: Running, id: string, text: string) => call(target(service), "/local/events", [xPost(id, text)])

const matchId = (index: number): string => `match_${String(index).padStart(26, "0")}`

const frame = (index: number): string => {
  const match = {
    id: matchId(index),
    rule_id: `rule_${"0".repeat(26)}`,
    rule_version: 1,
    created_at: "2026-11-15T08:31:07.402Z",
    platform: "x",
    platform_post_id: String(index),
    payload: { data: { id: String(index), text: `post ${index}` } }
  }
  return `id: ${match.id}\nevent: match\ndata: ${JSON.stringify(match)}\n\n`
}

/** A server without rules that plays one scripted response per stream request, then repeats the last one. */
const scripted = async (answers: ReadonlyArray<(response: ServerResponse) => void>) => {
  const asked: Array<IncomingMessage> = []
  const server = createServer((request, response) => {
    if (request.url === "/api.ListRules") return response.end('{"rules":[]}')
    response.setHeader("content-type", "text/event-stream")
    asked.push(request)
    return answers[Math.min(asked.length, answers.length) - 1]?.(response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
