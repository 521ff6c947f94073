/** The command line as a user meets it: help, mistakes in one plain line, and an orderly end. */
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { chunk, LAST_CHUNK, open, requestText } from "../gateway/raw.ts"
import { type Ended, KEY, ROOT, RUNTIMES, runCommand, START_MILLIS, startService } from "../program.ts"

const node = (args: ReadonlyArray<string>, settings?: Readonly<Record<string, string>>) =>
  // The store tells of its first start at a lower level.
  runCommand("node", args, { LOG_LEVEL: "warning", ...settings })

/** One line that a person can read, and the exit code of a failure. */
const assertPlain = ({ code, stdout, stderr }: Ended, message: RegExp) => {
  assert.strictEqual(code, 1, stderr)
  assert.match(stderr, message)
  assert.lengthOf(stderr.trim().split("\n"), 1, stderr)
  assert.notMatch(stderr, /\bat .*:\d+|node:internal|Error:|FiberFailure/)
  assert.strictEqual(stdout, "")
}

describe("earshot", { timeout: 2 * START_MILLIS }, () => {
  it("--help names every command", async () => {
    const { code, stdout } = await node(["--help"])
    assert.strictEqual(code, 0)
    for (const command of ["serve", "replay", "simulate", "keys create", "keys list", "keys revoke"])
      assert.include(plain(stdout), command)
  })

  it("--version gives the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }
    const { code, stdout } = await node(["--version"])
    assert.deepStrictEqual([code, plain(stdout).trim()], [0, version])
  })

  it("the help of serve and of replay names every setting that main.ts reads", async () => {
    const main = readFileSync(join(ROOT, "main.ts"), "utf8")
    const names = [...main.matchAll(/\("([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"/g)].map((match) => match[1] ?? "")
    const settings = names.filter((name) => !name.startsWith("SIG"))
    assert.includeMembers(settings, ["PORT", "HOST", "LOG_LEVEL", "EARSHOT_BOOTSTRAP_KEY"])
    const helps = [await node(["serve", "--help"]), await node(["replay", "--help"])]
    assert.deepStrictEqual(
      helps.map(({ code }) => code),
      [0, 0]
    )
    const lines = plain(helps.map(({ stdout }) => stdout).join("\n"))
      .split("\n")
      .map((line) => line.trim())
    for (const name of settings) assert.include(lines, name)
  })

  it("refuses a command, an option and an argument that do not exist", async () => {
    assertPlain(await node(["frobnicate"]), /use one of 'serve', .*'keys'/)
    assertPlain(await node(["serve", "--frobnicate"]), /'--frobnicate'/)
    assertPlain(await node(["serve", "extra"]), /'extra'/)
    assertPlain(await node(["keys", "create", "--frobnicate", "x"]), /'--frobnicate'/)
  })

  it("keys revoke says when there is no such key", async () => {
    assertPlain(await node(["keys", "revoke", "nonsense"]), /Cannot find key "nonsense"/)
    assertPlain(await node(["keys", "revoke", `key_${"0".repeat(26)}`]), /Cannot find key "key_0{26}"/)
  })

  it("keys create prints the key alone on standard output", async () => {
    const { code, stdout } = await node(["keys", "create", "--account", "team", "--name", "laptop"])
    assert.strictEqual(code, 0)
    assert.match(stdout, /^es_[0-9A-Za-z]{38}\n$/)
  })

  it("keys create refuses an account without a name", async () => {
    const { code, stdout, stderr } = await node(["keys", "create", "--account", "  "])
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.include(stderr, "Expected 1 to 200 characters")
  })

  it("keys list says how to make a key when there is none", async () => {
    const { code, stdout } = await node(["keys", "list"])
    assert.deepStrictEqual([code, stdout.trim()], [0, "No keys yet: create one with: earshot keys create"])
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
    ["EARSHOT_BOOTSTRAP_KEY", "sixteen or more but with spaces"]
  ]
  for (const [name, value] of badSettings) {
    it(`serve says in one line that ${name}=${value} is wrong`, async () => {
      // On Deno, which starts in half the time.
      const ended = await runCommand("deno", ["serve"], { [name]: value })
      assertPlain(ended, new RegExp(`^earshot: .*${name}.*Expected`))
      if (name === "EARSHOT_BOOTSTRAP_KEY") assert.notInclude(ended.stderr, value)
    })
  }

  describe("when the port is in use", () => {
    const other = createServer()
    beforeAll(() => new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve)))
    afterAll(() => new Promise<void>((resolve) => void other.close(() => resolve())))

    for (const runtime of RUNTIMES) {
      it(`serve says so in one line on ${runtime}`, async () => {
        const address = other.address()
        const port = typeof address === "object" && address !== null ? String(address.port) : ""
        const ended = await runCommand(runtime, ["serve"], {
          PORT: port,
          EARSHOT_BOOTSTRAP_KEY: KEY,
          LOG_LEVEL: "warning"
        })
        assertPlain(ended, new RegExp(`^earshot: Cannot listen on 127.0.0.1:${port}: another program uses the port`))
      })
    }
  })

  it("serve without a bootstrap key shows a first key that works", async () => {
    const running = await startService("node", { EARSHOT_BOOTSTRAP_KEY: undefined })
    const key = await running.printed(/es_[0-9A-Za-z]{38}/)
    const headers = { authorization: `Bearer ${key}` }
    assert.strictEqual((await fetch(`${running.url}/api.ListRules`, { headers })).status, 200)
    const { stdout, stderr } = await running.stop()
    assert.match(stdout, /^Demo feed: off$/m)
    assert.include(stdout, `curl -s ${running.url}/api.CreateRule -H "Authorization: Bearer ${key}"`)
    assert.notInclude(stderr, key, "the key is not logged")
  })
})

for (const runtime of RUNTIMES) {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    describe(`${signal} on ${runtime}`, { timeout: START_MILLIS }, () => {
      it("lets a request in flight finish, takes no new connection, and ends with 0", async () => {
        const running = await startService(runtime)
        const idle = await open(running)
        idle.write(requestText("GET", "/health/live"))
        assert.strictEqual((await idle.answer())?.status, 200)

        const inFlight = await open(running)
        const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" }
        inFlight.write(requestText("POST", "/matches", { ...headers, "transfer-encoding": "chunked" }))
        inFlight.write(chunk('{"limit":'))
        // Once a later request is answered, the server has begun with the one before it.
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
}

// ---- helpers ----

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' colours begin with one
const plain = (text: string): string => text.replace(/\u001b\[[\d;]*m/g, "")

const refusesConnections = async (address: { readonly host: string; readonly port: number }): Promise<void> => {
  for (;;) {
    const connection = await open(address).catch(() => undefined)
    if (connection === undefined) return
    connection.destroy()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
