/** `earshot replay` end to end, against a real server. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { until } from "../eventually.ts"
import { call, firehoseUpdate, type Json, type Target, xPost } from "../gateway/client.ts"
import { isLong, sized } from "../long.ts"
import {
  BOTH_RUNTIMES,
  type Ended,
  KEY,
  ROOT,
  RUNTIMES,
  type RuntimeName,
  runInProcess,
  type Served,
  START_MILLIS,
  serveInProcess,
  startCommand,
  startService
} from "../program.ts"

const folder = mkdtempSync(join(tmpdir(), "earshot-replay-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Length of the longest file. */
const LINES = sized(2_400, 20_000)

describe("earshot replay", { timeout: 2 * START_MILLIS }, () => {
  let service: Served | undefined
  const target = (): Target => {
    if (service === undefined) throw new Error("The service is not running")
    return { url: service.url, host: service.host, port: service.port, key: KEY }
  }
  beforeAll(async () => {
    service = await serveInProcess()
  }, START_MILLIS)
  afterAll(async () => void (await service?.stop()), START_MILLIS)

  const replayOn = (runtime: RuntimeName, args: ReadonlyArray<string>) =>
    startCommand(runtime, ["replay", ...args], { EARSHOT_URL: target().url, EARSHOT_API_KEY: KEY })

  const replay = (args: ReadonlyArray<string>) => replayOn("node", args)

  /** For commands that read no standard input and get no signal. */
  const run = async (args: ReadonlyArray<string>, settings: Readonly<Record<string, string | undefined>> = {}) => {
    const ended = await runInProcess(["replay", ...args], {
      EARSHOT_URL: target().url,
      EARSHOT_API_KEY: KEY,
      ...settings
    })
    return { ...ended, stderr: ended.stderr.replace(PROGRESS, "") }
  }

  for (const runtime of RUNTIMES) {
    it(`sends a file of both platforms, with the expected matches, on ${runtime}`, async () => {
      const rule_id = await newRule(target(), { x: "(checkout OR 502) -from:quillmoor", firehose: "checkout OR 502" })
      const file = join(ROOT, "examples/launch-day.ndjson")
      const lines = readFileSync(file, "utf8").trim().split("\n")
      const expected = lines.filter(
        (line) => /checkout|502/i.test(addedText(line)) && !line.includes('"username":"quillmoor"')
      )
      assert.isAbove(expected.length, 5)

      const ended = await replayOn(runtime, ["--url", target().url, file]).ended
      assert.deepStrictEqual([ended.code, ended.stderr], [0, ""])
      assert.match(ended.stdout, /^Replayed 200 events \(x 145, firehose 55\) in [\d.]+ s: (\d+) matches\n$/)
      assert.include(ended.stdout, `: ${expected.length} matches`)
      const found = (await matchesOf(target(), rule_id)).map((match) => JSON.stringify(match["payload"]))
      assert.sameMembers(found.map(canonical), expected.map(canonical))
      await call(target(), "/api.DeleteRule", { rule_id })
    })
  }

  it("sends many lines in several requests, stores each event once, and prints a JSON summary", async () => {
    const rule_id = await newRule(target(), { x: "monsoon", firehose: "monsoon" })
    const events = Array.from({ length: LINES }, (_, index) => {
      const word = index % 40 === 0 ? "monsoon" : "drizzle"
      return index % 3 === 0 ? firehoseUpdate(`http://${index}`, `${word} ${index}`) : xPost(`m${index}`, word)
    })
    const file = written("many.ndjson", `\ufeff${events.map((event) => JSON.stringify(event)).join("\r\n\n")}`)
    for (const round of ["first", "second"]) {
      const ended = await run([file, "--json"])
      assert.strictEqual(ended.code, 0, `${round}: ${ended.stderr}`)
      const { seconds, ...rest } = JSON.parse(ended.stdout) as Record<string, unknown>
      assert.isAbove(Number(seconds), 0)
      const firehose = Math.ceil(LINES / 3)
      assert.deepStrictEqual(rest, { accepted: { x: LINES - firehose, firehose }, matches: LINES / 40, skipped: 0 })
      assert.lengthOf(await matchesOf(target(), rule_id), LINES / 40, round)
    }
    await call(target(), "/api.DeleteRule", { rule_id })
  })

  it("sends lines of standard input as they arrive", async () => {
    const rule_id = await newRule(target(), { x: "sirocco" })
    const { stdin, ended } = replay(["--rate", "1000", "-"])
    stdin.write(`${JSON.stringify(xPost("i1", "sirocco"))}\n`)
    await until("the match is stored", async () => (await matchesOf(target(), rule_id)).length === 1)
    stdin.end(JSON.stringify(xPost("i2", "sirocco")))
    assert.match((await ended).stdout, /^Replayed 2 events \(x 2\) in [\d.]+ s: 2 matches\n$/)
    await call(target(), "/api.DeleteRule", { rule_id })
  })

  it("stops at a rejected line with its number, and reports which lines were accepted", async () => {
    const rule_id = await newRule(target(), { x: "tempest" })
    const good = Array.from({ length: 1_500 }, (_, index) => JSON.stringify(xPost(`b${index}`, "tempest")))
    const file = written("bad.ndjson", [...good.slice(0, 1_200), "", "{torn", ...good.slice(1_200)].join("\n"))
    assertPlain(
      await run([file]),
      /^earshot: Line 1202: Is not valid JSON.*Accepted everything up to line 1000, and nothing of lines 1001 to 1\d{3}; --skip-bad-lines/
    )
    assert.lengthOf(await matchesOf(target(), rule_id), 1_000)

    const { code, stdout, stderr } = await run([file, "--skip-bad-lines"])
    assert.strictEqual(code, 0)
    assert.match(stderr, /^Skipped line 1202: Is not valid JSON: (Unexpected|Expected) .*: send one event per line\n$/)
    assert.match(stdout, /^Replayed 1,500 events \(x 1,500\) in [\d.]+ s: 1,500 matches; 1 bad line skipped\n$/)
    assert.lengthOf(await matchesOf(target(), rule_id), 1_500)
    await call(target(), "/api.DeleteRule", { rule_id })
  })

  it("--skip-bad-lines skips more lines than one response lists, and one that is too long", async () => {
    const line = JSON.stringify(xPost("q1", "calm"))
    const long = JSON.stringify(xPost("q2", "long".repeat(300_000)))
    const file = written(
      "worse.ndjson",
      [line, ...Array.from({ length: 250 }, () => "torn"), long, "\xff", line].join("\n")
    )
    assertPlain(await run([file]), /^earshot: Line \d+: Is .*No line was accepted; --skip-bad-lines/)
    const { code, stdout, stderr } = await run([file, "--skip-bad-lines"])
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^Replayed 2 events \(x 2\) in [\d.]+ s: 0 matches; 252 bad lines skipped\n$/)
    assert.lengthOf(stderr.trim().split("\n"), 21)
  })

  const badInput: ReadonlyArray<readonly [problem: string, path: string, message: RegExp]> = [
    ["the file does not exist", join(folder, "nothing"), /^earshot: Cannot read ".*nothing": there is no such file$/],
    ["the file is a folder", folder, /^earshot: Cannot read ".*": it is a folder$/],
    ["the file is empty", written("empty.ndjson", ""), /^earshot: There is no event in ".*empty.ndjson"/],
    ["the file is blank", written("blank.ndjson", "\n \r\n\n"), /^earshot: There is no event in ".*blank.ndjson"/]
  ]
  for (const [problem, path, message] of badInput) {
    it(`fails when ${problem}`, async () => assertPlain(await run([path]), message))
  }

  it("fails for a real platform, without advice to skip lines", async () => {
    const real = await serveInProcess({ X_BEARER_TOKEN: "a-token-of-nobody", X_BASE_URL: "http://127.0.0.1:9" })
    const file = written("one.ndjson", JSON.stringify(xPost("k1", "calm")))
    const ended = await run(["--url", real.url, file])
    await real.stop()
    assertPlain(
      ended,
      /^earshot: Line 1: Platform "x" does not run in process on this server: it accepts no published events. No line was accepted; replay to a server without credentials for this platform/
    )
    assert.notInclude(ended.stderr, "--skip-bad-lines")
  })

  it("fails for gzip with advice to decompress, also on standard input", async () => {
    const compressed = gzipSync(JSON.stringify(xPost("z1", "calm")))
    const file = join(folder, "packed.ndjson.gz")
    writeFileSync(file, compressed)
    assertPlain(
      await run([file]),
      /^earshot: Cannot replay ".*": it is compressed with gzip; decompress it: zcat \S+packed.ndjson.gz \| npx earshot replay -$/
    )
    const { stdin, ended } = replay(["--skip-bad-lines", "-"])
    stdin.end(compressed)
    assertPlain(await ended, /^earshot: Cannot replay standard input: .*: zcat recording.gz \| npx earshot replay -$/)
  })

  it.skipIf(process.getuid?.() === 0)("fails when the file may not be read (root may read all)", async () => {
    const file = written("secret.ndjson", "{}", 0o000)
    assertPlain(await replay([file]).ended, /^earshot: Cannot read ".*": not permitted$/)
  })

  it("fails for a missing, unknown or malformed key, and never prints it", async () => {
    const file = written("one.ndjson", JSON.stringify(xPost("k1", "calm")))
    assertPlain(await run([file], { EARSHOT_API_KEY: undefined }), /^earshot: No API key: set EARSHOT_API_KEY/)
    for (const key of ["some-other-key-of-nobody", "käse\nbrot"]) {
      const ended = await run([file], { EARSHOT_API_KEY: key })
      assertPlain(ended, /^earshot: .*EARSHOT_API_KEY/)
      assert.notInclude(ended.stderr, key.slice(0, 4))
    }
  })

  it("fails when no server or another server answers, and for an invalid URL", async () => {
    const file = written("one.ndjson", JSON.stringify(xPost("k1", "calm")))
    const other = await scripted([(_, response) => response.end("<html>Hello</html>")])
    assertPlain(await run(["--url", other.url, file]), /the response is not from Earshot \(status \d+\)/)
    await other.close()
    for (const ended of isLong
      ? BOTH_RUNTIMES.map((runtime) => replayOn(runtime, ["--url", other.url, file]).ended)
      : [run(["--url", other.url, file])]) {
      assertPlain(
        await ended,
        /^earshot: Cannot reach Earshot at http:\S+: connection refused; start the server with npm start or earshot serve, or name another one with --url or EARSHOT_URL$/
      )
    }
    for (const url of ["localhost", "ftp://a.b", "http://user:pass@a.b"]) {
      const ended = await run([file], { EARSHOT_URL: url })
      assertPlain(ended, /^earshot: The address of Earshot \(--url or EARSHOT_URL\) is not valid/)
      if (url.includes("@")) assert.notInclude(ended.stderr, ":pass")
      else assert.include(ended.stderr, `not "${url}"`)
    }
  })

  it("rejects --rate 0", async () => {
    const { code, stderr } = await run(["--rate", "0", "file"])
    assert.strictEqual(code, 2)
    assert.match(stderr, /^earshot: Expected --rate to be a whole number from 1 to 1000000\n/)
  })

  it("retries when the server is unavailable or cuts the connection, and reports it", async () => {
    const lines = Array.from({ length: 1_001 }, (_, index) => `${JSON.stringify(xPost(`t${index}`, "calm"))}\n`)
    const [many, last] = [lines.slice(0, 1_000).join(""), lines.at(-1)]
    const taken = (x: number) => (_: IncomingMessage, response: ServerResponse) =>
      response.end(JSON.stringify({ accepted: { x }, matches: 0 }))
    const server = await scripted([
      (_, response) => {
        response.writeHead(503, { "retry-after": "3" })
        response.end(JSON.stringify({ code: "unavailable", message: "The store cannot be reached", details: {} }))
      },
      taken(1_000),
      (request) => request.socket.destroy(),
      taken(1)
    ])
    const { code, stdout, stderr } = await run(["--url", server.url, written("cut.ndjson", lines.join(""))])
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^Replayed 1,001 events \(x 1,001\)/)
    assert.deepStrictEqual(stderr.split("\n").slice(0, 2), [
      "The store cannot be reached. Trying again in 3 s (try 2 of 5)",
      `Cannot reach Earshot at ${server.url}: the connection was cut. Trying again in 1 s (try 2 of 5)`
    ])
    assert.deepStrictEqual(server.bodies, [many, many, last, last])
    await server.close()
  })

  it("keeps to --rate after an outage of the server, without a burst", async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `${JSON.stringify(xPost(`r${index}`, "calm"))}\n`)
    const taken = (_: IncomingMessage, response: ServerResponse) => {
      const x = (server.bodies.at(-1) ?? "").trim().split("\n").length
      response.end(JSON.stringify({ accepted: { x }, matches: 0 }))
    }
    const server = await scripted([
      taken,
      (_, response) => {
        response.writeHead(503, { "retry-after": "3" })
        response.end(JSON.stringify({ code: "unavailable", message: "The store cannot be reached", details: {} }))
      },
      ...lines.map(() => taken)
    ])
    const paced = written("paced.ndjson", lines.join(""))
    const { code, stderr } = await run(["--url", server.url, "--rate", "10", paced])
    assert.strictEqual(code, 0, stderr)
    const most = Math.max(...server.bodies.map((body) => body.trim().split("\n").length))
    assert.isAtMost(most, 12, "at most a second's worth")
    await server.close()
  })

  it("gives up on a dead server, and reports which lines were accepted", async () => {
    const other = await startService("node")
    const otherTarget = { url: other.url, host: other.host, port: other.port, key: KEY }
    const rule_id = await newRule(otherTarget, { x: "typhoon" })
    const { stdin, ended } = replay(["--url", other.url, "-"])
    stdin.write(`${JSON.stringify(xPost("g1", "typhoon"))}\n`)
    await until("the match is stored", async () => (await matchesOf(otherTarget, rule_id)).length === 1)
    other.signal("SIGKILL")
    await other.ended
    stdin.end(`${JSON.stringify(xPost("g2", "typhoon"))}\n`)
    const { code, stdout, stderr } = await ended
    assert.deepStrictEqual([code, stdout], [1, ""])
    const lines = stderr.trim().split("\n")
    const errors = lines.filter((line) => !/^1 event {2}\d\/s {2}1 match$/.test(line))
    assert.lengthOf(errors, 5, stderr)
    assert.isAbove(lines.length, errors.length, "it prints its progress while it waits")
    assert.match(
      errors[4] ?? "",
      /connection refused.*\(tried 5 times\). Accepted everything up to line 1, and possibly part of line 2/
    )
    assert.notMatch(stderr, /\bat .*:\d+:\d+|node:internal/)
  })

  for (const runtime of RUNTIMES) {
    it(`prints its progress on Ctrl-C, also while it waits for input, on ${runtime}`, async () => {
      const rule_id = await newRule(target(), { x: "blizzard" })
      const file = written(
        "slow.ndjson",
        Array.from({ length: 500 }, (_, index) => JSON.stringify(xPost(`s${index}`, "blizzard"))).join("\n")
      )
      const slow = replayOn(runtime, ["--url", target().url, "--rate", "5", file])
      await until("the match is stored", async () => (await matchesOf(target(), rule_id)).length > 0)
      slow.signal("SIGINT")
      const stopped = await slow.ended
      assert.deepStrictEqual([stopped.code, stopped.stdout], [130, ""])
      assert.match(
        stopped.stderr,
        /^Stopped. Replayed \d+ events? \(x \d+\) in [\d.]+ s: \d+ match(es)?\nTo resume: tail -n \+\d+ \S+slow.ndjson \| npx earshot replay --url http:\S+ --rate 5 -\n$/
      )

      const waiting = replayOn(runtime, ["-"])
      waiting.stdin.write(`${JSON.stringify(xPost(`w${runtime}`, "blizzard"))}\n`)
      await until("the match is stored", async () =>
        (await matchesOf(target(), rule_id)).some((match) => String(match["platform_post_id"]) === `w${runtime}`)
      )
      waiting.signal("SIGINT")
      assert.match((await waiting.ended).stderr, /^Stopped. Replayed 1 event \(x 1\)/)

      const forPrograms = replayOn(runtime, ["--json", "-"])
      forPrograms.stdin.write(`\n${JSON.stringify(xPost(`j${runtime}`, "blizzard"))}\n`)
      await until("the match is stored", async () =>
        (await matchesOf(target(), rule_id)).some((match) => String(match["platform_post_id"]) === `j${runtime}`)
      )
      forPrograms.signal("SIGINT")
      const { code, stdout, stderr } = await forPrograms.ended
      assert.deepStrictEqual([code, stderr], [130, ""])
      assert.deepInclude(JSON.parse(stdout), { accepted: { x: 1, firehose: 0 }, matches: 1, stopped_after_line: 2 })
      await call(target(), "/api.DeleteRule", { rule_id })
    })
  }
})

