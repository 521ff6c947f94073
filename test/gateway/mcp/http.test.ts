/** `/mcp` with the official client over real sockets: a whole session, authentication, and invalid calls. */
import { assert, describe, it } from "@effect/vitest"
import { type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { Matches } from "../../../core/matches/Matches.ts"
import { until } from "../../eventually.ts"
import { answerOf, assertError, draft, firehoseUpdate, call as post, type Target, xPost } from "../client.ts"
import { serve, service, X_LIMIT } from "../inProcess.ts"
import { chunk, exchange, open, requestText } from "../raw.ts"
import { type Agent, connect, MODERN, session } from "./session.ts"

describe("/mcp", () => {
  for (const [era, options] of [
    ["2025", {}],
    ["2026", MODERN]
  ] as const) {
    served(`serves a whole session with protocol ${era}`, async ({ ann }) => {
      const agent = await agentOf(ann, options)
      assert.match(agent.client.getNegotiatedProtocolVersion() ?? "", new RegExp(`^${era}-`))
      assert.match(agent.client.getInstructions() ?? "", /platform_syntax[\s\S]*never follow instructions/)
      await session(agent, {
        word: "volcano",
        publish: () => post(ann, "/local/events", xPost("1", "A volcano"))
      })
    })
  }

  served("treats ids of another account like unknown ids in every tool", async ({ ann, bob }) => {
    const [owner, other] = [await agentOf(ann), await agentOf(bob)]
    const foreign = String((await owner.call("create_rule", draft("secret"))).structured["rule_id"])
    await post(ann, "/local/events", firehoseUpdate("http://a", "secret"))
    const unknown = foreign.slice(0, -4) + (foreign.endsWith("0000") ? "1111" : "0000")
    const { tools } = await other.client.listTools()
    const withRuleId = tools.filter(({ inputSchema }) => "rule_id" in (inputSchema["properties"] ?? {}))
    assert.isAtLeast(withRuleId.length, 3)
    for (const { name } of withRuleId) {
      const more = ["shadow_rule", "compare_filter"].includes(name) ? { overrides: { firehose: "word" } } : {}
      const [toForeign, toUnknown] = [
        await other.call(name, { rule_id: foreign, ...more }),
        await other.call(name, { rule_id: unknown, ...more })
      ]
      assert.match(toForeign.text, /^not_found: [\s\S]*list_rules/)
      assert.strictEqual(
        JSON.stringify(toForeign).replaceAll(foreign, "ID"),
        JSON.stringify(toUnknown).replaceAll(unknown, "ID"),
        name
      )
    }
    assert.deepStrictEqual((await other.call("list_rules")).structured as unknown, { rules: [] })
    assert.deepStrictEqual((await other.call("list_matches")).structured["matches"] as unknown, [])
    assert.lengthOf([...((await owner.call("list_matches", { rule_id: foreign })).structured["matches"] ?? [])], 1)
  })

  served("reports the path, the problem and the next step for each invalid argument", async ({ ann }) => {
    const { call } = await agentOf(ann)
    const good = draft("word", ["x"])
    const wrong: ReadonlyArray<readonly [tool: string, args: Record<string, unknown>, says: RegExp]> = [
      ["list_rules", { all: true }, /"all": Is not a known field[\s\S]*Next: fix the arguments/],
      ["list_matches", { limit: "5" }, /limit: Expected a whole number from 1 to 500, got "5"/],
      ["list_matches", { limits: 5 }, /did you mean "limit"\?/],
      ["list_matches", { cursor: 7 }, /cursor: /],
      ["list_matches", { rule_id: null }, /rule_id: Expected a string, got null/],
      ["wait_for_matches", { timeout_seconds: 600 }, /timeout_seconds: Expected a whole number from 1 to 55/],
      ["wait_for_matches", { cursor: "newest" }, /cursor: Expected the cursor of an earlier response/],
      ["wait_for_matches", { at_least: 60 }, /at_least: Expected a whole number from 1 to 50/],
      ["list_rules", { sort: "name" }, /sort: Expected one of "created", "last_match", "matches_day"/],
      ["list_rules", { activity: true }, /"activity": Is not a known field/],
      ["match_histogram", { unit: "week" }, /unit: /],
      ["delete_rules", { rule_ids: [] }, /rule_ids: Expected 1 to 100 ids of rules, got 0/],
      ["platform_syntax", { detail: "all" }, /detail: Expected one of "short", "full"/],
      ["platform_syntax", { platforms: ["mastodon"] }, /platforms\.0: Expected one of "x", "firehose"/],
      ["platform_syntax", { platforms: "x" }, /platforms: Expected an array, got a string/],
      ["delete_rule", {}, /rule_id: Is missing/],
      ["check_rule", {}, /overrides: Is missing[\s\S]*Next: fix the arguments/],
      ["check_rule", { overrides: { x: 1 } }, /overrides\.x: Expected a string/],
      ["create_rule", { ...good, name: 7 }, /name: Expected a string, got a number/],
      ["create_rule", { ...good, overrides: {} }, /overrides\.x: Is missing[\s\S]*Next: fix the arguments/],
      [
        "create_rule",
        { ...good, overrides: { x: "word lnag:en" } },
        /overrides\.x: Unknown operator[\s\S]*characters 6 to 12[\s\S]*fixed text: "word lang:en"[\s\S]*Next: fix the filter \(check_rule/
      ],
      [
        "create_rule",
        { ...good, platforms: ["x", "firehose"] },
        /overrides\.firehose: Is missing[\s\S]*suggestion \(exact\): "word"/
      ]
    ]
    for (const [tool, args, says] of wrong) {
      const { isError, text, blocks, structured } = await call(tool, args)
      assert.isTrue(isError, tool)
      assert.match(text, says)
      assertError({ status: 400, body: JSON.parse(blocks[1] ?? "") }, 400, "invalid_argument")
      assert.isUndefined(structured, "clients check structured content against the output schema")
    }
    assert.deepStrictEqual((await call("list_rules")).structured as unknown, { rules: [] })
  })

  served("names what a translation loses, with an example", async ({ ann }) => {
    const { call } = await agentOf(ann)
    const { text } = await call("check_rule", { overrides: { x: "storm from:nasa #alert" } })
    assert.include(
      text,
      '- lost: "from:nasa"; Firehose has no accounts; left out, which makes the rule wider; the translation also matches: text "storm, #alert", username "someone"'
    )
    assert.match(text, /- wider: "#alert"; [^\n]*; the translation also matches: url [^\n]*text "storm, alert"/)
    const missing = await call("create_rule", { ...draft("storm @nasa", ["x"]), platforms: ["x", "firehose"] })
    assert.match(missing.text, /suggestion \(wider\): "storm"; the suggestion differs: Firehose has no accounts/)
  })

  served("suggests a next step when a limit is reached", async ({ ann }) => {
    const { call } = await agentOf(ann)
    for (let i = 0; i < X_LIMIT; i++) assert.isFalse((await call("create_rule", draft(`w${i}`, ["x"]))).isError)
    const { isError, text } = await call("create_rule", draft("more", ["x"]))
    assert.isTrue(isError)
    assert.match(text, /^resource_exhausted: [\s\S]*delete_rule[\s\S]*"limit":2,"used":2/)
  })

  served("refuses a missing or wrong key before it reads the body", async ({ ann }) => {
    const { status, headers, body } = await post(ann, "/mcp", {}, { headers: { authorization: "Bearer no" } })
    assertError({ status, body }, 401, "unauthenticated", /^The API key is not known/)
    assert.strictEqual(headers.get("www-authenticate"), "Bearer")
    const connection = await open(ann)
    const endless = { "content-type": "application/json", "transfer-encoding": "chunked" }
    connection.write(requestText("POST", "/mcp", endless))
    connection.write(chunk('{"jsonrpc":'))
    assert.strictEqual((await connection.answer())?.status, 401)
    connection.destroy()
    await connect(transportOf({ ...ann, key: "unknown-key-of-nobody" })).then(
      () => assert.fail("connected with an unknown key"),
      (error: unknown) => assert.match(String(error), /The API key is not known/)
    )
  })

  served("accepts POST only", async ({ ann }) => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await post(ann, "/mcp", undefined, { method })
      assertError(answer, 405, "unimplemented")
      assert.strictEqual(answer.headers.get("allow"), "POST")
    }
    assertError(await post(ann, "/mcp/", {}), 404, "not_found")
    assertError(await post(ann, "/mcpx", {}), 404, "not_found")
  })

  served("refuses foreign origins and accepts local ones", async ({ ann }) => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
    const from = (origin: string) => post(ann, "/mcp", ping, { headers: { ...headersOf(ann), origin } })
    for (const origin of ["http://evil.example", "https://localhost.evil.example", "null", "file://", "nonsense"]) {
      assertError(await from(origin), 403, "permission_denied", /^Origin ".*" is not allowed/)
    }
    for (const origin of ["http://localhost:6274", "http://127.0.0.1", "http://[::1]:3000"]) {
      assert.strictEqual((await from(origin)).status, 200, origin)
    }
  })

  served("refuses foreign hosts on loopback and accepts local ones with any port", async ({ ann }) => {
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
    const to = async (host: string) => {
      const answer = await exchange(ann, requestText("POST", "/mcp", { ...headersOf(ann), host }, ping))
      return { status: answer?.status ?? 0, body: JSON.parse(answer?.body ?? "{}") as unknown }
    }
    for (const host of [
      "evil.example",
      "localhost.evil.example:8787",
      "127.0.0.1.nip.io",
      "169.254.169.254",
      "[::2]"
    ]) {
      assertError(await to(host), 403, "permission_denied", /^Host ".*" is not allowed: call this server as localhost/)
    }
    for (const host of ["localhost", "LOCALHOST:1", `127.0.0.1:${ann.port}`, "[::1]:3000"]) {
      assert.strictEqual((await to(host)).status, 200, host)
    }
  })

  served("responds with an error to invalid messages and keeps serving", async ({ ann }) => {
    const send = async (body: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${ann.url}/mcp`, { method: "POST", headers: { ...headersOf(ann), ...headers }, body })
      await answer.text()
      return answer.status
    }
    assert.strictEqual(await send("{"), 400)
    assert.strictEqual(await send("[]"), 400)
    assert.strictEqual(await send("null"), 400)
    assert.strictEqual(await send("{}", { "content-type": "text/plain" }), 415)
    assert.strictEqual(await send(" ".repeat(1_048_577)), 413)
    for (const name of ["nope", "constructor", "__proto__", "toString"]) {
      const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } }
      assert.strictEqual(await send(JSON.stringify(request)), 200, name)
    }
    assert.isFalse((await (await agentOf(ann)).call("list_rules")).isError)
  })

  served("names the nearest tool for an unknown one, or all tools", async ({ ann }) => {
    for (const options of [{}, MODERN]) {
      const { client } = await agentOf(ann, options)
      const messageOf = (name: string) =>
        client.callTool({ name, arguments: {} }).then(
          () => "called",
          (error: Error) => error.message
        )
      assert.match(await messageOf("list_rule"), /There is no tool "list_rule": did you mean list_rules\?$/)
      assert.match(await messageOf("nope"), /There is no tool "nope": expected one of platform_syntax, check_rule, /)
    }
  })

  for (const [era, options, hasProgress] of [
    ["2025", {}, false],
    ["2025", {}, true],
    ["2026", MODERN, false],
    ["2026", MODERN, true]
  ] as const) {
    const kind = `${era}${hasProgress ? " that gets progress" : ""}`
    served(`ends a wait when a client of protocol ${kind} disconnects`, async ({ ann, waiting }) => {
      const { client } = await agentOf(ann, options)
      const aborting = new AbortController()
      let reports = 0
      const waited = client
        .callTool(
          { name: "wait_for_matches", arguments: { timeout_seconds: 55 } },
          { signal: aborting.signal, ...(hasProgress && { onprogress: () => void reports++ }) }
        )
        .catch(() => "aborted")
      await until("the call waits", () => waiting() === 1 && (reports > 0 || !hasProgress))
      aborting.abort()
      await client.close()
      assert.strictEqual(await waited, "aborted")
      await until("no call waits", () => waiting() === 0)
    })
  }

  served("keeps concurrent calls of two accounts apart", async ({ ann, bob }) => {
    const agents = [await agentOf(ann), await agentOf(bob)]
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const created = await agents[i % 2]?.call("create_rule", { ...draft(`many${i}`), name: `rule ${i}` })
        return created?.isError
      })
    )
    assert.notInclude(answers, true)
    for (const [i, agent] of agents.entries()) {
      const names = [...((await agent.call("list_rules")).structured["rules"] ?? [])].map((rule) =>
        String(rule["name"])
      )
      assert.lengthOf(names, 20)
      for (const name of names) assert.strictEqual(Number(name.slice(5)) % 2, i)
    }
  })

  served("keeps no session: the key of the request decides the account", async ({ ann, bob }) => {
    const agent = await agentOf(ann)
    await agent.call("create_rule", draft("kept"))
    const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_rules", arguments: {} } }
    const headers = { ...headersOf(bob), "mcp-session-id": "any" }
    const answer = await answerOf(
      await fetch(`${bob.url}/mcp`, { method: "POST", headers, body: JSON.stringify(request) })
    )
    assert.deepStrictEqual(answer.body["result"]?.["structuredContent"] as unknown, { rules: [] })
  })
})

// ---- helpers ----

interface Context {
  readonly ann: Target
  readonly bob: Target
  /** The number of running waits. */
  readonly waiting: () => number
}

function served(title: string, test: (context: Context) => Promise<void>): void {
  it.scopedLive(title, () =>
    Effect.gen(function* () {
      const matches = yield* Matches
      let waiting = 0
      const count = (change: number) =>
        Effect.sync(() => {
          waiting += change
        })
      const as = yield* Effect.provideService(serve, Matches, {
        ...matches,
        wait: (account, query) =>
          Effect.acquireUseRelease(
            count(1),
            () => matches.wait(account, query),
            () => count(-1)
          )
      })
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      yield* Effect.promise(() => test({ ann, bob, waiting: () => waiting }))
    }).pipe(Effect.provide(service))
  )
}

const headersOf = ({ key }: Target) => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream"
})

const transportOf = (target: Target) =>
  new StreamableHTTPClientTransport(new URL(`${target.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${target.key}` } }
  })

const agentOf = (target: Target, options?: ClientOptions): Promise<Agent> => connect(transportOf(target), options)
