/** The command line end to end: help, one-line errors, and a clean shutdown. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { settings } from "../../app/settings.ts"
import { chunk, LAST_CHUNK, open, requestText } from "../gateway/raw.ts"
import { sized } from "../long.ts"
import {
  type Ended,
  KEY,
  ROOT,
  RUNTIMES,
  runCommand,
  runInProcess,
  START_MILLIS,
  serveInProcess,
  startService
} from "../program.ts"

/** Without the info logs of a new store. */
const node = (args: ReadonlyArray<string>, settings?: Readonly<Record<string, string>>) =>
  runInProcess(args, { LOG_LEVEL: "warning", ...settings })

/** One readable line without a stack trace, and the exit code of a failure. */
const assertPlain = ({ code, stdout, stderr }: Ended, message: RegExp, expected = 1) => {
  assert.strictEqual(code, expected, stderr)
  assert.match(stderr, message)
  assert.lengthOf(stderr.trim().split("\n"), 1, stderr)
  assert.notMatch(stderr, /\bat .*:\d+|node:internal|Error:|FiberFailure/)
  assert.strictEqual(stdout, "")
}

const COMMANDS = [
  "serve",
  "rules create",
  "rules list",
  "rules delete",
  "rules compare-filter",
  "matches",
  "matches show",
  "matches redact",
  "webhooks create",
  "webhooks list",
  "webhooks delete",
  "webhooks test",
  "webhooks rotate-secret",
  "webhooks enable",
  "webhooks attempts",
  "webhooks replay",
  "explain",
  "check",
  "syntax",
  "platforms",
  "keys create",
  "keys list",
  "keys revoke",
  "replay",
  "dead-letters",
  "simulate",
  "mcp"
]

