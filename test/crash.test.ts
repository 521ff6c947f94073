/** Kills the real program at every failpoint of creating and deleting a rule, and checks the state after a restart. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import pg from "pg"
import type { Match } from "../core/matches/Match.ts"
import { type Failpoint, RULE_FAILPOINTS } from "../core/model/Failpoints.ts"
import type { Rule } from "../core/rules/Rule.ts"
import * as Simulator from "../simulator/Simulator.ts"
import { serve } from "../simulator/server.ts"
import { untilTrue } from "./eventually.ts"
import { sized } from "./long.ts"
import { KEY, RUNTIMES, type Running, type RuntimeName, startService } from "./program.ts"
import { temporaryDatabase, temporaryFolder } from "./stores.ts"

interface Store {
  readonly settings: Readonly<Record<string, string>>
  /** On a shared store, unfinished work of another process is only taken over after a minute. */
  readonly skipMinute: Effect.Effect<void>
}

// Several services in turn use this folder. The default one is deleted with its service.
const embedded = Effect.map(
  temporaryFolder,
  (folder): Store => ({ settings: { EARSHOT_DATA_DIR: folder }, skipMinute: Effect.void })
)

const postgres = Effect.map(temporaryDatabase, ({ url }): Store => {
  const skipMinute = Effect.promise(async () => {
    const client = new pg.Client({ connectionString: Redacted.value(url) })
    await client.connect()
    await client.query("update registrations set since = since - interval '2 minutes'")
    await client.end()
  })
  return { settings: { DATABASE_URL: Redacted.value(url) }, skipMinute }
})

const cases: ReadonlyArray<
  readonly [string, RuntimeName, ReadonlyArray<Failpoint>, typeof embedded | typeof postgres]
> = [
  ["the embedded store, on Node", "node", sized<ReadonlyArray<Failpoint>>([], RULE_FAILPOINTS), embedded],
  [
    "Postgres, on Node",
    "node",
    sized<ReadonlyArray<Failpoint>>(["create.registered", "delete.hidden"], RULE_FAILPOINTS),
    postgres
  ],
  ["the embedded store, on Deno", "deno", ["create.registered", "delete.unregistered-first"], embedded]
]

describe("kill -9", () => {
  for (const [where, runtime, steps, open] of cases.filter(
    ([, runtime, steps]) => RUNTIMES.includes(runtime) && steps.length > 0
  )) {
    it.scopedLive(`at each failpoint leaves no partial rule, with ${where}`, () =>
      Effect.gen(function* () {
        const store = yield* open
        const platforms = yield* startPlatforms
        const start = (more: Readonly<Record<string, string>>) =>
          Effect.promise(() => startService(runtime, { ...platforms.settings, ...store.settings, ...more }))

        const first = yield* start({})
        yield* platforms.addForeign("foreign words")
        const kept = yield* create(first, "keeper")
        yield* Effect.promise(() => first.stop())

        for (const step of steps) {
          const service = yield* start({ EARSHOT_CRASH_AT: step })
          yield* assertConsistent(service, platforms, ["keeper"])
          const isDelete = step.startsWith("delete")
          if (isDelete) {
            const deleted = yield* create(service, `deleted by ${step}`)
            yield* expectFailure(call(service, "/api.DeleteRule", { rule_id: deleted }))
          } else {
            yield* expectFailure(create(service, `made by ${step}`))
          }
          assert.isNull((yield* Effect.promise(() => service.ended)).code, `it was killed at ${step}`)

          yield* store.skipMinute
          const again = yield* start({})
          const isMade = step === "create.activated"
          yield* assertConsistent(again, platforms, isMade ? ["keeper", `made by ${step}`] : ["keeper"])
          const [made] = (yield* rulesOf(again)).filter(({ id }) => id !== kept)
          if (made !== undefined) yield* call(again, "/api.DeleteRule", { rule_id: made.id })
          yield* untilTrue(
            `the kept rule still gets its matches after ${step}`,
            Effect.gen(function* () {
              yield* platforms.publish(`keeper after ${step}`)
              const { matches } = yield* call(again, "/matches", { rule_id: kept })
              const found = (matches as ReadonlyArray<Match>).filter((m) => JSON.stringify(m.payload).includes(step))
              return new Set(found.map(({ platform }) => platform)).size === 2
            })
          )
          yield* Effect.promise(() => again.stop())
        }
      })
    )
  }
})