// ---- helpers ----

/** One readable line without a stack trace, and the exit code of a failure. */
/** A command that takes ten seconds prints one, so a busy machine has some. */
const PROGRESS = /^ *(\d+% {2})?[\d,]+ events? {2}[\d,]+\/s.*\n/gm

const assertPlain = ({ code, stdout, stderr }: Ended, message: RegExp) => {
  assert.deepStrictEqual([code, stdout], [1, ""], stderr)
  assert.match(stderr.trim(), message)
  assert.lengthOf(stderr.trim().split("\n"), 1, stderr)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character of terminal sequences
  assert.notMatch(stderr, /\bat .*:\d+:\d+|node:internal|Error:|FiberFailure|[\u0000-\u0009\u000b-\u001f]/)
}

function written(name: string, content: string, mode = 0o600): string {
  const path = join(folder, name)
  writeFileSync(path, Buffer.from(content, content.includes("\xff") ? "latin1" : "utf8"), { mode })
  return path
}

const newRule = async (target: Target, overrides: Readonly<Record<string, string>>): Promise<Json | undefined> => {
  const draft = { name: "Test", intent: "Show that it works", platforms: Object.keys(overrides), overrides }
  const { status, body } = await call(target, "/api.CreateRule", draft)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body["rule_id"]
}