describe("earshot", { timeout: 2 * START_MILLIS }, () => {
  const folder = mkdtempSync(join(tmpdir(), "earshot-cli-"))
  const store = { EARSHOT_DATA_DIR: join(folder, "store") }
  beforeAll(async () => void (await node(["keys", "create"], store)), START_MILLIS)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  for (const runtime of RUNTIMES) {
    it(`--help lists every command with a summary, on ${runtime}`, async () => {
      const { code, stdout } = await runCommand(runtime, ["--help"])
      assert.strictEqual(code, 0)
      for (const command of COMMANDS) assert.match(stdout, new RegExp(`^  ${command} +[A-Z]\\w+ `, "m"))
    })
  }

  for (const command of COMMANDS) {
    it(`${command} --help describes the command and every option with its default`, async () => {
      const { code, stdout } = await node([...command.split(" "), "--help"])
      assert.strictEqual(code, 0)
      assert.match(stdout, new RegExp(`^[A-Z][^]*\\n\\nUsage\\n  earshot ${command}\\b`))
      const usage = /\nUsage\n(.*)\n/.exec(stdout)?.[1] ?? ""
      const entries = [...stdout.matchAll(/^ {2}((?:-\w, )?--[\w-]+)(.*)\n((?: {6}.*\n)*)/gm)]
      assert.strictEqual(entries.length, stdout.match(/^ {2}-/gm)?.length ?? 0)
      for (const [, name = "", value = "", about = ""] of entries) {
        assert.isAbove(about.trim().length, 10, name)
        const isRequired = usage.includes(name.split(" ").at(-1) ?? "")
        if (value !== "" && !isRequired) assert.match(about.replace(/\s+/g, " "), /\(default: .*\)/, name)
      }
    })
  }

  it("--completions bash completes commands, options and values", async () => {
    const { stdout: script } = await node(["--completions", "bash"])
    const complete = (...words: ReadonlyArray<string>) => {
      const line = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _earshot; echo "\${COMPREPLY[*]}"`
      return execFileSync("bash", ["-c", line], { encoding: "utf8" }).trim()
    }
    assert.strictEqual(complete("earshot", "ru"), "rules")
    assert.strictEqual(
      complete("earshot", "rules", ""),
      "compare compare-filter create delete drop-shadow list pause promote reapply resume shadow show update versions --help"
    )
    assert.include(complete("earshot", "rules", "create", "--"), "--x --firehose")
    assert.strictEqual(complete("earshot", "dead-letters", "--l"), "--limit")
    assert.strictEqual(complete("earshot", "matches", "--json", "--platform", ""), "x firehose")
    assert.strictEqual(complete("earshot", "check", "-p", "f"), "firehose")
    assert.include(complete("earshot", "syntax", ""), "x firehose")
    assert.strictEqual(complete("earshot", "matches", "--rule", ""), "")
    assert.strictEqual(complete("earshot", "--completions", "f"), "fish")
    for (const command of COMMANDS) {
      assert.include(complete("earshot", ...command.split(" "), "--h"), "--help", command)
    }
  })

  it("--completions prints scripts for zsh, fish and sh", async () => {
    const [zsh, fish, sh] = await Promise.all(
      ["zsh", "fish", "sh"].map(async (shell) => (await node(["--completions", shell])).stdout)
    )
    assert.match(zsh ?? "", /^#compdef earshot\n/)
    assert.match(
      fish ?? "",
      /^complete -c earshot -n '__fish_seen_subcommand_from matches' -l platform -x -a 'x firehose' -d '/m
    )
    assert.match(sh ?? "", /^complete -o default -F _earshot earshot$/m)
    assert.strictEqual((await node(["--completions", "tcsh"])).code, 2)
  })

  it("--version and -v print the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }
    const answers = [
      ...(await Promise.all(RUNTIMES.map((runtime) => runCommand(runtime, ["--version"])))),
      await runCommand("node", ["-v"]),
      await node(["--version"]),
      await node(["-v"])
    ]
    for (const { code, stdout } of answers) assert.deepStrictEqual([code, plain(stdout).trim()], [0, version])
  })

  it("serve --help lists the server's settings, and every command with --url the client's", async () => {
    const named = async (command: string) => {
      const { stdout } = await node([...command.split(" "), "--help"])
      const [, listed = ""] = stdout.split("Settings\n")
      return { stdout, names: [...listed.matchAll(/^ {2}([A-Z_]+)$/gm)].map(([, name]) => name) }
    }
    const namesIn = (isClient: boolean) =>
      settings.filter(({ group }) => (group === "client") === isClient).map(({ name }) => name)
    const serve = await named("serve")
    assert.deepStrictEqual(serve.names, namesIn(false))
    assert.strictEqual(serve.names[0], "PORT")
    assert.include(serve.stdout, "      Port to listen on; 0 picks a free port (default: 8787)\n")
    for (const command of ["rules create", "matches", "webhooks list", "keys list", "platforms", "replay", "mcp"]) {
      assert.deepStrictEqual((await named(command)).names, namesIn(true), command)
    }
    assert.deepStrictEqual((await named("syntax")).names, [])
  })

  it("rejects unknown commands, options and arguments, and missing options", async () => {
    assertPlain(await node(["frobnicate"]), /no command "earshot frobnicate": expected one of serve, .*keys/, 2)
    assertPlain(await node(["serve", "--frobnicate"]), /"earshot serve" has no option --frobnicate/, 2)
    assertPlain(await node(["serve", "extra"]), /Unexpected argument: "extra"\n/, 2)
    assertPlain(await node(["check", "-p", "x", "nasa", "moon"]), /"moon": put the filter in quotes\n/, 2)
    assertPlain(
      await node(["rules", "create", "--intent", "a", "--name", "Big", "quake"]),
      /"quake": put a value that has spaces in/,
      2
    )
    assertPlain(
      await node(["check", "nasa"]),
      /"earshot check" needs --platform: add --platform x or --platform firehose/,
      2
    )
    assertPlain(
      await node(["keys", "create", "--frobnicate", "x"]),
      /"earshot keys create" has no option --frobnicate/,
      2
    )
  })

  it("names the setting of a platform that is off", async () => {
    const created = ["rules", "create", "--name", "a", "--intent", "b", "--bluesky", "nasa"]
    assertPlain(
      await node(created),
      /has no option --bluesky: bluesky is off: set EARSHOT_BLUESKY=on for commands, too/,
      2
    )
    assertPlain(
      await node(["matches", "--platform", "wikimedia"]),
      /; wikimedia is off: set EARSHOT_WIKIMEDIA_CONTACT=/,
      2
    )
    assertPlain(await node(["feeds", "list"]), /no command "earshot feeds": feeds is off: set EARSHOT_FEEDS=on/, 2)
    assert.notInclude((await node(["feeds", "list"], { EARSHOT_FEEDS: "on" })).stderr, "is off")
  })

  it("keys revoke fails for an unknown key", async () => {
    assertPlain(await node(["keys", "revoke", "nonsense"], store), /Cannot find key "nonsense"/)
    assertPlain(await node(["keys", "revoke", `key_${"0".repeat(26)}`], store), /Cannot find key "key_0{26}"/)
  })

  for (const runtime of RUNTIMES) {
    it(`keys create prints only the key on standard output, on ${runtime}`, async () => {
      const { code, stdout } = await runCommand(runtime, ["keys", "create", "--account", "team", "--name", "laptop"])
      assert.strictEqual(code, 0)
      assert.match(stdout, /^es_[0-9A-Za-z]{38}\n$/)
    })
  }

  it("keys create says that it creates a store, and serve says that the default account has no key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "earshot-test-"))
    const local = { EARSHOT_DATA_DIR: folder }
    const first = await node(["keys", "create", "--account", "team"], local)
    assert.include(first.stderr, `Created a new store in "${folder}", which had none\n`)
    const second = await node(["keys", "create", "--account", "team"], local)
    assert.notInclude(second.stderr, "Created a new store")

    const withoutKey = { ...local, EARSHOT_BOOTSTRAP_KEY: undefined }
    const service = await serveInProcess(withoutKey)
    await service.printed(/\nThe account "default" has no active API key: create one with earshot keys create\n/)
    await node(["keys", "create"], local)
    await service.stop()
    const again = await serveInProcess(withoutKey)
    await again.printed(/Demo feed: off\n/)
    assert.notInclude((await again.stop()).stdout, "no active API key")
    rmSync(folder, { recursive: true, force: true })
  })

  it("keys create rejects an account without a name", async () => {
    const { code, stdout, stderr } = await node(["keys", "create", "--account", "  "])
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.include(stderr, "Expected --account to be 1 to 200 characters")
  })

  it("keys --json prints keys and errors as JSON", async () => {
    const created = await node(["keys", "create", "--json"])
    assert.strictEqual(created.code, 0, created.stderr)
    assert.match(String(JSON.parse(created.stdout).key), /^es_[0-9A-Za-z]{38}$/)
    const listed = await node(["keys", "list", "--json"], store)
    assert.deepStrictEqual([listed.code, JSON.parse(listed.stdout).keys.length], [0, 1])
    const missing = await node(["keys", "revoke", "--json", "nonsense"], store)
    assert.deepStrictEqual([missing.code, missing.stdout], [1, ""])
    assert.deepStrictEqual(JSON.parse(missing.stderr), {
      code: "not_found",
      message: 'Cannot find key "nonsense"',
      details: {}
    })
  })

  it("--json also applies to usage errors", async () => {
    const { code, stdout, stderr } = await node(["keys", "list", "--json", "--frobnicate"])
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.deepInclude(JSON.parse(stderr), { code: "invalid_argument", details: {} })
  })

  it("dead-letters lists nothing in a new store, also under its former name", async () => {
    for (const command of ["dead-letters", "set-aside"]) {
      const { code, stdout, stderr } = await node([command], store)
      assert.deepStrictEqual([code, stdout, stderr], [0, "", "No dead letters\n"])
    }
    assert.notInclude((await node(["--help"])).stdout, "set-aside")
    assert.include((await node(["set-aside", "--help"])).stdout, "earshot dead-letters")
  })

  for (const args of [["keys", "list"], ["keys", "revoke", "key"], ["dead-letters"], ["accounts", "list"]]) {
    it(`${args.join(" ")} fails without a store and creates none`, async () => {
      const nowhere = join(folder, "nowhere")
      const ended = await node(args, { EARSHOT_DATA_DIR: nowhere })
      assertPlain(ended, /^earshot: Cannot open the store at ".*nowhere": there is no store. Start the service once/)
      assert.notInclude(ended.stderr, "EARSHOT_URL")
      assert.isFalse(existsSync(nowhere))
    })
  }

  it.skipIf(!existsSync("/proc/self"))("keys create fails if the folder of the store cannot be created", async () => {
    for (const runtime of RUNTIMES) {
      const local = { EARSHOT_DATA_DIR: "/proc/earshot/data" }
      const ended = await (runtime === "node"
        ? node(["keys", "create"], local)
        : runCommand(runtime, ["keys", "create"], local))
      assertPlain(ended, /^earshot: Cannot open the store at "\/proc\/earshot\/data": the folder cannot be written/)
    }
  })

  const badSettings: ReadonlyArray<readonly [name: string, value: string]> = [
    ["PORT", "abc"],
    ["PORT", "65536"],
    ["LOG_LEVEL", "loud"],
    ["LOG_FORMAT", "xml"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"],
    ["X_RULES_PER_ACCOUNT", "many"],
    ["X_RULES_PER_ACCOUNT", "-1"],
    ["EARSHOT_KEEP_DAYS", "forever"],
    ["EARSHOT_KEEP_MATCHES", "-1"],
    ["EARSHOT_DEMO_FEED", "yes"],
    ["EARSHOT_BOOTSTRAP_KEY", "short"],
    ["FIREHOSE_TAP_TOKEN", `fhm_${"0".repeat(40)}`],
    ["EARSHOT_BOOTSTRAP_KEY", "sixteen or more but with spaces"]
  ]
  for (const [name, value] of badSettings) {
    it(`serve rejects ${name}=${value} with one line`, async () => {
      const ended = await node(["serve"], { [name]: value })
      assertPlain(ended, new RegExp(`^earshot: .*${name}.*Expected`))
      if (/KEY|TOKEN/.test(name)) assert.notInclude(ended.stderr, value)
    })
  }

  for (const runtime of RUNTIMES) {
    it(`serve reports all invalid settings together, before it opens the store, on ${runtime}`, async () => {
      const { code, stdout, stderr } = await runCommand(runtime, ["serve"], {
        PORT: "abc",
        LOG_LEVEL: "loud",
        X_BASE_URL: "nowhere",
        EARSHOT_BOOTSTRAP_KEY: "short",
        EARSHOT_DATA_DIR: "/proc/earshot"
      })
      assert.deepStrictEqual([code, stdout], [1, ""])
      const lines = stderr.trim().split("\n")
      const names = lines.map((line) => /^earshot: Setting (\w+) is not valid: Expected /.exec(line)?.[1])
      assert.deepStrictEqual(names.toSorted(), ["EARSHOT_BOOTSTRAP_KEY", "LOG_LEVEL", "PORT", "X_BASE_URL"])
    })
  }

  it("serve rejects an Earshot key with a wrong checksum as bootstrap key", async () => {
    const mistyped = `es_${"0".repeat(38)}`
    const ended = await node(["serve"], { EARSHOT_BOOTSTRAP_KEY: mistyped })
    assertPlain(ended, /^earshot: Setting EARSHOT_BOOTSTRAP_KEY is not valid: It looks like an Earshot key, but /)
    assert.notInclude(ended.stderr, mistyped)
  })

  describe("when the port is in use", () => {
    const other = createServer()
    beforeAll(() => new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve)))
    afterAll(() => new Promise<void>((resolve) => void other.close(() => resolve())))

    for (const runtime of RUNTIMES) {
      it(`serve fails with one line on ${runtime}, before it creates a store`, async () => {
        const address = other.address()
        const port = typeof address === "object" && address !== null ? String(address.port) : ""
        const ended = await runCommand(runtime, ["serve"], { PORT: port, EARSHOT_BOOTSTRAP_KEY: KEY })
        assertPlain(ended, new RegExp(`^earshot: Cannot listen on 127.0.0.1:${port}: another program uses the port`))
      })
    }
  })

  describe("serve with misspelt settings, on all addresses", () => {
    let status: number
    let ended: Ended
    beforeAll(async () => {
      const running = await startService("node", {
        HOST: "0.0.0.0",
        EARSHOT_DATADIR: "/tmp",
        X_BEARER_TOKN: "a",
        FIREHOSE_BASE_UR: "b",
        EARSHOT_API_KEY: "c",
        X_FORWARDED_FOR: "d",
        PORTT: "1"
      })
      const headers = { authorization: `Bearer ${KEY}` }
      status = (await fetch(`${running.url}/api.ListRules`, { headers })).status
      ended = await running.stop()
    }, START_MILLIS)

    it("warns about the settings, and logs what it waits for when it stops", () => {
      const { code, stderr } = ended
      assert.strictEqual(code, 0)
      const warnings = [...stderr.matchAll(/There is no setting \w+: did you mean \w+\?/g)].map(([warning]) => warning)
      assert.sameMembers(warnings, [
        "There is no setting EARSHOT_DATADIR: did you mean EARSHOT_DATA_DIR?",
        "There is no setting X_BEARER_TOKN: did you mean X_BEARER_TOKEN?",
        "There is no setting FIREHOSE_BASE_UR: did you mean FIREHOSE_BASE_URL?"
      ])
      assert.match(stderr, /"level":"info","message":"Stopping: no new connections; requests in flight have 10 seconds/)
    })

    it("prints URLs that work", () => {
      assert.strictEqual(status, 200)
      assert.match(ended.stdout, /^Demo feed: off$/m)
      assert.match(ended.stdout, /^Earshot listens on all addresses, port (\d+): http:\/\/127\.0\.0\.1:\1 /)
      assert.notInclude(ended.stdout, "0.0.0.0:")
    })
  })
})

for (const runtime of RUNTIMES) {
  // "a stop", below, sends SIGTERM.
  for (const signal of sized<ReadonlyArray<NodeJS.Signals>>(["SIGINT"], ["SIGTERM", "SIGINT"])) {
    describe(`${signal} on ${runtime}`, { timeout: START_MILLIS }, () => {
      it("finishes requests in flight, refuses new connections, and exits with 0", async () => {
        const running = await startService(runtime)
        const idle = await open(running)
        idle.write(requestText("GET", "/health/live"))
        assert.strictEqual((await idle.answer())?.status, 200)

        const inFlight = await open(running)
        const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" }
        inFlight.write(requestText("POST", "/matches", { ...headers, "transfer-encoding": "chunked" }))
        inFlight.write(chunk('{"limit":'))
        // After the response to a later request, the server has started with the earlier one.
        await fetch(`${running.url}/health/live`, { headers: { connection: "close" } })

        running.signal(signal)
        await refusesConnections(running)
        inFlight.write(chunk("1}") + LAST_CHUNK)
        const answer = await inFlight.answer()
        assert.strictEqual(answer?.status, 200)
        assert.match(answer?.body ?? "", /^{"matches":\[\],"coverage":{/)

        const { code, stderr } = await running.ended
        assert.strictEqual(code, 0, stderr)
        assert.notMatch(stderr, /"level":"(error|fatal)"|\bat .*:\d+/)
        await idle.closed
      })
    })
  }

  describe(`a stop on ${runtime}`, { timeout: START_MILLIS }, () => {
    it("answers calls that wait for a match at once, while another request is in flight", async () => {
      const running = await startService(runtime)
      const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" }
      const post = (path: string, body: unknown, more: Readonly<Record<string, string>> = {}) =>
        fetch(running.url + path, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) })
      const callTool = (_meta: object) =>
        post(
          "/mcp",
          {
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: { name: "wait_for_matches", arguments: { timeout_seconds: 55 }, _meta }
          },
          { accept: "application/json, text/event-stream" }
        )
      const inFlight = await open(running)
      inFlight.write(requestText("POST", "/matches", { ...headers, "transfer-encoding": "chunked" }))
      inFlight.write(chunk('{"limit":'))
      // The headers of these streams come first.
      const progress = await callTool({ progressToken: 1 })
      const live = await fetch(`${running.url}/matches/stream`, { headers })
      const rest = post("/matches/wait", { timeout_seconds: 55 })
      const input = encodeURIComponent(JSON.stringify({ timeout_seconds: 55 }))
      const trpc = fetch(`${running.url}/trpc/matches.wait?input=${input}`, { headers })
      const tool = callTool({})
      await streamsAre(running, 5)

      const stopped = running.stop()
      const waited = await rest
      assert.deepStrictEqual([waited.status, waited.headers.get("retry-after")], [503, "1"])
      assert.deepStrictEqual(await waited.json(), {
        code: "unavailable",
        message: "The server is stopping: send the request again",
        details: {}
      })
      assert.deepStrictEqual([(await trpc).status, (await trpc).headers.get("retry-after")], [503, "1"])
      for (const answer of [await (await tool).text(), await progress.text()]) {
        assert.match(answer, /unavailable: The server is stopping.*"isError":true/)
      }
      assert.match(await live.text(), /: open/)
      // Within the ten seconds that requests in flight have.
      inFlight.write(chunk("1}") + LAST_CHUNK)
      assert.strictEqual((await inFlight.answer())?.status, 200)
      assert.strictEqual((await stopped).code, 0)
    })
  })
}

// ---- helpers ----

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character of colours
const plain = (text: string): string => text.replace(/\u001b\[[\d;]*m/g, "")

/** Waits until the account has this many streams and waits open. */
const streamsAre = async ({ url }: { readonly url: string }, count: number): Promise<void> => {
  for (;;) {
    const answer = await fetch(`${url}/account`, { headers: { authorization: `Bearer ${KEY}` } })
    const { limits } = (await answer.json()) as { readonly limits: ReadonlyArray<{ name: string; used: number }> }
    if (limits.find(({ name }) => name === "streams")?.used === count) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const refusesConnections = async (address: { readonly host: string; readonly port: number }): Promise<void> => {
  for (;;) {
    const connection = await open(address).catch(() => undefined)
    if (connection === undefined) return
    connection.destroy()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
