/** The real program delivers every match in order, although the receiver fails at random and the program is killed. */
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted, type Scope } from "effect"
import pg from "pg"
import { Webhook } from "standardwebhooks"
import * as Simulator from "../simulator/Simulator.ts"
import { serve } from "../simulator/server.ts"
import { type Reply, startReceiver } from "./adapters/webhooks/receiver.ts"
import { untilTrue } from "./eventually.ts"
import { call, draft, type Target, xPost } from "./gateway/client.ts"
import { isLong, sized } from "./long.ts"
import { KEY, type Running, type Served, serveInProcess, startService } from "./program.ts"
import { temporaryDatabase, temporaryFolder } from "./stores.ts"

/** Failures of the receiver. */
const FAILURES = sized(10, 100)
const KILLS = sized(1, 5)
const WORD = "resumption"

interface Store {
  readonly settings: Readonly<Record<string, string>>
  /** Lets the claims of a dead process expire. */
  readonly expireClaims: Effect.Effect<void>
}

const embedded = Effect.map(
  temporaryFolder,
  (folder): Store => ({ settings: { EARSHOT_DATA_DIR: folder }, expireClaims: Effect.void })
)

const postgres = Effect.map(temporaryDatabase, ({ url }): Store => {
  const expireClaims = Effect.promise(async () => {
    const client = new pg.Client({ connectionString: Redacted.value(url) })
    await client.connect()
    await client.query("update webhooks set claimed_until = claimed_until - interval '1 minute'")
    await client.end()
  })
  return { settings: { DATABASE_URL: Redacted.value(url) }, expireClaims }
})

describe("webhooks of the real program", () => {
  it.scopedLive("every match arrives in order despite failures and kills, with the embedded store", () =>
    Effect.gen(function* () {
      const store = yield* embedded
      const world = yield* makeWorld(store, 1)
      for (let kill = 0; kill < KILLS; kill++) {
        yield* world.feedAndFail(FAILURES / KILLS)
        const [only] = world.processes
        yield* world.kill(only)
        yield* world.start
      }
      yield* world.finish
    })
  )

  it.scopedLive("every match arrives in order despite failures and kills, with two processes on Postgres", () =>
    Effect.gen(function* () {
      const store = yield* postgres
      const world = yield* makeWorld(store, 2)
      for (let kill = 0; kill < KILLS; kill++) {
        yield* world.feedAndFail(FAILURES / KILLS)
        yield* world.kill(world.processes[kill % 2])
        yield* store.expireClaims
        yield* world.progress
        yield* world.start
      }
      yield* world.finish
    })
  )

  // The test before it has a shorter form of it, in which the claims have expired.
  it.scopedLive.runIf(isLong)(
    "another process takes over a killed process's deliveries within a minute, on Postgres (runs in check:long)",
    () =>
      Effect.gen(function* () {
        const store = yield* postgres
        const world = yield* makeWorld(store, 1)
        const [first] = world.processes
        world.hang(true)
        yield* world.progress
        yield* world.start
        yield* world.kill(first)
        world.hang(false)
        const [took] = yield* Effect.timed(world.progress)
        assert.isAbove(Duration.toSeconds(took), 10, "the claim of the killed process was still valid")
        assert.isBelow(Duration.toSeconds(took), 60)
        yield* world.finish
      })
  )

  it.scopedLive("a gap in the stream arrives as coverage.gap when it begins and when it ends", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator.make({ seed: 1 })
      const upstream = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
      const { received, url } = yield* startReceiver()
      const running = yield* servedHere({
        EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8",
        X_BASE_URL: upstream,
        X_BEARER_TOKEN: simulator.control.settings.x.bearer_token
      })
      const ask = (path: string, body?: unknown) => Effect.promise(() => call({ ...running, key: KEY }, path, body))
      yield* ask("/api.CreateRule", draft(WORD, ["x"]))
      const isWatched = Effect.map(simulator.control.state, ({ x }) => x.connections.length === 1)
      yield* untilTrue("the stream is open", isWatched)
      const { body } = yield* ask("/webhooks/create", { url, events: ["coverage.gap"] })
      const verifier = new Webhook(String(body["secret"]))
      const messages = () => received.map((one) => verifier.verify(one.body, one.headers) as GapMessage)
      const message = (isWanted: (gap: GapMessage["data"]["gap"]) => boolean) =>
        Effect.sync(() => messages().find(({ data }) => data.gap.cause === "outage" && isWanted(data.gap))).pipe(
          Effect.delay("100 millis"),
          Effect.repeat({ until: (found) => found !== undefined })
        )

      yield* simulator.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 3_600 })
      yield* simulator.control.inject({ kind: "close", platform: "x" })
      const began = yield* message(({ to }) => to === undefined)
      assert.deepInclude(began, { type: "coverage.gap", timestamp: began?.data.gap.from })
      assert.deepInclude(began?.data, { platform: "x" })

      yield* simulator.control.clear()
      const ended = yield* message(({ to }) => to !== undefined)
      assert.strictEqual(ended?.data.gap.from, began?.data.gap.from)
      assert.strictEqual(ended?.timestamp, ended?.data.gap.to)
      const ids = received.map(({ headers }) => headers["webhook-id"])
      assert.strictEqual(new Set(ids).size, ids.length, "each is sent once")
    })
  )
})

