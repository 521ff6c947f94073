/** Kills the real program while requests with idempotency keys run: each key has one effect, and one answer. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type Random, seeded } from "../adapters/demo/random.ts"
import { CHANGE_FAILPOINTS, type Failpoint, RULE_FAILPOINTS } from "../core/model/Failpoints.ts"
import { sized } from "./long.ts"
import { KEY, RUNTIMES, type Running, type RuntimeName, START_MILLIS, startService } from "./program.ts"
import { temporaryDatabase, temporaryFolder } from "./stores.ts"

type Settings = Readonly<Record<string, string>>

const embedded = Effect.map(temporaryFolder, (folder): Settings => ({ EARSHOT_DATA_DIR: folder }))

const postgres = Effect.map(temporaryDatabase, ({ url }): Settings => ({ DATABASE_URL: Redacted.value(url) }))

const SHORT = { creates: 24, kills: 2 }
const LONG = { creates: 1_000, kills: 25 }

type Failpoints = Readonly<Record<"create" | "delete" | "update" | "shadow" | "drop", ReadonlyArray<Failpoint>>>

const failpointsOf = (...operations: ReadonlyArray<string>): readonly [Failpoint, ...ReadonlyArray<Failpoint>] => [
  "idempotency.claimed",
  ...[...RULE_FAILPOINTS, ...CHANGE_FAILPOINTS].filter((name) => operations.some((one) => name.startsWith(one))),
  "idempotency.kept"
]

const CREATE_FAILPOINTS = failpointsOf("create")

const ALL_FAILPOINTS: Failpoints = {
  create: CREATE_FAILPOINTS,
  delete: failpointsOf("delete"),
  // Its filter on one platform is registered, and the old one removed.
  update: [
    "idempotency.claimed",
    "create.reserved",
    "create.registered",
    "create.activated",
    "update.changed",
    "delete.unregistered",
    "delete.removed",
    "idempotency.kept"
  ],
  shadow: ["idempotency.claimed", "create.reserved", "create.registered", "create.activated", "idempotency.kept"],
  drop: ["idempotency.claimed", "delete.unregistered", "delete.removed", "idempotency.kept"]
}

describe("kill -9 during a request with an idempotency key", () => {
  const cases: ReadonlyArray<readonly [string, RuntimeName, typeof embedded | typeof postgres, Failpoints]> = [
    [
      "the embedded store, on Node",
      "node",
      embedded,
      sized<Failpoints>({ create: [], delete: [], update: ["update.changed"], shadow: [], drop: [] }, ALL_FAILPOINTS)
    ],
    [
      "Postgres, on Node",
      "node",
      postgres,
      sized<Failpoints>({ create: ["create.registered"], delete: [], update: [], shadow: [], drop: [] }, ALL_FAILPOINTS)
    ],
    ["the embedded store, on Deno", "deno", embedded, ALL_FAILPOINTS]
  ]
  for (const [where, runtime, open, failpoints] of cases.filter(([, runtime]) => RUNTIMES.includes(runtime))) {
    it.scopedLive(
      `at each failpoint leaves one effect, and the answer, with ${where}`,
      () =>
        Effect.gen(function* () {
          const settings = yield* open
          const start = (more: Settings = {}) => starting(runtime, { ...settings, ...more })
          /** Sends a request to a service that is killed at the failpoint, and twice to the next one. */
          const acrossKill = (failpoint: Failpoint, path: string, body: unknown) =>
            Effect.gen(function* () {
              const key = `${path} at ${failpoint}`
              const crashing = yield* start({ EARSHOT_CRASH_AT: failpoint })
              assert.isUndefined(yield* send(crashing, path, body, key), "the connection ends without an answer")
              assert.isNull((yield* Effect.promise(() => crashing.ended)).code, `it was killed at ${failpoint}`)
              const next = yield* start()
              const answer = yield* sendUntilDone(Effect.succeed(next), { path, body, key })
              const again = yield* sendUntilDone(Effect.succeed(next), { path, body, key })
              assert.deepStrictEqual(again, { ...answer, isReplayed: true })
              const rules = yield* rulesOf(next)
              yield* Effect.promise(() => next.stop())
              return { answer, rules }
            })

          const first = yield* start()
          /** With a rule for each failpoint. */
          const withRules = (what: string, at: ReadonlyArray<Failpoint>, hasShadow = false) =>
            Effect.forEach(at, (failpoint) =>
              Effect.gen(function* () {
                const target = Effect.succeed(first)
                const key = `${what} at ${failpoint}`
                const rule_id = ruleIdOf(yield* sendUntilDone(target, { path: CREATE, body: draft(key), key }))
                if (hasShadow) {
                  const body = { rule_id, overrides: { x: `"shadow at ${failpoint}"` } }
                  yield* sendUntilDone(target, { path: "/api.ShadowRule", body, key })
                }
                return [failpoint, rule_id] as const
              })
            )
          const deletes = yield* withRules("deleted", failpoints.delete)
          const updates = yield* withRules("updated", failpoints.update)
          const shadows = yield* withRules("shadowed", failpoints.shadow)
          const drops = yield* withRules("dropped", failpoints.drop, true)
          yield* Effect.promise(() => first.stop())

          for (const failpoint of failpoints.create) {
            const name = `made at ${failpoint}`
            const { answer, rules } = yield* acrossKill(failpoint, CREATE, draft(name))
            const made = rules.filter((rule) => rule.name === name).map(({ id }) => id)
            assert.deepStrictEqual(made, [ruleIdOf(answer)], failpoint)
            assert.strictEqual(answer.isReplayed, isAfter(failpoint, "create.activated"), failpoint)
          }
          for (const [failpoint, rule_id] of deletes) {
            const { answer, rules } = yield* acrossKill(failpoint, "/api.DeleteRule", { rule_id })
            assert.deepStrictEqual(JSON.parse(answer.body), { rule_id }, failpoint)
            assert.isUndefined(rules.find(({ id }) => id === rule_id))
            assert.strictEqual(answer.isReplayed, isAfter(failpoint, "delete.hidden"), failpoint)
          }
          for (const [failpoint, rule_id] of updates) {
            const body = { rule_id, overrides: { x: `"${failpoint}"` }, expected_version: 1 }
            const { answer, rules } = yield* acrossKill(failpoint, "/api.UpdateRule", body)
            assert.deepStrictEqual(rules.find(({ id }) => id === rule_id)?.version, 2, failpoint)
            assert.strictEqual(JSON.parse(answer.body).rule.version, 2, failpoint)
            assert.strictEqual(answer.isReplayed, isAfter(failpoint, "update.changed"), failpoint)
          }
          for (const [failpoint, rule_id] of shadows) {
            const body = { rule_id, overrides: { x: `"${failpoint}"` } }
            const { answer, rules } = yield* acrossKill(failpoint, "/api.ShadowRule", body)
            assert.isDefined(rules.find(({ id }) => id === rule_id)?.shadow, failpoint)
            assert.isDefined(JSON.parse(answer.body).rule.shadow, failpoint)
            assert.strictEqual(answer.isReplayed, isAfter(failpoint, "create.activated"), failpoint)
          }
          for (const [failpoint, rule_id] of drops) {
            const { answer, rules } = yield* acrossKill(failpoint, "/api.DropShadow", { rule_id })
            assert.isUndefined(rules.find(({ id }) => id === rule_id)?.shadow, failpoint)
            assert.isUndefined(JSON.parse(answer.body).rule.shadow, failpoint)
          }
        }),
      sized(6, 40) * START_MILLIS
    )
  }

  const runs: ReadonlyArray<readonly [string, RuntimeName, typeof embedded | typeof postgres, Size]> = [
    ["two servers on Postgres", "node", postgres, { ...sized(SHORT, LONG), servers: 2 }],
    ["the embedded store", "node", embedded, { ...LONG, servers: 1 }]
  ]
  for (const [where, runtime, open, size] of runs.slice(0, sized(1, 2))) {
    it.scopedLive(
      `at random times makes as many rules as keys: ${size.creates} creates with ${size.kills} kills on ${where}`,
      () =>
        Effect.gen(function* () {
          const settings = yield* open
          const random = seeded(size.creates)
          const fleet = yield* startFleet(runtime, settings, { ...size, random })
          const answers = yield* Effect.forEach(
            Array.from({ length: size.creates }, (_, i) => `rule ${i}`),
            (name) =>
              Effect.gen(function* () {
                const request = { path: CREATE, body: draft(name), key: name }
                const first = yield* sendUntilDone(fleet.any, request)
                yield* fleet.countAnswer
                const second = yield* sendUntilDone(fleet.any, request)
                assert.strictEqual(second.body, first.body, name)
                assert.isTrue(second.isReplayed, name)
                return [ruleIdOf(first), name] as const
              }),
            { concurrency: 8 }
          )
          yield* fleet.allKills
          const rules = yield* rulesOf(yield* fleet.any)
          assert.sameDeepMembers(
            rules.map(({ id, name }) => [id, name]),
            answers.map((answer) => [...answer])
          )
        }),
      sized(10, 60) * START_MILLIS
    )
  }
})

