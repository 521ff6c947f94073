/** Three servers on one Postgres under seeded faults: nothing is lost outside of reported gaps, or stored twice. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { seeded } from "../../adapters/demo/random.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import { startPostgres } from "../../fixtures/postgres.ts"
import { isLong, sized } from "../long.ts"
import { temporaryDatabase } from "../stores.ts"
import { type DoneFault, FAULT_KINDS, injectAll, planFaults } from "./faults.ts"
import { type Fleet, makeFleet } from "./fleet.ts"
import { differencesOf, type Facts } from "./oracle.ts"
import { createRules, listed, type Published, type Rule, startPublisher } from "./publisher.ts"
import { logWrites, readWrites } from "./writes.ts"

/** One that cuts off and stops owners, with clocks that differ. Kills and freezes: `handOver.test.ts`, `findings.test.ts`. */
const SEEDS = sized(
  [119],
  Array.from({ length: 200 }, (_, index) => index + 1)
)

const CLOCK_AHEAD_MILLIS = 60_000

describe("three servers with faults", { timeout: 300_000 }, () => {
  for (const seed of SEEDS) {
    it.scopedLive(`seed ${seed}: each event is stored once or in a reported gap, by one owner at a time`, () =>
      Effect.gen(function* () {
        const { expected, faults, differences } = yield* faultRun(seed)
        assert.isAbove(expected, 100, "events that match")
        assert.deepStrictEqual(differences.slice(0, 10), [], `after ${JSON.stringify(faults)}`)
      })
    )
  }
})

// ---- helpers ----

const faultRun = (seed: number) =>
  Effect.gen(function* () {
    const random = seeded(seed)
    const hasOwnPostgres = isLong && seed % 4 === 0
    const clockAhead = seed % 5 === 4 ? CLOCK_AHEAD_MILLIS : 0
    const postgres = yield* hasOwnPostgres ? ownPostgres : sharedPostgres
    const fleet = yield* makeFleet({
      database: postgres.url,
      servers: 3,
      seed,
      tier: seed % 2 === 0 ? "enterprise" : "pay-per-use",
      lastClockAhead: clockAhead
    })
    const plan = planFaults(random, {
      kinds: hasOwnPostgres ? [...FAULT_KINDS, "restart of Postgres"] : FAULT_KINDS,
      count: sized(3, 4),
      everyMillis: sized(2_000, 5_000),
      maxMillis: sized(8_000, seed % 5 === 0 ? 35_000 : 15_000)
    })
    return yield* Effect.promise(async () => {
      await fleet.startAll()
      await logWrites(fleet)
      const rules = await createRules(fleet.servers[0] ?? assert.fail("There is no server"))
      await fleet.isWatching()
      const publisher = startPublisher(fleet.simulator, seed)
      await sleep(1_000)
      const faults = await injectAll(fleet, { plan, random, restartPostgres: postgres.restart })
      const settled = await fleet.isSettled().then(
        () => [],
        (cause: unknown) => [String(cause)]
      )
      await sleep(1_000)
      await publisher.stop()
      const differences = await settledDifferences(fleet, { published: publisher.published, rules, faults })
      const failures = fleet.servers.flatMap((server) => server.failures)
      return { expected: publisher.published.length, faults, differences: [...settled, ...failures, ...differences] }
    })
  })

interface Run {
  readonly published: ReadonlyArray<Published>
  readonly rules: ReadonlyArray<Rule>
  readonly faults: ReadonlyArray<DoneFault>
}

/** The first time without a difference; after 20 seconds, the last. */
const settledDifferences = async (fleet: Fleet, run: Run): Promise<ReadonlyArray<string>> => {
  const end = Date.now() + 20_000
  for (;;) {
    const differences = await factsOf(fleet, run).then(differencesOf, (cause: unknown) => [String(cause)])
    if (differences.length === 0 || Date.now() > end) return differences
    await sleep(1_000)
  }
}

const factsOf = async (fleet: Fleet, { rules, ...run }: Run): Promise<Facts> => {
  const answers: Array<Facts["answers"][number]> = []
  for (const server of fleet.up()) {
    for (const rule of rules) answers.push({ server: server.name, rule, listed: await listed(server, rule) })
  }
  const connections = PLATFORM_IDS.flatMap(fleet.simulator.connections)
  return {
    ...run,
    answers,
    writes: await readWrites(fleet),
    connections: connections.map((connection) => ({ ...connection, server: fleet.serverOf(connection).name }))
  }
}

const sharedPostgres = Effect.map(temporaryDatabase, ({ url }) => ({
  url,
  restart: () => Promise.reject(new Error("Other tests use this server"))
}))

const ownPostgres = Effect.acquireRelease(
  Effect.promise(() => startPostgres()),
  ({ remove }) => Effect.promise(remove)
).pipe(
  Effect.map(({ url, stop, start }) => ({
    url: Redacted.make(url),
    restart: async (downMillis: number) => {
      await stop()
      await sleep(downMillis)
      await start()
    }
  }))
)
