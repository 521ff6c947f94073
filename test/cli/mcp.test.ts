/** `earshot mcp`: MCP tools on standard input and output, with the local store and with a remote server. */
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, request } from "node:http"
import { type AddressInfo, createServer as createSocketServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { z } from "zod"
import { builtIn } from "../../app/platforms.ts"
import { toolbox } from "../../gateway/mcp/tools.ts"
import { eventually } from "../eventually.ts"
import { draft, call as post, xPost } from "../gateway/client.ts"
import { connect, MODERN, session } from "../gateway/mcp/session.ts"
import { isLong, sized } from "../long.ts"
import { KEY, ROOT, runInProcess, type Served, serveInProcess, startCommand } from "../program.ts"

let server: Served
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "earshot-test-"))
  server = await serveInProcess()
})

afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const SCENARIOS = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]

const EXCLUDED: ReadonlyArray<readonly [names: RegExp, reason: string]> = [
  [/^resources-/, "there are no resources"],
  [/^prompts-/, "there are no prompts"],
  [/^logging-/, "logs go to standard error, not to clients"],
  [/^completion-/, "there is nothing to complete"],
  [/^tools-call-|^elicitation-|^json-schema-/, "they need a tool made for the test"],
  [/^server-sse-/, "they need a session, and the server is stateless"]
]

/** The session on the local store is of 2025. */
const ERAS = [
  ["2026", MODERN],
  ["2025", {}]
] as const

