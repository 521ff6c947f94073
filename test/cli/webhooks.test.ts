/** `earshot webhooks` end to end, with a real receiver and a real server. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Webhook } from "standardwebhooks"
import { startReceiver } from "../adapters/webhooks/receiver.ts"
import { call, xPost } from "../gateway/client.ts"
import { isLong } from "../long.ts"
import {
  type Ended,
  KEY,
  OTHER_RUNTIME,
  RUNTIMES,
  type RuntimeName,
  runCommand,
  runInProcess,
  START_MILLIS,
  serveInProcess
} from "../program.ts"

const ALLOWED = { EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8" }

describe("earshot webhooks", { timeout: 4 * START_MILLIS }, () => {
  it.scopedLive("creates, tests, lists, replays, rotates, enables and deletes", () =>
    Effect.gen(function* () {
      let status = 204
      const receiver = yield* startReceiver((_, response) => void response.writeHead(status).end("\u001b[2Jgone"))
      const service = yield* Effect.acquireRelease(
        Effect.promise(() => serveInProcess(ALLOWED)),
        (running) => Effect.promise(() => running.stop())
      )
      const remote = { EARSHOT_URL: service.url, EARSHOT_API_KEY: KEY }
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => runInProcess(["webhooks", ...args], remote))
      const runOn = (runtime: RuntimeName, ...args: ReadonlyArray<string>) =>
        Effect.promise(() =>
          isLong ? runCommand(runtime, ["webhooks", ...args], remote) : runInProcess(["webhooks", ...args], remote)
        )
      const target = { url: service.url, host: service.host, port: service.port, key: KEY }
      const draft = { name: "n", intent: "i", platforms: ["x"], overrides: { x: "storm" } }
      const rule = yield* Effect.promise(() => call(target, "/api.CreateRule", draft))
      const ruleId = String(rule.body["rule_id"])

      for (const runtime of RUNTIMES) assert.match((yield* runOn(runtime, "list")).stderr, /^No webhooks yet/)
      const unsafe = yield* run("create", "https://user:secret@example.com/hook")
      assert.match(unsafe.stderr, /^earshot: <address>: /)
      const created = yield* runOn(
        OTHER_RUNTIME,
        "create",
        receiver.url,
        "--rule",
        ruleId,
        "--platform",
        "x",
        "--description",
        "to me"
      )
      assert.strictEqual(created.code, 0, created.stderr)
      const [, id = ""] = /^(webhook_\w+) sends to http:\S+. Its secret, shown only once:\n$/.exec(created.stderr) ?? []
      assert.match(created.stdout, /^whsec_\S+\n$/)

      const tested = yield* run("test", id)
      assert.deepStrictEqual([tested.code, tested.stderr], [0, ""])
      assert.match(tested.stdout, /^20\S+Z {2}test delivered {2}status 204 {2}\d+ ms\n$/)
      const [message] = receiver.received
      assert.doesNotThrow(() => new Webhook(created.stdout.trim()).verify(message?.body ?? "", { ...message?.headers }))

      yield* Effect.promise(() => call(target, "/local/events", [xPost("s1", "storm")]))
      yield* Effect.iterate(0, {
        while: () => receiver.received.length < 2,
        body: () => Effect.as(Effect.sleep("50 millis"), 0)
      })
      const matchId = receiver.received[1]?.headers["webhook-id"] ?? ""
      assert.match(
        (yield* run("list")).stdout,
        new RegExp(
          `^${id}  ${receiver.url}/?\n  to me\n  Matches of ${ruleId}, on x; created 20\\S+Z\n  active\n  Last delivery: .*delivery delivered  ${matchId}  status 204`
        )
      )
      const replayed = yield* run("replay", id, "--match", matchId, "--json")
      assert.deepInclude(JSON.parse(replayed.stdout).attempt, {
        kind: "replay",
        outcome: "delivered",
        match_id: matchId
      })

      status = 500
      const failed = yield* run("test", id)
      assert.strictEqual(failed.code, 1)
      assert.match(failed.stdout, /test failed {2}status 500/)
      assert.notInclude(failed.stdout, "\u001b")
      const attempts = yield* run("attempts", id, "--limit", "2")
      assert.lengthOf(attempts.stdout.trimEnd().split("\n"), 2)
      assert.match(attempts.stderr, /^More with --cursor attempt_\w+\n$/)

      const rotated = yield* run("rotate-secret", id, "--json")
      assert.notStrictEqual(JSON.parse(rotated.stdout).secret, created.stdout.trim())
      assert.match((yield* run("enable", id)).stdout, new RegExp(`^${id}  `))
      assertUsage(yield* run("replay", id), /either --match or --after/)
      assertUsage(yield* run("create"), /address/)

      const deleted = yield* run("delete", id, "webhook_nobody")
      assert.deepStrictEqual(deleted, {
        code: 1,
        stdout: `Deleted ${id}\n`,
        stderr: 'earshot: Cannot find webhook "webhook_nobody"\n'
      })
      const refused = yield* run("create", "http://169.254.169.254/", "--json")
      assert.deepStrictEqual([refused.code, JSON.parse(refused.stderr).code], [1, "invalid_argument"])
    })
  )
})

// ---- helpers ----

const assertUsage = ({ code, stderr }: Ended, message: RegExp) => {
  assert.strictEqual(code, 2)
  assert.match(stderr, message)
}
