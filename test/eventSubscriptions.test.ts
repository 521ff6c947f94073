/** Subscriptions to events of the real program: the AI SDK's client over restarts, kills and a takeover, on Node and Deno. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import pg from "pg"
import { eventually } from "./eventually.ts"
import { call, draft, type Target, xPost } from "./gateway/client.ts"
import { startChatReceiver } from "./gateway/mcp/chatReceiver.ts"
import { eventClient } from "./gateway/mcp/eventClient.ts"
import { rpc } from "./gateway/mcp/rpc.ts"
import { isLong } from "./long.ts"
import { KEY, RUNTIMES, type Running, type RuntimeName, type Served, serveOn, startService } from "./program.ts"
import { temporaryDatabase, temporaryFolder } from "./stores.ts"

describe("subscriptions of the real program", () => {
  for (const runtime of RUNTIMES) {
    it.scopedLive(
      `live over a restart between two deliveries, on ${runtime}`,
      () =>
        Effect.gen(function* () {
          const world = yield* makeWorld(runtime, { EARSHOT_DATA_DIR: yield* temporaryFolder })
          yield* world.start
          const client = yield* eventClient(world.target)
          const rule_id = yield* world.rule
          const subscription = yield* Effect.promise(() =>
            client.subscribe("match.created", { rule_id }, { ttlMs: 600_000 })
          )
          yield* world.publish(1)
          yield* Effect.promise(() => eventually(() => assert.lengthOf(client.received, 1)))
          yield* world.stop
          yield* world.start
          yield* world.publish(1)
          yield* Effect.promise(async () => {
            await eventually(() => assert.lengthOf(client.received, 2))
            const again = await client.subscribe("match.created", {})
            assert.notStrictEqual(again.id, subscription.id)
            await client.events.unsubscribe({ key: again.key }).catch(() => {})
            const { result } = await rpc(world.target(), "events/subscribe", {
              name: subscription.name,
              arguments: subscription.arguments,
              delivery: subscription.delivery
            })
            assert.deepInclude(result, { id: subscription.id, truncated: false })
            assert.deepInclude(result?.["deliveryStatus"], { active: true, lastError: null })
          })
        }),
      240_000
    )
  }

  it.scopedLive(
    "lose no event when the program is killed during a delivery, and repeat ids at most",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld("node", { EARSHOT_DATA_DIR: yield* temporaryFolder })
        let crashed = yield* world.startUntil("webhook.sent:2")
        const { subscribe, received } = yield* eventClient(world.target)
        yield* world.rule
        yield* Effect.promise(() => subscribe("match.created", {}))
        yield* world.publish(6)
        yield* Effect.promise(() => crashed.ended)
        yield* world.start
        yield* world.allArrived(received)
        if (!isLong) return
        yield* world.stop
        crashed = yield* world.startUntil("webhook.settled:2")
        yield* world.publish(6)
        yield* Effect.promise(() => crashed.ended)
        yield* world.start
        yield* world.allArrived(received)
      }),
    240_000
  )

  it.scopedLive(
    "move to another server when theirs is killed, on Postgres",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const world = yield* makeWorld("node", { DATABASE_URL: Redacted.value(url) })
        const first = yield* world.startUntil("webhook.sent:2")
        const receiver = yield* chatReceiver
        yield* world.rule
        yield* Effect.promise(async () => {
          const delivery = { mode: "webhook", url: receiver.url, secret: receiver.secret }
          const { result, error } = await rpc(world.target(), "events/subscribe", { name: "match.created", delivery })
          assert.isDefined(result, error?.message)
        })
        yield* world.publish(6)
        yield* Effect.promise(() => first.ended)
        yield* world.start
        yield* Effect.promise(async () => {
          const client = new pg.Client({ connectionString: Redacted.value(url) })
          await client.connect()
          await client.query("update webhooks set claimed_until = claimed_until - interval '1 minute'")
          await client.end()
        })
        yield* world.publish(2)
        yield* world.allArrived(receiver.events)
        assert.deepStrictEqual(receiver.refused, [])
      }),
    240_000
  )
})

// ---- helpers ----

const WORD = "resumption"

const chatReceiver = Effect.acquireRelease(
  Effect.promise(() => startChatReceiver()),
  ({ close }) => Effect.promise(close)
)

const makeWorld = (runtime: RuntimeName, settings: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    let running: Served | undefined
    yield* Effect.addFinalizer(() => Effect.promise(async () => running?.stop()))
    let posts = 0
    const target = (): Target => {
      if (running === undefined) throw new Error("It is not running")
      return { ...running, key: KEY }
    }
    const common = { EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8", EARSHOT_DEMO_FEED: "off", LOG_LEVEL: "none" }
    const started = <A extends Served>(start: () => Promise<A>) =>
      Effect.promise(async () => {
        const server = await start()
        running = server
        return server
      })
    const rule = Effect.promise(async () =>
      String((await call(target(), "/api.CreateRule", draft(WORD, ["x"]))).body["rule_id"])
    )
    const matchIds = async () => {
      const listed = [...((await call(target(), "/matches", { limit: 500 })).body["matches"] ?? [])]
      return listed.map((match) => String(match["id"])).reverse()
    }
    return {
      target,
      start: started(() => (isLong ? startService : serveOn)(runtime, { ...common, ...settings })),
      /** Killed when it passes the failpoint. */
      startUntil: (failpoint: string): Effect.Effect<Running> =>
        started(() => startService(runtime, { ...common, ...settings, EARSHOT_CRASH_AT: failpoint })),
      rule,
      stop: Effect.promise(async () => {
        await running?.stop()
      }),
      publish: (count: number) =>
        Effect.promise(async () => {
          const events = Array.from({ length: count }, () => xPost(String(++posts), WORD))
          // The program may be killed before it answers.
          await call(target(), "/local/events", events).catch(() => {})
        }),
      /** In order; a repeat comes right after the first time. */
      allArrived: (events: ReadonlyArray<{ readonly eventId: string }>) =>
        Effect.promise(async () => {
          const expected = await matchIds()
          const arrived = () => events.map(({ eventId }) => eventId)
          await eventually(() => assert.strictEqual(arrived().at(-1), expected.at(-1)), 60)
          assert.deepStrictEqual(
            arrived().filter((id, index, all) => id !== all[index - 1]),
            expected
          )
          assert.isAtMost(arrived().length, expected.length + 2)
        })
    }
  })