// ---- helpers ----

interface GapMessage {
  readonly type: string
  readonly timestamp: string
  readonly data: {
    readonly platform: string
    readonly gap: { readonly from: string; readonly to?: string; readonly cause: string }
  }
}

const makeWorld = (store: Store, count: number) =>
  Effect.gen(function* () {
    const random = generator(7)
    let failures = 0
    let failNext = 0
    let isHanging = false
    const seen = new Set<string>()
    /** Fails at most once per match: the second retry would take minutes. */
    const reply: Reply = ({ headers }, response) => {
      if (isHanging) return
      const id = headers["webhook-id"] ?? ""
      const isNew = !seen.has(id)
      seen.add(id)
      if (failNext > 0 && isNew && random() < 0.5) {
        failNext--
        failures++
        misbehave(random, response)
      } else {
        response.writeHead(204).end()
      }
    }
    const { received, url } = yield* startReceiver(reply)

    const processes: Array<Running> = []
    const settings = { EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8", LOG_LEVEL: "none", ...store.settings }
    const start = Effect.gen(function* () {
      const running = yield* started(settings)
      processes.push(running)
      return running
    })
    const kill = (running: Running | undefined) =>
      Effect.promise(async () => {
        running?.signal("SIGKILL")
        await running?.ended
        if (running !== undefined) processes.splice(processes.indexOf(running), 1)
      })
    const target = (): Target => {
      const running = processes[Math.floor(random() * processes.length)]
      if (running === undefined) throw new Error("No process is running")
      return { ...running, key: KEY }
    }

    const first = yield* start
    const rule = yield* Effect.promise(() => call({ ...first, key: KEY }, "/api.CreateRule", draft(WORD, ["x"])))
    assert.strictEqual(rule.status, 200)
    const created = yield* Effect.promise(() => call({ ...first, key: KEY }, "/webhooks/create", { url }))
    const webhook_id = String(created.body["webhook"]?.["id"])
    while (processes.length < count) yield* start

    let fed = 0
    const feed = (posts: number) =>
      Effect.promise(async () => {
        const events = Array.from({ length: posts }, () => xPost(String(++fed), WORD))
        assert.strictEqual((await call(target(), "/local/events", events)).status, 200)
      })
    /** Skips the backoff of a retrying webhook. */
    const retryNow = Effect.promise(async () => {
      const [webhook] = [...((await call(target(), "/webhooks")).body["webhooks"] ?? [])]
      if (String(webhook?.["state"]) === "retrying") await call(target(), "/webhooks/enable", { webhook_id })
    })
    const until = (isTrue: () => boolean) =>
      Effect.gen(function* () {
        while (!isTrue()) {
          yield* Effect.sleep(20)
          yield* retryNow
        }
      })
    const feedAndFail = (times: number) =>
      Effect.gen(function* () {
        const goal = failures + times
        failNext = times
        while (failures < goal) {
          yield* feed(10)
          // Keeps the number of undelivered matches small.
          yield* until(() => seen.size > fed - 5 || failures === goal)
        }
      })
    const finish = Effect.gen(function* () {
      yield* feed(20)
      const expected = yield* Effect.promise(async () => {
        const matches = (await call(target(), "/matches", { limit: 500 })).body["matches"] ?? []
        return [...matches].map((match) => String(match["id"])).reverse()
      })
      yield* until(() => received.at(-1)?.headers["webhook-id"] === expected.at(-1))
      assert.lengthOf(expected, fed)
      const verifier = new Webhook(String(created.body["secret"]))
      for (const { body, headers } of received) verifier.verify(body, headers)
      // A failed message is repeated before the next one.
      const ids = received.map(({ headers }) => headers["webhook-id"])
      assert.deepStrictEqual(
        ids.filter((id, i) => id !== ids[i - 1]),
        expected
      )
    })
    const progress = Effect.gen(function* () {
      const before = received.length
      yield* feed(1)
      yield* until(() => received.length > before)
    })
    const hang = (value: boolean) => {
      isHanging = value
    }
    return { hang, processes, start, kill, feedAndFail, progress, finish }
  })

const started = (settings: Readonly<Record<string, string>>): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => startService("node", settings)),
    (running) =>
      Effect.promise(async () => {
        running.signal("SIGKILL")
        await running.ended
      })
  )

const servedHere = (settings: Readonly<Record<string, string>>): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => serveInProcess(settings)),
    (served) => Effect.promise(() => served.stop())
  )

/** Fails in a random way. */
const misbehave = (random: () => number, response: ServerResponse): void => {
  const ways = [
    () => response.writeHead(500).end("no"),
    () => response.writeHead(302, { location: "http://127.0.0.1/" }).end(),
    () => response.writeHead(429, { "retry-after": "1" }).end(),
    () => response.socket?.destroy(),
    () => response.socket?.end("HTTP/1.1 200"),
    () => setTimeout(() => response.socket?.destroy(), random() * 20)
  ]
  ways[Math.floor(random() * ways.length)]?.()
}

/** A seeded random generator. */
const generator = (seed: number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
