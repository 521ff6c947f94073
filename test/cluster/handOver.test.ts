/** How long a stream is closed when its owner stops, is killed or is frozen. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import { sized } from "../long.ts"
import { temporaryDatabase } from "../stores.ts"
import { makeFleet, type Server } from "./fleet.ts"
import { createRules } from "./publisher.ts"
import { SAMPLE_MILLIS } from "./simulator.ts"

const RUNS = sized(1, 50)

/** The short form runs beside other tests, which take the machine's time. */
const MAX_HAND_OVER_MILLIS = sized(5_000, 1_000)

const MAX_TAKE_OVER_MILLIS = sized(20_000, 10_000)

describe("the owner of a stream", { timeout: sized(240_000, 3_600_000) }, () => {
  it.scopedLive("hands it over on SIGTERM, without waiting for its lock to expire", () =>
    // Without the time that X takes to notice a closed connection.
    Effect.flatMap(startFleet({ dead_slot_seconds: 0 }), ({ simulator, ...fleet }) =>
      Effect.promise(async () => {
        const gaps: Array<number> = []
        for (const platform of platformsOf(RUNS)) {
          const owner = fleet.ownerOf(platform) ?? assert.fail(`${platform} has no owner`)
          const before = simulator.open(platform).at(-1) ?? assert.fail(`${platform} has no stream`)
          await owner.stop()
          await fleet.reopened(platform, before.openedAt)
          const after = simulator.connections(platform).find(({ openedAt }) => openedAt > before.openedAt)
          gaps.push((after?.openedAt ?? Number.POSITIVE_INFINITY) - before.seenAt)
          await owner.start()
          await fleet.isSettled()
        }
        report("gap after SIGTERM", gaps)
        // The end of a stream is known to the sample before it.
        assert.isAtMost(Math.max(...gaps), MAX_HAND_OVER_MILLIS + SAMPLE_MILLIS)
      })
    )
  )

  const interruptions = [
    ["SIGSTOP", async (server: Server) => server.freeze(), async (server: Server) => server.wake()],
    // The short form is in `findings.test.ts`.
    ["kill -9", (server: Server) => server.kill(), (server: Server) => server.start()]
  ] as const
  for (const [what, interrupt, revive] of interruptions.slice(0, sized(1, 2))) {
    it.scopedLive(`loses it to another server after ${what}`, () =>
      Effect.flatMap(startFleet({}), (fleet) =>
        Effect.promise(async () => {
          const times: Array<number> = []
          for (const platform of platformsOf(RUNS)) {
            const owner = fleet.ownerOf(platform) ?? assert.fail(`${platform} has no owner`)
            const at = Date.now()
            await interrupt(owner)
            times.push(await fleet.reopened(platform, at))
            await revive(owner)
            await fleet.isSettled()
          }
          report(`take-over after ${what}`, times)
          assert.isAtMost(Math.max(...times), MAX_TAKE_OVER_MILLIS)
        })
      )
    )
  }
})

// ---- helpers ----

const startFleet = (x: { readonly dead_slot_seconds?: number }) =>
  Effect.gen(function* () {
    const { url } = yield* temporaryDatabase
    // X allows 50 connections in 15 minutes, fewer than the long form needs.
    const limits = { stream_limit: 1_000, connections_limit: 1_000 }
    const fleet = yield* makeFleet({ database: url, servers: sized(2, 3), simulator: { x: { ...limits, ...x } } })
    yield* Effect.promise(async () => {
      await fleet.startAll()
      await createRules(fleet.servers[0] ?? assert.fail("There is no server"))
      await fleet.isSettled()
    })
    return fleet
  })

/** In turns. */
const platformsOf = (runs: number): ReadonlyArray<PlatformId> =>
  Array.from({ length: runs }, (_, run) => PLATFORM_IDS[run % PLATFORM_IDS.length] ?? "x")

const report = (what: string, millis: ReadonlyArray<number>) => {
  const sorted = [...millis].sort((a, b) => a - b)
  console.log(
    `${what}: p50 ${sorted[Math.floor(sorted.length / 2)]} ms, worst ${sorted.at(-1)} ms, ${millis.length} runs`
  )
}