// ---- helpers ----

/** Simulates both platforms over HTTP. */
const startPlatforms = Effect.gen(function* () {
  const simulator = yield* Simulator.make({ seed: 1, settings: { x: { dead_slot_seconds: 0 } } })
  const url = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
  const { x, firehose } = simulator.control.settings
  let last = 0
  const post = (path: string, token: string, body: unknown) =>
    Effect.promise(() =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
    )
  return {
    settings: {
      X_BASE_URL: url,
      X_BEARER_TOKEN: x.bearer_token,
      FIREHOSE_BASE_URL: url,
      FIREHOSE_TAP_TOKEN: firehose.tap_token
    },
    addForeign: (value: string) =>
      Effect.zipRight(
        post("/2/tweets/search/stream/rules", x.bearer_token, { add: [{ value }] }),
        post("/v1/rules", firehose.tap_token, { value })
      ),
    publish: (text: string) => {
      const number = ++last
      return Effect.orDie(
        simulator.control.publish([
          { data: { id: String(number), text } },
          {
            document: {
              url: `https://news.example.com/${number}`,
              publish_time: new Date().toISOString().slice(0, 19),
              diff: { chunks: [{ typ: "ins", text }] }
            }
          }
        ])
      )
    },
    /** The rules of each platform by id. */
    upstream: Effect.map(simulator.control.state, (state) => ({
      x: new Map(state.x.rules.map(({ id, value }) => [id, value])),
      firehose: new Map(
        state.firehose.taps.flatMap((tap) =>
          (tap["rules"] as ReadonlyArray<{ id: string; value: string }>).map(({ id, value }) => [id, value] as const)
        )
      )
    }))
  }
})

type Platforms = Effect.Effect.Success<typeof startPlatforms>

const call = (service: Running, path: string, body?: unknown) =>
  Effect.promise(async () => {
    const answer = await fetch(`${service.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const json = (await answer.json()) as Readonly<Record<string, unknown>>
    assert.strictEqual(answer.status, 200, JSON.stringify(json))
    return json
  })

const create = (service: Running, text: string) =>
  Effect.map(
    call(service, "/api.CreateRule", {
      name: text,
      intent: "Survive",
      platforms: ["x", "firehose"],
      overrides: { x: `"${text}"`, firehose: `"${text}"` }
    }),
    (answer) => String(answer["rule_id"])
  )

const expectFailure = (request: Effect.Effect<unknown>) =>
  Effect.flatMap(Effect.exit(request), (exit) => {
    assert.strictEqual(exit._tag, "Failure", "the connection ends without an answer")
    return Effect.void
  })

const rulesOf = (service: Running) =>
  Effect.map(call(service, "/api.ListRules"), (answer) => answer["rules"] as ReadonlyArray<Rule>)

/** The store has exactly these rules. Each platform has them, under the stored ids, and the foreign rule. */
const assertConsistent = (service: Running, simulated: Platforms, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* untilTrue(
      `store and platforms agree on ${names.join(", ")}`,
      Effect.map(
        simulated.upstream,
        ({ x, firehose }) => x.size === names.length + 1 && firehose.size === names.length + 1
      )
    )
    const rules = yield* rulesOf(service)
    const { x, firehose } = yield* simulated.upstream
    assert.sameMembers(
      rules.map(({ name }) => name),
      [...names]
    )
    for (const { name, platforms } of rules) {
      assert.strictEqual(x.get(platforms["x"]?.platform_rule_id ?? ""), platforms["x"]?.translated_value, name)
      assert.strictEqual(
        firehose.get(platforms["firehose"]?.platform_rule_id ?? ""),
        platforms["firehose"]?.translated_value
      )
    }
    assert.include([...x.values()], "foreign words")
    assert.include([...firehose.values()], "foreign words")
  })
