/** `earshot store copy` with the real program: what clients and platforms know works on with Postgres. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { startReceiver } from "../adapters/webhooks/receiver.ts"
import { startSimulator } from "../cluster/simulator.ts"
import { eventually, until } from "../eventually.ts"
import { call, draft, type Json } from "../gateway/client.ts"
import { KEY, runInProcess, type Served, serveInProcess, startCommand } from "../program.ts"
import { emptyDatabase, temporaryFolder } from "../stores.ts"

const serving = (settings: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.promise(() => serveInProcess(settings)),
    ({ stop }) => Effect.promise(stop)
  )

const ask = ({ url, host, port }: Served, path: string, body?: unknown, key = KEY) =>
  Effect.promise(async () => {
    const answer = await call({ url, host, port, key }, path, body)
    assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  })

const post = (n: number) => ({ data: { id: String(n), text: `copied ${n}` } })

describe("earshot store copy", () => {
  it.scopedLive("moves a store to Postgres: keys, cursors, webhooks and rules on platforms work on", () =>
    Effect.gen(function* () {
      const simulator = yield* startSimulator({ seed: 1, tier: "pay-per-use", settings: {} })
      const receiver = yield* startReceiver()
      const upstream = `http://127.0.0.1:${simulator.port}`
      const folder = { EARSHOT_DATA_DIR: yield* temporaryFolder }
      const { url } = yield* emptyDatabase
      const database = { ...folder, DATABASE_URL: Redacted.value(url) }
      const settings = {
        X_BASE_URL: upstream,
        X_BEARER_TOKEN: simulator.settings.x.bearer_token,
        EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8"
      }
      /** While a server is connected. */
      const publish = (...posts: ReadonlyArray<number>) =>
        Effect.promise(async () => {
          await until("the stream is open", () => simulator.open("x").length === 1)
          await simulator.publish(posts.map(post))
        })
      const postsOf = (page: Json) => [...(page["matches"] as Json)].map((match) => String(match["platform_post_id"]))
      const copy = (environment: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
        Effect.promise(() => runInProcess(["store", "copy", ...args], environment))

      const before = yield* serving({ ...settings, ...folder, EARSHOT_WEBHOOKS: "off" })
      yield* ask(before, "/api.CreateRule", draft("copied", ["x"]))
      const { secret } = yield* ask(before, "/keys/create", { name: "other", scope: "read" })
      yield* ask(before, "/webhooks/create", { url: receiver.url })
      yield* publish(1, 2, 3)
      const page = yield* Effect.promise(() =>
        eventually(async () => {
          const found = await Effect.runPromise(ask(before, "/matches", { limit: 2 }))
          assert.deepStrictEqual(postsOf(found), ["3", "2"])
          return found
        })
      )
      const newest = String([...(page["matches"] as Json)][0]?.["id"])
      const inUse = yield* copy(database)
      assert.strictEqual(inUse.code, 1)
      assert.match(inUse.stderr, /another process is using this folder\. Stop the server, then run the command again/)
      yield* Effect.promise(before.stop)
      const held = yield* Effect.promise(simulator.state)

      yield* Effect.promise(async () => {
        const killed = startCommand("node", ["store", "copy"], database)
        await killed.printedError(/Copying/)
        killed.signal("SIGKILL")
        await killed.ended
      })
      const refused = yield* Effect.promise(() => serveInProcess({ ...settings, ...database }).catch(String))
      assert.match(String(refused), /a store is being copied to it, and the copy is not complete/)
      const copied = yield* copy(database, "--json")
      assert.strictEqual(copied.code, 0, copied.stderr)
      assert.deepInclude(JSON.parse(copied.stdout), { begun: "resumed", from: folder.EARSHOT_DATA_DIR })
      assert.strictEqual(copied.stderr, "Resuming the copy\nComparing the copy\n")

      const after = yield* serving({ ...settings, ...database })
      assert.deepStrictEqual(postsOf(yield* ask(after, "/matches", { cursor: page["next_cursor"] })), ["1"])
      yield* ask(after, "/account", undefined, String(secret))
      yield* publish(4)
      const waited = yield* ask(after, "/matches/wait", { cursor: newest, timeout_seconds: 30 })
      assert.deepStrictEqual(postsOf(waited), ["4"])
      yield* Effect.promise(() => eventually(() => assert.lengthOf(receiver.received, 4)))
      assert.deepStrictEqual(
        receiver.received.map(({ body }) => JSON.parse(body).data.platform_post_id),
        ["1", "2", "3", "4"]
      )
      const { x } = yield* Effect.promise(simulator.state)
      assert.deepStrictEqual(x.rules, held.x.rules)
      const again = yield* copy(database)
      assert.strictEqual(again.code, 1)
      assert.match(again.stderr, /it is not empty: there are rows in .*\. Nothing was changed/)
    })
  )

  it.live("says what is wrong with its input, without the password", () =>
    Effect.promise(async () => {
      const none = await runInProcess(["store", "copy"])
      assert.deepInclude(none, {
        code: 2,
        stderr: "earshot: Name the database to copy to: --to postgres://…, or DATABASE_URL\n"
      })
      const other = await runInProcess(["store", "copy", "--to", "mysql://u:hidden@localhost/x"])
      assert.strictEqual(other.code, 2)
      assert.match(other.stderr, /^earshot: --to is not valid: Expected a URL like postgres:/)
      const absent = await runInProcess(["store", "copy", "--to", "postgres://u:hidden@127.0.0.1:1/x"])
      assert.strictEqual(absent.code, 1)
      assert.match(absent.stderr, /: there is no store\. Set EARSHOT_DATA_DIR to the folder of the store to copy\n$/)
      assert.notMatch(other.stderr + absent.stderr, /hidden/)
    })
  )
})