describe("earshot mcp", () => {
  for (const [era, options] of ERAS.slice(0, sized(1, 2))) {
    it(`serves a whole session on a remote server, for the ${era} client`, async () => {
      const agent = await connect(transport({ EARSHOT_URL: server.url, EARSHOT_API_KEY: KEY }), options)
      const target = { ...server, key: KEY }
      await session(agent, {
        word: `geyser${era}`,
        publish: () => post(target, "/local/events", xPost(era, `A geyser${era}`))
      })
      await agent.client.close()
    })
  }

  it("serves a whole session on the local store, with the demo feed, creates no key, and shares the store", async () => {
    const agent = await connect(transport({ EARSHOT_DEMO_FEED: "on" }))
    await session(agent, { word: "nasa", publish: () => Promise.resolve() })
    const kept = await agent.call("create_rule", { ...NASA, name: "Kept" })
    assert.isFalse(kept.isError)
    await agent.client.close()

    const keys = await runInProcess(["keys", "list"], { EARSHOT_DATA_DIR: folder })
    assert.match(keys.stdout, /No keys yet/, "the first start of the server still prints a key")

    const holder = await connect(transport({}))
    assert.match((await holder.call("list_rules")).text, /"Kept"/, "the rule is stored")
    // The second one uses the process that already uses the store, through its operator socket.
    const second = await connect(transport({}))
    assert.isFalse((await second.call("create_rule", { ...NASA, name: "Of the second" })).isError)
    assert.match((await holder.call("list_rules")).text, /"Of the second"/)
    for (const { client } of [holder, second]) {
      const params = { name: "match.created", cursor: null }
      assert.match((await client.request({ method: "events/poll", params }, Events)).cursor ?? "", /^match_/)
    }
    const listed = await runInProcess(["rules", "list"], { EARSHOT_DATA_DIR: folder })
    assert.match(listed.stdout, /Of the second/)
    await second.client.close()
    await holder.client.close()
  })

  for (const [era, options] of ERAS.slice(0, sized(1, 2))) {
    it(`lists, polls and streams events of a remote server, without webhooks, for the ${era} client`, async () => {
      const { client } = await connect(transport({ EARSHOT_URL: server.url, EARSHOT_API_KEY: KEY }), options)
      const target = { ...server, key: KEY }
      const rule_id = String((await post(target, "/api.CreateRule", draft(`kelp${era}`, ["x"]))).body["rule_id"])
      const publish = (count: number) => post(target, "/local/events", xPost(`${era}${count}`, `Some kelp${era}`))
      const ask = (method: string, params: object, signal?: AbortSignal) =>
        client.request({ method, params: { ...params } }, Events, { timeout: 60_000, ...(signal && { signal }) })
      const wanted = { name: "match.created", arguments: { rule_id } }

      const { events: types = [] } = await ask("events/list", {})
      assert.deepStrictEqual(
        types.map(({ name, delivery }) => [name, delivery]),
        ["match.created", "match.redacted", "coverage.gap"].map((name) => [name, ["poll", "push"]])
      )
      const delivery = { mode: "webhook", url: "https://client.example/", secret: `whsec_${"A".repeat(43)}=` }
      const refused = await ask("events/subscribe", { ...wanted, delivery }).catch((error: unknown) => error)
      assert.deepInclude(
        { ...(refused as object) },
        { code: -32_014, data: { feature: "deliveryMode", value: "webhook" } }
      )

      const { cursor } = await ask("events/poll", { ...wanted, cursor: null })
      const waiting = ask("events/poll", { ...wanted, cursor, timeoutMs: 20_000 })
      await publish(1)
      const polled = await waiting
      assert.deepInclude(polled.events?.[0]?.["data"], { rule_id, platform: "x" })
      assert.match(JSON.stringify(polled.events), /begin untrusted content/)

      const told: Array<string> = []
      for (const what of ["active", "event"]) {
        const handle = (params: z.infer<typeof Streamed>) => void told.push(`${what} ${params.eventId ?? ""}`)
        client.setNotificationHandler(`notifications/events/${what}`, { params: Streamed }, handle)
      }
      const abort = new AbortController()
      const streaming = ask("events/stream", { ...wanted, cursor }, abort.signal).catch(String)
      await eventually(() => assert.deepStrictEqual(told, ["active ", `event ${polled.events?.[0]?.["eventId"]}`]))
      await publish(2)
      await eventually(() => assert.lengthOf(told, 3))
      abort.abort()
      await streaming
      await eventually(async () => {
        const limits = [...((await post(target, "/account")).body["limits"] ?? [])]
        assert.strictEqual(Number(limits.find((one) => String(one["name"]) === "streams")?.["used"]), 0)
      })
      await client.close()
    })
  }

  it("answers initialize and lists the tools before its store is ready, and calls wait for it", async () => {
    const blocked = await mkdtemp(join(tmpdir(), "earshot-test-"))
    // A Postgres that accepts connections and says nothing.
    const silent = createSocketServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const database = `postgres://a:b@127.0.0.1:${(silent.address() as AddressInfo).port}/c`
    const agent = await connect(transport({ EARSHOT_DATA_DIR: blocked, DATABASE_URL: database }))
    assert.include(
      (await agent.client.listTools()).tools.map(({ name }) => name),
      "list_rules"
    )
    const unanswered = await Promise.race([
      agent.call("list_rules").catch(() => "ended"),
      new Promise((resolve) => setTimeout(resolve, 500, "waiting"))
    ])
    assert.strictEqual(unanswered, "waiting")
    await agent.client.close()
    silent.close()
    await rm(blocked, { recursive: true, force: true })
  })

  it("tools fail with advice when the remote server is unreachable or rejects the key", async () => {
    for (const [settings, says] of [
      [
        { EARSHOT_URL: "http://127.0.0.1:9", EARSHOT_API_KEY: KEY },
        /^unavailable: Cannot reach Earshot[\s\S]*call again/
      ],
      [
        { EARSHOT_URL: server.url, EARSHOT_API_KEY: "unknown-key-of-nobody" },
        /^unauthenticated: [\s\S]*EARSHOT_API_KEY/
      ]
    ] as const) {
      const agent = await connect(transport(settings))
      const { isError, text } = await agent.call("list_rules")
      assert.isTrue(isError)
      assert.match(text, says)
      await agent.client.close()
    }
  })

  it("on a remote server, rejects wrong arguments, and creates one rule for one idempotency key", async () => {
    const agent = await connect(transport({ EARSHOT_URL: server.url, EARSHOT_API_KEY: KEY }))
    assert.match(
      (await agent.call("list_rules", { all: true })).text,
      /"all": Is not a known field: the fields are [\w, ]*query/
    )
    assert.match(
      (await agent.call("list_matches", { limit: "5" })).text,
      /limit: Expected a whole number from 1 to 500, got "5"/
    )
    const rule = { name: "Once", intent: "One rule", platforms: ["x"], overrides: { x: "once" } }
    const create = (name: string, idempotency_key: string) =>
      agent.call("create_rule", { ...rule, name, idempotency_key })
    const [first, second] = [await create("Once", "key"), await create("Once", "key")]
    assert.isFalse(first.isError, first.text)
    assert.deepStrictEqual<unknown>(second.structured, first.structured)
    assert.match((await create("Other", "key")).text, /was used before with another request/)
    assert.match((await create("Once", "")).text, /Expected 1 to 255 printable ASCII characters/)
    await agent.call("delete_rule", { rule_id: first.structured["rule_id"] })
    await agent.client.close()
  })

  it("--url without a key fails at the start", async () => {
    const { code, stdout, stderr } = await runInProcess(["mcp", "--url", server.url])
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.match(stderr, /set EARSHOT_API_KEY/)
  })

  it("writes only the protocol for any input, and ends with its input", async () => {
    const { stdin, ended, printed } = startCommand("node", ["mcp"], {
      EARSHOT_URL: server.url,
      EARSHOT_API_KEY: KEY,
      LOG_LEVEL: "trace"
    })
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
    }
    const batch = JSON.stringify([{ ...initialize, id: 7 }])
    stdin.write(`not JSON\n${batch}\n{"id":8,"method":"ping"}\n5\n\n${JSON.stringify(initialize)}\n`)
    await printed(/"id":1/)
    // Still waiting when the input ends.
    stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "wait_for_matches", arguments: { timeout_seconds: 55 } } })}\n`
    )
    stdin.end()
    const { code, stdout, stderr } = await ended
    assert.strictEqual(code, 0)
    assert.match(stderr, /Cannot handle an MCP message: Expected one JSON message per line, not .{1,2}not JSON/)
    assert.notMatch(stderr, /invalid_union|ZodError/)
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly jsonrpc: string; readonly error?: unknown })
    for (const answer of answers) assert.deepInclude(answer, { jsonrpc: "2.0" })
    const refusal = (id: number | null, code: number, message: string) => ({
      jsonrpc: "2.0",
      id,
      error: { code, message }
    })
    assert.deepStrictEqual<unknown>(
      answers.filter(({ error }) => error !== undefined),
      [
        refusal(null, -32_700, 'Expected one JSON message per line, not "not JSON"'),
        refusal(null, -32_600, "Expected one JSON message per line, not a batch: send each message in its own line"),
        refusal(8, -32_600, `Expected a message of JSON-RPC 2.0, not ${JSON.stringify('{"id":8,"method":"ping"}')}`),
        refusal(null, -32_600, 'Expected a message of JSON-RPC 2.0, not "5"')
      ]
    )
    assert.match(stdout, /"protocolVersion":"2025-06-18"/)
  })

  it("exits with 0 on SIGTERM, with the local store", async () => {
    const { stdin, ended, signal, printed } = startCommand("node", ["mcp"], { EARSHOT_DATA_DIR: folder })
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`)
    await printed(/"id":1/)
    signal("SIGTERM")
    assert.strictEqual((await ended).code, 0)
  })
})

