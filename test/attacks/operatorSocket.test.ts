/** Commands reach a running server by the socket in its data folder, and nobody but the folder's owner does. */
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { storeImage } from "../../adapters/runtimes/assets.ts"
import * as pglite from "../../adapters/sql/pglite.ts"
import * as stores from "../../adapters/sql/stores.ts"
import { StreamStore } from "../../core/coverage/StreamStore.ts"
import { call, xPost } from "../gateway/client.ts"
import { KEY, RUNTIMES, type Running, runCommand, runInProcess, START_MILLIS, startService } from "../program.ts"

const root = mkdtempSync(join(tmpdir(), "earshot-operator-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const OPERATOR_KEY = "key-of-the-operator-of-this-server"

const RULE = { name: "Storms", intent: "Hear of storms", platforms: ["x"], overrides: { x: "storm" } }

for (const runtime of RUNTIMES) {
  describe(`a server on ${runtime}`, { timeout: 2 * START_MILLIS }, () => {
    const dataDir = mkdtempSync(join(root, "data-"))
    // Others may enter: the socket must protect itself.
    chmodSync(root, 0o755)
    chmodSync(dataDir, 0o755)
    const socket = join(dataDir, "operator", "sock")
    const local = { EARSHOT_DATA_DIR: dataDir, LOG_LEVEL: "error" }
    const run = (...args: ReadonlyArray<string>) => runInProcess(args, local)
    let service: Running
    const as = (key: string) => ({ ...service, key })

    beforeAll(async () => {
      await Effect.runPromise(addDeadLetter(dataDir))
      service = await startService(runtime, { ...local, EARSHOT_OPERATOR_KEY: OPERATOR_KEY }, { umask: "000" })
    }, START_MILLIS)
    afterAll(async () => void (await service.stop()), START_MILLIS)

    it("accepts a key at once that keys create made, and rejects it at once after keys revoke", async () => {
      const created = await run("keys", "create", "--account", "acme", "--name", "dashboard", "--json")
      assert.strictEqual(created.code, 0, created.stderr)
      const { id, key } = JSON.parse(created.stdout)
      assert.strictEqual((await call(as(key), "/api.ListRules")).status, 200)
      assert.match((await run("keys", "list")).stdout, new RegExp(`\n${id}  acme +dashboard .* active\n`))

      const rotated = JSON.parse((await run("keys", "rotate", id, "--overlap", "0", "--json")).stdout)
      assert.strictEqual((await call(as(key), "/api.ListRules")).status, 401)
      assert.strictEqual((await call(as(rotated.key), "/api.ListRules")).status, 200)

      assert.match(
        (await run("keys", "revoke", id)).stderr,
        /^earshot: Cannot revoke key .*: it is the last active admin.*earshot keys revoke --force\n$/
      )
      assert.match((await run("keys", "revoke", "--force", id)).stdout, new RegExp(`^Revoked ${id} `))
      assert.strictEqual((await call(as(rotated.key), "/api.ListRules")).status, 401)
      const unknown = await run("keys", "revoke", "key_of_nobody", "--json")
      assert.strictEqual(unknown.code, 1)
      assert.deepInclude(JSON.parse(unknown.stderr), { code: "not_found", message: 'Cannot find key "key_of_nobody"' })
    })

    it("does not count the operator's requests for the account, nor limit them", async () => {
      const { stdout: key } = await run("keys", "create", "--account", "limited")
      const changed = await run("accounts", "limit", "limited", "requests", "1")
      assert.match(changed.stdout, /^Account "limited"\nLIMIT /, changed.stderr)
      assert.match((await run("account", "--account", "limited")).stdout, /^Account "limited"\n/)
      assert.strictEqual((await call(as(key.trim()), "/api.ListRules")).status, 200)
      assert.strictEqual((await call(as(key.trim()), "/api.ListRules")).status, 429)
      assert.strictEqual((await run("rules", "list", "--account", "limited")).code, 0)
    })

    it("lists the accounts with their keys and rules", async () => {
      await run("keys", "create", "--account", "listed")
      const { id } = JSON.parse((await run("keys", "create", "--account", "listed", "--json")).stdout)
      await run("keys", "revoke", id)
      await run("rules", "create", "--name", "n", "--intent", "i", "--x", "gust", "--account", "listed")
      const { stdout, stderr } = await run("accounts", "list")
      assert.match(stdout, /^NAME +ID +CREATED +ACTIVE KEYS +RULES\ndefault +acct_\w{26} +20\S+Z +\d/, stderr)
      assert.match(stdout, /\nlisted +acct_\w{26} +20\S+Z +1 +1\n/)
      const { accounts } = JSON.parse((await run("accounts", "list", "--json")).stdout)
      assert.deepInclude(accounts.at(-1), { name: "listed", active_keys: 1, rules: 1 })
    })

    it("serves commands of both runtimes", async () => {
      for (const client of RUNTIMES) {
        const listed = await runCommand(client, ["keys", "list"], local)
        assert.deepStrictEqual([listed.code, listed.stderr], [0, ""])
        assert.match(listed.stdout, /bootstrap key/)
      }
    })

    it("shows the dead letters", async () => {
      assert.match((await run("dead-letters")).stdout, /^20\S+Z {2}x {2}lost {2}It cannot be stored\n$/)
      assert.deepInclude(JSON.parse((await run("dead-letters", "--json")).stdout), { payload: '{"text":"lost"}' })
    })

    it("serves rules and matches of an account, and hides other accounts", async () => {
      await run("keys", "create", "--account", "team")
      const filter = ["--name", "Gales", "--intent", "Hear of gales", "--x", "gale"]
      const created = await run("rules", "create", ...filter, "--account", "team")
      assert.strictEqual(created.code, 0, created.stderr)
      assert.match((await run("rules", "list", "--account", "team")).stdout, /Gales/)
      assert.notMatch((await run("rules", "list")).stdout, /Gales/)
      assert.match((await run("matches", "--account", "team")).stderr, /^No matches\n/)
      assert.match((await run("matches", "--account", "nobody")).stderr, /Cannot find account "nobody": there are /)
    })

    it("publishes shared events from replay --shared, by the socket and with the operator's key", async () => {
      const { body } = await call(as(KEY), "/api.CreateRule", RULE)
      const rule = String(body["rule_id"])
      const file = join(root, `${runtime}.ndjson`)
      const replay = async (id: string, settings: Readonly<Record<string, string>>) => {
        writeFileSync(file, `${JSON.stringify(xPost(id, "storm and gale"))}\n`)
        return runInProcess(["replay", "--shared", file], settings)
      }
      const bySocket = await replay("socket", local)
      assert.match(
        bySocket.stdout,
        /^Replayed 1 event \(x 1\) in [\d.]+ s: they match the rules of all accounts, so matches are not counted here\n$/,
        bySocket.stderr
      )
      const byKey = await replay("key", { EARSHOT_URL: service.url, EARSHOT_OPERATOR_KEY: OPERATOR_KEY })
      assert.match(byKey.stdout, /^Replayed 1 event \(x 1\)/, byKey.stderr)
      const matches = await call(as(KEY), "/matches", { rule_id: rule })
      assert.sameMembers(
        [...(matches.body["matches"] ?? [])].map((match) => String(match["platform_post_id"])),
        ["socket", "key"]
      )
      const { matches: teams } = JSON.parse((await run("matches", "--account", "team", "--json")).stdout)
      assert.lengthOf(teams, 2, "the rules of every account see them")

      const wrong = await replay("wrong", { EARSHOT_URL: service.url, EARSHOT_OPERATOR_KEY: `${OPERATOR_KEY}.` })
      assert.match(wrong.stderr, /rejects the key: set EARSHOT_OPERATOR_KEY/)
      const without = await replay("without", { EARSHOT_URL: service.url, EARSHOT_API_KEY: KEY })
      assert.match(without.stderr, /No operator key: set EARSHOT_OPERATOR_KEY/)
    })

    it("redacts posts by matches redact, by the socket and with the operator's key, and for no other key", async () => {
      const { body } = await call(as(KEY), "/api.CreateRule", { ...RULE, overrides: { x: "cyclone" } })
      const rule_id = String(body["rule_id"])
      await call(as(KEY), "/local/events", [xPost("81", "cyclone one"), xPost("82", "cyclone two")])
      const bySocket = await run("matches", "redact", "--platform", "x", "81", "83")
      assert.deepStrictEqual([bySocket.stdout, bySocket.code], ["Redacted 1 match\n", 0], bySocket.stderr)
      const byKey = await runInProcess(
        ["matches", "redact", "--platform", "x", "--reason", "deleted", "--json", "81", "82"],
        { EARSHOT_URL: service.url, EARSHOT_OPERATOR_KEY: OPERATOR_KEY }
      )
      assert.deepStrictEqual(JSON.parse(byKey.stdout), { redacted: 1 }, byKey.stderr)
      const listed = await run("matches", "--rule", rule_id)
      assert.match(listed.stdout, /\(removed: deleted\) 82\n.*\(removed: operator\) 81\n$/)
      assert.notInclude(listed.stdout, "cyclone")

      const without = await runInProcess(["matches", "redact", "--platform", "x", "81"], {
        EARSHOT_URL: service.url,
        EARSHOT_API_KEY: KEY
      })
      assert.match(without.stderr, /No operator key: set EARSHOT_OPERATOR_KEY/)
      const keyOnly = await runInProcess(["matches", "redact", "--platform", "x", "81"], {
        ...local,
        EARSHOT_API_KEY: KEY
      })
      assert.match(
        keyOnly.stderr,
        /No operator key: .* to use the socket of the server that uses the store in ".*data-/
      )
      assert.match((await run("matches", "redact", "81")).stderr, /--platform/)
      assert.match((await run("matches", "redact", "--platform", "x")).stderr, /post-id/)
      assert.match((await run("matches", "redact", "--help")).stdout, /--reason[\s\S]*default: operator/)
      assert.match(
        (await run("matches", "--help")).stdout,
        /earshot matches \[options\][\s\S]*matches redact {2,}Remove/
      )
      assert.match((await run("--help")).stdout, /\n {2}matches {2,}List matches[\s\S]*\n {2}matches redact {2,}Remove/)
      assert.match((await run("matches", "--folow")).stderr, /did you mean --follow\?/)
    })

    it("accepts the operator's key for events and redactions only, and offers no operator path on its port", async () => {
      for (const path of ["/api.ListRules", "/webhooks"]) {
        assert.strictEqual((await call(as(OPERATOR_KEY), path)).status, 401)
      }
      assert.strictEqual((await call(as(OPERATOR_KEY), "/local/events")).status, 405)
      for (const key of [KEY, OPERATOR_KEY]) {
        assert.strictEqual((await call(as(key), "/operator/keys/list", null)).status, 404)
      }
    })

    it("lets no other user open the socket", async ({ skip }) => {
      if (process.getuid?.() !== 0) return skip("only root can become another user")
      const connected = spawnSync("setpriv", [...NOBODY, process.execPath, "-e", CONNECT, socket], { encoding: "utf8" })
      if (connected.error !== undefined || !/^(EACCES|open)/.test(connected.stdout)) {
        return skip(`cannot run Node as nobody: ${connected.error?.message ?? connected.stderr}`)
      }
      assert.strictEqual(connected.stdout, "EACCES\n")
      chmodSync(join(dataDir, "operator"), 0o755)
      const inside = spawnSync("setpriv", [...NOBODY, process.execPath, "-e", CONNECT, socket], { encoding: "utf8" })
      chmodSync(join(dataDir, "operator"), 0o700)
      assert.strictEqual(inside.stdout, "EACCES\n", "the socket itself is closed, too")
    })

    it("leaves a socket behind when killed, which neither commands nor the next server mind", async () => {
      service.signal("SIGKILL")
      await service.ended
      assert.isTrue(existsSync(socket))
      const offline = await run("keys", "list")
      assert.deepStrictEqual([offline.code, offline.stderr], [0, ""])
      const shared = await run("replay", "--shared", join(root, `${runtime}.ndjson`))
      assert.match(shared.stderr, /^earshot: No running server uses the store in ".*", .*: start it with earshot serve/)

      // The command waits for a server that starts.
      const starting = startService(runtime, local)
      while (!existsLock(dataDir)) await new Promise((resume) => setTimeout(resume, 20))
      let listed = await run("keys", "list")
      // It waits for ten seconds, which is too short on a busy machine.
      for (let tries = 1; tries < 4 && /does not answer on its operator socket/.test(listed.stderr); tries++) {
        listed = await run("keys", "list")
      }
      assert.strictEqual(listed.code, 0, listed.stderr)
      service = await starting
      await service.stop()
      assert.isFalse(existsSync(join(dataDir, "operator")))
    })
  })
}

describe("a command", { timeout: START_MILLIS }, () => {
  it("says what is wrong if the process that uses the store never answers", async () => {
    const dataDir = mkdtempSync(join(root, "held-"))
    const holder = net.createServer((socket) => socket.destroy())
    await new Promise<void>((resume) => holder.listen(join(dataDir, "lock-0badf00d"), resume))
    const { code, stderr } = await runInProcess(["keys", "create", "--json"], { EARSHOT_DATA_DIR: dataDir })
    holder.close()
    assert.strictEqual(code, 1)
    assert.deepStrictEqual(JSON.parse(stderr), {
      code: "unavailable",
      message: `Another process uses the store in "${dataDir}" and does not answer on its operator socket: if it is a server that starts or stops, try again shortly; otherwise stop it`,
      details: {}
    })
  })
})

// ---- helpers ----

const NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"]

const CONNECT = `require("node:net").connect(process.argv[1])
  .on("connect", () => { console.log("open"); process.exit() })
  .on("error", ({ code }) => console.log(code))`

const existsLock = (dataDir: string) =>
  spawnSync("find", [dataDir, "-maxdepth", "1", "-name", "lock-*"], { encoding: "utf8" }).stdout !== ""

const addDeadLetter = (dataDir: string) =>
  Effect.flatMap(StreamStore, (streams) =>
    streams.addDeadLetter({
      platform: "x",
      platformPostId: "lost",
      at: 1_800_000_000_000,
      reason: "It cannot be stored",
      payload: '{"text":"lost"}'
    })
  ).pipe(Effect.provide(Layer.provide(stores.layer, pglite.layerWith({ dataDir, image: storeImage }))))
