/** Many rules on the stream of Bluesky, and servers that are stopped and killed again and again: no match is lost. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { seeded } from "../../../adapters/demo/random.ts"
import type { Jetstream } from "../../../simulator/bluesky/Jetstream.ts"
import * as Simulator from "../../../simulator/Simulator.ts"
import { serve as serveSimulator } from "../../../simulator/server.ts"
import { until } from "../../eventually.ts"
import { isLong, sized } from "../../long.ts"
import { KEY, type Running, START_MILLIS, startService } from "../../program.ts"
import { temporaryDatabase, temporaryFolder } from "../../stores.ts"

interface Plan {
  readonly servers: number
  readonly rules: number
  readonly seconds: number
  readonly restarts: number
}

const alone: Plan = sized(
  { servers: 1, rules: 50, seconds: 6, restarts: 1 },
  { servers: 1, rules: 10_000, seconds: 600, restarts: 5 }
)

const several: Plan = { servers: 3, rules: 500, seconds: 90, restarts: 5 }

const POSTS_PER_SECOND = 40
const WORDS_PER_POST = 5

const places: ReadonlyArray<readonly [string, Plan, Effect.Effect<Settings, unknown, Scope.Scope>]> = [
  ["a server", alone, Effect.map(temporaryFolder, (EARSHOT_DATA_DIR) => ({ EARSHOT_DATA_DIR }))],
  ...(isLong
    ? [
        [
          "three servers on one Postgres",
          several,
          Effect.map(temporaryDatabase, ({ url }) => ({ DATABASE_URL: Redacted.value(url) }))
        ] as const
      ]
    : [])
]

describe("many rules on Bluesky", () => {
  for (const [name, plan, storeOf] of places) {
    const { rules, seconds, restarts } = plan
    it.scopedLive(
      `store each match of ${rules} rules once on ${name}, in ${seconds} s with ${restarts} restarts`,
      () =>
        Effect.gen(function* () {
          const simulator = yield* Simulator.make({ seed: 1 })
          const port = yield* serveSimulator(simulator, { host: "127.0.0.1", port: 0 })
          const settings = {
            EARSHOT_BLUESKY: "on",
            BLUESKY_BASE_URL: `http://127.0.0.1:${port}`,
            ...(yield* storeOf)
          }
          const result = yield* Effect.promise(() => run(simulator.jetstream, settings, plan))
          const { expected, found } = result
          const cost = `${Math.round((100 * result.cpuSeconds) / result.seconds)} % of a core, ${result.mebibytes} MiB`
          console.log(`${expected.size} matches of ${rules} rules in ${Math.round(result.seconds)} s: ${cost}`)
          const once = new Set(found)
          assert.strictEqual(found.length, once.size, "each match is stored once")
          assert.deepStrictEqual([...expected].filter((name) => !once.has(name)).slice(0, 10), [], "lost")
          assert.deepStrictEqual([...once].filter((name) => !expected.has(name)).slice(0, 10), [], "not expected")
          assert.isAbove(expected.size, POSTS_PER_SECOND * seconds)
        }),
      (seconds + rules / 10) * 1_000 + 3 * START_MILLIS
    )
  }
})

// ---- helpers ----

type Settings = Readonly<Record<string, string>>

/** Of its rule and its post, as `pageOf` reads them. */
const nameOf = (ruleId: string, postId: string) => `${ruleId} ${postId}`

const run = async (jetstream: Jetstream, settings: Settings, plan: Plan) => {
  const start = () => startService("node", settings)
  const servers = [await start()]
  while (servers.length < plan.servers) servers.push(await start())
  const server = () => servers[0] ?? assert.fail("There is no server")
  const ids = await createRules(server(), plan.rules)
  await until("the stream is open", () => jetstream.connected > 0)
  const used = { cpuSeconds: 0, mebibytes: 0 }
  const measure = async (measured: Running) => {
    const { cpuSeconds, mebibytes } = await usageOf(measured)
    used.cpuSeconds += cpuSeconds
    used.mebibytes = Math.max(used.mebibytes, mebibytes)
  }
  const before = await Promise.all(servers.map(usageOf))
  const startedAt = Date.now()
  const publishing = publish(jetstream, ids, plan)
  for (let restart = 0; restart < plan.restarts; restart++) {
    await sleep((plan.seconds * 1_000) / (plan.restarts + 1))
    const index = restart % servers.length
    const stopped = servers[index] ?? assert.fail("There is no server")
    await measure(stopped)
    stopped.signal(restart % 2 === 0 ? "SIGKILL" : "SIGTERM")
    await stopped.ended
    servers[index] = await start()
  }
  const expected = await publishing
  const last = [...expected].at(-1) ?? assert.fail("no post matches")
  await until(
    "everything is stored",
    async () => {
      // A post that was made after the start shows that the stream has caught up.
      jetstream.publish(
        { did: "did:plc:calm", commit: { rkey: `${Date.now()}`, record: { text: "calm" } } },
        Date.now()
      )
      const { names, gaps } = await pageOf(server())
      return names.includes(last) && gaps.every(({ to }) => to < startedAt)
    },
    120
  )
  for (const left of servers) await measure(left)
  const seconds = (Date.now() - startedAt) / 1_000
  const found = await allOf(server())
  for (const left of servers) await left.stop()
  const cpuSeconds = before.reduce((sum, usage) => sum - usage.cpuSeconds, used.cpuSeconds)
  return { expected, found, ...used, cpuSeconds, seconds }
}