describe("MCP Inspector", () => {
  it("lists every tool and calls them over HTTP", async () => {
    const inspect = inspector([`${server.url}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${KEY}`])
    const use = (tool: string, ...args: ReadonlyArray<string>) =>
      inspect("--method", "tools/call", "--tool-name", tool, ...args.flatMap((arg) => ["--tool-arg", arg]))
    const { tools } = await inspect("--method", "tools/list")
    const overrides = 'overrides={"firehose":"quasar"}'
    const created = await use("create_rule", "name=Quasars", "intent=Hear of them", 'platforms=["firehose"]', overrides)
    const rule = `rule_id=${created.structuredContent?.["rule_id"]}`
    const called: Record<string, Inspected> = {
      create_rule: created,
      ...(isLong
        ? {
            platform_syntax: await use("platform_syntax", 'platforms=["x"]'),
            check_rule: await use("check_rule", overrides),
            list_rules: await use("list_rules"),
            list_matches: await use("list_matches", "limit=1"),
            wait_for_matches: await use("wait_for_matches", rule, "timeout_seconds=1"),
            delete_rule: await use("delete_rule", rule)
          }
        : {})
    }
    const names = tools?.map(({ name }) => name) ?? []
    if (isLong) assert.sameMembers(names, Object.keys(called))
    else assert.includeMembers(names, Object.keys(called))
    for (const [tool, answer] of Object.entries(called)) {
      assert.isDefined(answer.structuredContent, `${tool}: ${JSON.stringify(answer)}`)
    }
    if (isLong) assert.isTrue((await use("delete_rule", rule)).isError)
  })

  it("lists every tool over standard input and output", async () => {
    const { tools } = await inspector(["node", join(ROOT, "dist/main.js"), "mcp"])("--method", "tools/list")
    assert.lengthOf(tools ?? [], toolbox(builtIn).tools.length)
  })
})

