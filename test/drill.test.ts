/** A copy of a store beside its original, with the real program: drill mode, and what a copy without it leaves alone. */
import { cpSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { inject } from "vitest"
import { asSuperuser } from "../fixtures/postgres.ts"
import { startReceiver } from "./adapters/webhooks/receiver.ts"
import { type SimulatorProcess, startSimulator } from "./cluster/simulator.ts"
import { eventually } from "./eventually.ts"
import { call, draft, type Json, type Target, xPost } from "./gateway/client.ts"
import { sized } from "./long.ts"
import { KEY, type Served, serveInProcess, startService } from "./program.ts"
import { emptyDatabase, temporaryFolder } from "./stores.ts"

/** `original` is a running server. `copy` stops it, copies its store, and returns a function that starts it again. */
interface Engine {
  readonly settings: Settings
  readonly copied: Settings
  readonly copy: () => Promise<void>
}

type Settings = Readonly<Record<string, string | undefined>>

const embedded: Effect.Effect<Engine, never, Scope.Scope> = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const [one, other] = [join(folder, "one"), join(folder, "other")]
  return {
    settings: { EARSHOT_DATA_DIR: one },
    copied: { EARSHOT_DATA_DIR: other },
    copy: async () => cpSync(one, other, { recursive: true, filter: (path) => !/lock|socket|sock/.test(path) })
  }
})

const postgres: Effect.Effect<Engine, never, Scope.Scope> = Effect.gen(function* () {
  const { name, url } = yield* emptyDatabase
  const other = yield* emptyDatabase
  return {
    settings: { DATABASE_URL: Redacted.value(url) },
    copied: { DATABASE_URL: Redacted.value(other.url) },
    copy: () =>
      asSuperuser(
        inject("postgresUrl"),
        `drop database ${other.name} with (force)`,
        `create database ${other.name} template ${name}`
      )
  }
})