/** The ids of the rules. Each has a word of its own. */
const createRules = async (server: Running, count: number): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  const create = async (index: number) => {
    const filter = index % 10 === 0 ? `(word${index} OR other${index}) lang:en` : `word${index} -calm`
    const draft = { name: `Rule ${index}`, intent: "Load", platforms: ["bluesky"], overrides: { bluesky: filter } }
    const { rule_id } = (await ask(server, "/api.CreateRule", draft)) as { readonly rule_id: string }
    ids[index] = rule_id
  }
  const next = Array.from({ length: count }, (_, index) => index).values()
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (const index of next) await create(index)
    })
  )
  return ids
}

/** Returns the names of the matches that must be stored, in order. */
const publish = async (
  jetstream: Jetstream,
  ids: ReadonlyArray<string>,
  { rules, seconds }: Plan
): Promise<ReadonlySet<string>> => {
  const random = seeded(1)
  const expected = new Set<string>()
  const startedAt = Date.now()
  for (let number = 0; number < POSTS_PER_SECOND * seconds; number++) {
    await sleep(startedAt + (number * 1_000) / POSTS_PER_SECOND - Date.now())
    const did = `did:plc:author${number % 100}`
    const rkey = `post${number}`
    const words = Array.from({ length: WORDS_PER_POST }, () => random.below(2 * rules))
    jetstream.publish(
      { did, commit: { rkey, record: { text: words.map((word) => `word${word}`).join(" "), langs: ["en"] } } },
      Date.now()
    )
    for (const word of words) {
      const id = ids[word]
      if (id !== undefined) expected.add(nameOf(id, `at://${did}/app.bsky.feed.post/${rkey}`))
    }
  }
  return expected
}

/** Since its start. */
const usageOf = async ({ url }: Running) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const valuesOf = (name: string) =>
    [...text.matchAll(new RegExp(`^earshot_${name}(?:{.*})? (.+)$`, "gm"))].map(([, value]) => Number(value))
  const [user = assert.fail("no CPU time"), system = 0] = valuesOf("process_cpu_seconds_total")
  const [bytes = assert.fail("no memory")] = valuesOf("process_resident_memory_bytes")
  return { cpuSeconds: user + system, mebibytes: Math.round(bytes / 1_048_576) }
}

const allOf = async (server: Running): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  let cursor: string | undefined
  do {
    const page = await pageOf(server, cursor)
    found.push(...page.names)
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

/** The newest matches, or those before the cursor, and the gaps that are not recovered. */
const pageOf = async (server: Running, cursor?: string) => {
  const { matches, coverage, next_cursor } = (await ask(server, "/matches", {
    platform: "bluesky",
    limit: 500,
    ...(cursor !== undefined && { cursor })
  })) as Page
  return {
    names: matches.map(({ rule_id, platform_post_id }) => nameOf(rule_id, platform_post_id)),
    gaps: coverage.platforms.flatMap(({ gaps }) =>
      gaps.flatMap(({ to, recovered }) => (recovered ? [] : [{ to: to === undefined ? Infinity : Date.parse(to) }]))
    ),
    cursor: next_cursor
  }
}

interface Page {
  readonly matches: ReadonlyArray<{ readonly rule_id: string; readonly platform_post_id: string }>
  readonly coverage: {
    readonly platforms: ReadonlyArray<{
      readonly gaps: ReadonlyArray<{ readonly to?: string; readonly recovered: boolean }>
    }>
  }
  readonly next_cursor?: string
}

const ask = async ({ url }: Running, path: string, body: unknown): Promise<unknown> => {
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  assert.strictEqual(answer.status, 200)
  return answer.json()
}