describe("MCP conformance suite", () => {
  // Each starts Deno.
  for (const scenario of sized(["tools-list"], SCENARIOS)) {
    it(`passes ${scenario}`, async () => {
      const proxy = await keyProxy(server)
      const { code, output } = await conformance("server", "--url", `${proxy.url}/mcp`, "--scenario", scenario)
      proxy.close()
      assert.strictEqual(code, 0, output)
      assert.match(output, /Passed: ([1-9]\d*)\/\1, 0 failed/, output)
    })
  }

  it.runIf(isLong)("has no other scenario that applies", async () => {
    const { output } = await conformance("list", "--server")
    const listed = [...output.matchAll(/^ +- ([\w-]+)/gm)].map(([, name = ""]) => name)
    const others = listed.filter((name) => !SCENARIOS.includes(name))
    const reasons = others.map((name) => [name, EXCLUDED.find(([names]) => names.test(name))?.[1]] as const)
    console.info(reasons.map(([name, reason]) => `Excluded: ${name}, ${reason}`).join("\n"))
    assert.includeMembers(listed, [...SCENARIOS])
    assert.deepStrictEqual(
      reasons.filter(([, reason]) => reason === undefined),
      []
    )
  })
})

// ---- helpers ----

const Events = z.looseObject({
  events: z.array(z.looseObject({})).optional(),
  cursor: z.string().optional()
})

const Streamed = z.looseObject({ eventId: z.string().optional() })

const NASA = { name: "NASA", intent: "Hear of NASA", platforms: ["x"], overrides: { x: "nasa" } }

const transport = (settings: Readonly<Record<string, string>>) =>
  new StdioClientTransport({
    command: "node",
    args: [join(ROOT, "dist/main.js"), "mcp"],
    // Settings of the developer must not leak in.
    env: { PATH: process.env["PATH"] ?? "", EARSHOT_DATA_DIR: folder, EARSHOT_DEMO_FEED: "off", ...settings },
    stderr: "ignore"
  })

interface Inspected {
  readonly tools?: ReadonlyArray<{ readonly name: string }>
  readonly isError?: boolean
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

const inspector =
  (target: ReadonlyArray<string>) =>
  async (...args: ReadonlyArray<string>): Promise<Inspected> => {
    // It finds its own version only from this folder.
    const cwd = join(ROOT, "node_modules/@modelcontextprotocol/inspector-cli/build")
    const env = { EARSHOT_URL: server.url, EARSHOT_API_KEY: KEY }
    const { code, output } = await run("node", ["index.js", ...target, ...args], { cwd, env })
    assert.strictEqual(code, 0, output)
    return JSON.parse(output) as Inspected
  }

/** On Deno, because it does not run on Node 20. It writes its results to the temporary folder. */
const conformance = (...args: ReadonlyArray<string>) => {
  const suite = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
  return run(join(ROOT, "node_modules/.bin/deno"), ["run", "-A", suite, ...args], { cwd: folder, env: {} })
}

const run = (
  command: string,
  args: ReadonlyArray<string>,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
): Promise<{ readonly code: number | null; readonly output: string }> =>
  new Promise((resolve, reject) => {
    const home = { PATH: process.env["PATH"], HOME: process.env["HOME"], NO_COLOR: "1" }
    const child = spawn(command, args, { cwd, env: { ...home, ...env }, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text
      })
    }
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, output }))
  })

/** A proxy that adds the key, which the suite cannot send. */
const keyProxy = async ({ host, port }: Served): Promise<{ readonly url: string; readonly close: () => void }> => {
  const proxy = createServer((incoming, answer) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${KEY}` }
    const outgoing = request({ host, port, path: incoming.url, method: incoming.method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers)
      given.pipe(answer)
    })
    incoming.pipe(outgoing)
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://localhost:${(proxy.address() as AddressInfo).port}`,
    close: () => {
      proxy.close()
      proxy.closeAllConnections()
    }
  }
}