// ---- helpers ----

const CREATE = "/api.CreateRule"

interface Size {
  readonly creates: number
  readonly kills: number
  readonly servers: number
}

interface Answer {
  readonly body: string
  readonly isReplayed: boolean
}

interface ListedRule {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly shadow?: unknown
}

interface KeyedRequest {
  readonly path: string
  readonly body: unknown
  readonly key: string
}

/** Whether a request that is killed there has passed the decisive failpoint, after which its answer is kept. */
const isAfter = (failpoint: Failpoint, decisive: Failpoint): boolean => {
  const order: ReadonlyArray<Failpoint> = [
    "idempotency.claimed",
    ...RULE_FAILPOINTS.filter((name) => name.startsWith("create")),
    ...CHANGE_FAILPOINTS,
    ...RULE_FAILPOINTS.filter((name) => name.startsWith("delete")),
    "idempotency.kept"
  ]
  return order.indexOf(failpoint) >= order.indexOf(decisive)
}

const starting = (runtime: RuntimeName, settings: Settings) =>
  Effect.acquireRelease(
    Effect.promise(() => startService(runtime, { ...settings, X_RULES_PER_ACCOUNT: "0" })),
    (service) =>
      Effect.promise(() => {
        service.signal("SIGKILL")
        return service.ended
      })
  )