describe.concurrent("a copy of a store", { timeout: 240_000 }, () => {
  for (const [name, engine] of Object.entries(
    sized<Record<string, typeof embedded>>({ embedded }, { embedded, postgres })
  )) {
    it.scopedLive(`beside its original leaves the newer rules there alone, and both say so (${name})`, () =>
      Effect.gen(function* () {
        const { simulator, settings, copied, copy } = yield* setUp(engine)
        const first = yield* started(settings)
        yield* created(first, "before")
        yield* stopped(first)
        yield* Effect.promise(copy)
        const original = yield* started(settings)
        yield* created(original, "since")
        const both = yield* rulesOf(simulator)
        assert.deepStrictEqual(
          both.map(({ value }) => value),
          ["before", "since", "before", "since"]
        )

        const beside = yield* started(copied)
        yield* Effect.promise(() =>
          eventually(async () => {
            for (const { rules, summary } of await platformsOf(beside)) {
              assert.deepInclude(rules.drift, { newer: 1, orphaned: 0 })
              assert.match(
                summary,
                /1 rule there was made by another server from a copy of this store.*EARSHOT_UPSTREAM=off/
              )
            }
          })
        )
        assert.deepStrictEqual(yield* rulesOf(simulator), both, "nothing was removed or registered again")
        const ended = yield* stopped(beside)
        assert.match(
          ended.stderr,
          /Platform \\?"x\\?": 1 rule there was made by another server from a copy of this store/
        )

        // The original is gone for good.
        yield* stopped(original)
        const heir = yield* started({ ...copied, EARSHOT_UPSTREAM: "takeover" })
        yield* Effect.promise(() =>
          eventually(async () => {
            const { x, firehose } = await simulator.state()
            const values = [...x.rules, ...firehose.taps.flatMap(({ rules }) => rules)].map(({ value }) => value)
            assert.deepStrictEqual(values, ["before", "before"])
          })
        )
        yield* stopped(heir)
      })
    )
  }

  it.scopedLive("in drill mode calls no platform and no webhook, says so, and has a gap", () =>
    Effect.gen(function* () {
      const { simulator, settings } = yield* setUp(embedded)
      const receiver = yield* startReceiver()
      const first = yield* started({ ...settings, EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8" })
      yield* created(first, "before")
      const hook = yield* Effect.promise(() => call(targetOf(first), "/webhooks/create", { url: receiver.url }))
      const webhook_id = String((hook.body["webhook"] as Json)["id"])
      yield* stopped(first)
      const before = yield* Effect.promise(simulator.state)

      const drill = yield* started({
        ...settings,
        EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8",
        EARSHOT_UPSTREAM: "off",
        EARSHOT_WEBHOOKS: "off"
      })
      yield* Effect.promise(() =>
        drill.printed(/Platform x: off\nPlatform firehose: off\nUpstream is off .*\nWebhooks are off/)
      )
      const status = yield* Effect.promise(() => call(targetOf(drill), "/platforms/status"))
      assert.deepStrictEqual<unknown>(status.body["drill"], { upstream: "off", webhooks: "off" })
      yield* Effect.promise(() =>
        eventually(async () => {
          for (const { stream, summary, coverage } of await platformsOf(drill)) {
            assert.strictEqual(stream.state, "off")
            assert.lengthOf(summary.split("EARSHOT_UPSTREAM=off"), 2, summary)
            assert.deepInclude(coverage.gaps[0], { cause: "upstream_off", recovered: false })
            assert.isUndefined(coverage.gaps[0]?.to)
          }
        })
      )
      const refused = yield* Effect.promise(() => call(targetOf(drill), "/api.CreateRule", draft("new", ["x"])))
      assert.deepStrictEqual([refused.status, refused.body["code"]], [400, "failed_precondition"])
      assert.match(String(refused.body["message"]), /EARSHOT_UPSTREAM=off/)
      const checked = yield* Effect.promise(() =>
        call(targetOf(drill), "/rules/check", { overrides: { x: "storm" }, ask_platforms: true })
      )
      const { platform_verdict } = (checked.body["platforms"] as Json)["x"] as Json
      assert.deepStrictEqual<unknown>(platform_verdict, { accepted: true, asked: false, judged_by: "earshot" })
      const tested = yield* Effect.promise(() => call(targetOf(drill), "/webhooks/test", { webhook_id }))
      assert.match(JSON.stringify(tested.body), /EARSHOT_WEBHOOKS=off/)
      assert.lengthOf(receiver.received, 0)
      yield* stopped(drill)
      assert.deepStrictEqual((yield* Effect.promise(simulator.state)).calls, before.calls)
    })
  )

  it.scopedLive("without webhooks keeps their messages queued, and sends them in order once they are on", () =>
    Effect.gen(function* () {
      const { settings } = yield* setUp(embedded)
      const receiver = yield* startReceiver()
      const inProcess = {
        ...settings,
        X_BEARER_TOKEN: undefined,
        FIREHOSE_TAP_TOKEN: undefined,
        EARSHOT_WEBHOOK_ALLOW: "127.0.0.0/8"
      }
      const drill = yield* startedAlone({ ...inProcess, EARSHOT_WEBHOOKS: "off" })
      yield* created(drill, "queued", ["x"])
      yield* Effect.promise(() => call(targetOf(drill), "/webhooks/create", { url: receiver.url }))
      const posts = Array.from({ length: 60 }, (_, index) => xPost(String(index + 1), "queued"))
      for (const post of posts) yield* Effect.promise(() => call(targetOf(drill), "/local/events", [post]))
      const metrics = yield* Effect.promise(async () => (await fetch(`${drill.url}/metrics`)).text())
      assert.match(metrics, /^earshot_webhook_waiting_messages 60$/m)
      assert.match(metrics, /^earshot_webhook_waiting_seconds \d/m)
      assert.match(metrics, /^earshot_webhooks_disabled 0$/m)
      yield* stopped(drill)
      assert.lengthOf(receiver.received, 0)

      const real = yield* started(inProcess)
      yield* Effect.promise(() => eventually(() => assert.lengthOf(receiver.received, 60)))
      assert.deepStrictEqual(
        receiver.received.map(({ body }) => JSON.parse(body).data.platform_post_id),
        posts.map((_, index) => String(index + 1))
      )
      yield* stopped(real)
    })
  )
})

// ---- helpers ----

const setUp = (engine: Effect.Effect<Engine, never, Scope.Scope>) =>
  Effect.gen(function* () {
    const simulator = yield* startSimulator({ seed: 1, tier: "pay-per-use", settings: {} })
    const { settings, copied, copy } = yield* engine
    const url = `http://127.0.0.1:${simulator.port}`
    const upstream = {
      X_BASE_URL: url,
      FIREHOSE_BASE_URL: url,
      X_BEARER_TOKEN: simulator.settings.x.bearer_token,
      FIREHOSE_TAP_TOKEN: simulator.settings.firehose.tap_token
    }
    return { simulator, copy, settings: { ...upstream, ...settings }, copied: { ...upstream, ...copied } }
  })

const started = (settings: Settings) =>
  Effect.acquireRelease(
    Effect.promise(() => serveInProcess(settings)),
    (served) => stopped(served)
  )

/** A process of its own: its metrics are those of one server. */
const startedAlone = (settings: Settings) =>
  Effect.acquireRelease(
    Effect.promise(() => startService("node", settings)),
    (running) => stopped(running)
  )

const stopped = (served: Served) => Effect.promise(served.stop)

const targetOf = ({ url, host, port }: Served): Target => ({ url, host, port, key: KEY })

const created = (running: Served, words: string, platforms: ReadonlyArray<string> = ["x", "firehose"]) =>
  Effect.promise(async () => {
    const overrides = Object.fromEntries(platforms.map((platform) => [platform, words]))
    const body = { name: words, intent: words, platforms, overrides }
    const { status, body: answer } = await call(targetOf(running), "/api.CreateRule", body)
    assert.strictEqual(status, 200, JSON.stringify(answer))
  })

/** On both platforms. */
const rulesOf = (simulator: SimulatorProcess) =>
  Effect.promise(async () => {
    const { x, firehose } = await simulator.state()
    return [...x.rules, ...firehose.taps.flatMap(({ rules }) => rules)]
  })

interface ShownPlatform {
  readonly summary: string
  readonly stream: { readonly state: string }
  readonly rules: { readonly drift: { readonly newer?: number; readonly orphaned: number } }
  readonly coverage: {
    readonly gaps: ReadonlyArray<{ readonly cause: string; readonly recovered: boolean; readonly to?: string }>
  }
}

const platformsOf = async (running: Served): Promise<ReadonlyArray<ShownPlatform>> =>
  (await call(targetOf(running), "/platforms/status")).body["platforms"] as unknown as ReadonlyArray<ShownPlatform>