const matchesOf = async (target: Target, rule_id: Json | undefined): Promise<ReadonlyArray<Json>> => {
  const found: Array<Json> = []
  let cursor: Json | undefined
  do {
    const page = { rule_id, limit: 500, ...(cursor === undefined ? {} : { cursor }) }
    const { body } = await call(target, "/matches", page)
    found.push(...(body["matches"] ?? []))
    cursor = body["next_cursor"]
  } while (cursor !== undefined)
  return found
}

/** The text that a keyword matches: the text of a post, the added text of a page. */
const addedText = (line: string): string => {
  const { data, document } = JSON.parse(line) as {
    readonly data?: { readonly text: string }
    readonly document?: {
      readonly diff: { readonly chunks: ReadonlyArray<{ readonly typ: string; readonly text: string }> }
    }
  }
  const added = document?.diff.chunks.filter(({ typ }) => typ === "ins").map((chunk) => chunk.text) ?? []
  return [data?.text ?? "", ...added].join("\n")
}

/** With sorted keys: the store does not keep their order. */
const canonical = (line: string): string =>
  JSON.stringify(JSON.parse(line), (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  )

/** A server that plays one scripted response per request. */
const scripted = async (answers: ReadonlyArray<(request: IncomingMessage, response: ServerResponse) => void>) => {
  const bodies: Array<string> = []
  const server = createServer(async (request, response) => {
    bodies.push(await text(request))
    answers[bodies.length - 1]?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve()))
  }
}