const draft = (name: string) => ({
  name,
  intent: "Survive",
  platforms: ["x", "firehose"],
  overrides: { x: `"${name}"`, firehose: `"${name}"` }
})

/** Undefined if there was no answer. */
const send = (service: Running, path: string, body: unknown, key: string) =>
  Effect.promise(async () => {
    try {
      const response = await fetch(`${service.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(body)
      })
      const isReplayed = response.headers.get("idempotent-replayed") === "true"
      return { status: response.status, body: await response.text(), isReplayed }
    } catch {
      return undefined
    }
  })

/** Sends it again as long as there is no answer, or one that asks to try again. */
const sendUntilDone = (service: Effect.Effect<Running>, { path, body, key }: KeyedRequest): Effect.Effect<Answer> =>
  Effect.gen(function* () {
    for (;;) {
      const answer = yield* send(yield* service, path, body, key)
      if (answer?.status === 200) return { body: answer.body, isReplayed: answer.isReplayed }
      if (answer !== undefined) assert.include([409, 503], answer.status, answer.body)
      yield* Effect.sleep("100 millis")
    }
  })

const ruleIdOf = ({ body }: Answer): string => String(JSON.parse(body).rule_id)

const rulesOf = (service: Running) =>
  Effect.promise(async () => {
    const response = await fetch(`${service.url}/api.ListRules`, { headers: { authorization: `Bearer ${KEY}` } })
    const { rules } = (await response.json()) as { rules: ReadonlyArray<ListedRule> }
    return rules
  })

/** Servers that are killed in turn while they answer: at a random time, or at a random failpoint. */
const startFleet = (
  runtime: RuntimeName,
  settings: Settings,
  { creates, kills, servers, random }: Size & { readonly random: Random }
) =>
  Effect.gen(function* () {
    const interval = Math.floor(creates / (kills + 1))
    const fleet: [Running, ...Array<Running>] = [yield* starting(runtime, settings)]
    while (fleet.length < servers) fleet.push(yield* starting(runtime, settings))
    let answers = 0

    const killing = Effect.gen(function* () {
      for (let kill = 1; kill <= kills; kill++) {
        const place = kill % servers
        const service = fleet[place]
        if (service === undefined) continue
        const isDue = Effect.repeat(
          Effect.delay(
            Effect.sync(() => answers >= kill * interval),
            "5 millis"
          ),
          {
            until: (isTrue) => isTrue
          }
        )
        yield* Effect.race(
          Effect.delay(isDue, random.below(50)),
          Effect.promise(() => service.ended)
        )
        service.signal("SIGKILL")
        yield* Effect.promise(() => service.ended)
        // The next one may kill itself.
        const crashes = kill < kills && random.chance(0.5)
        const crashAt = `${random.pick(CREATE_FAILPOINTS)}:${random.below(interval)}`
        fleet[place] = yield* starting(runtime, { ...settings, ...(crashes && { EARSHOT_CRASH_AT: crashAt }) })
      }
    })

    return {
      any: Effect.sync(() => random.pick(fleet)),
      countAnswer: Effect.sync(() => ++answers),
      allKills: yield* Effect.forkScoped(killing)
    }
  })
