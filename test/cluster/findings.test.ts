/** Two servers on one Postgres: one owner per stream, a true ledger, and rules that every server has at once. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import { call, draft, firehoseUpdate, type Target, xPost } from "../gateway/client.ts"
import { isLong, sized } from "../long.ts"
import { KEY, START_MILLIS, startService } from "../program.ts"
import { temporaryDatabase } from "../stores.ts"
import { type Fleet, makeFleet, type Server } from "./fleet.ts"
import { backwardSteps, type Facts, falseGaps, gapsOf } from "./oracle.ts"
import { createRules, listed, type Rule, startPublisher } from "./publisher.ts"
import { logWrites, readWrites } from "./writes.ts"

const ROUNDS = sized(40, 200)

const MAX_TAKE_OVER_MILLIS = 30_000

describe("two servers on one Postgres", { timeout: 4 * START_MILLIS }, () => {
  // The next test does all of this, too, while events arrive.
  it.scopedLive.runIf(isLong)(
    "open one stream per platform, and the other server takes over within 10 seconds after kill -9 (runs in check:long)",
    () =>
      Effect.flatMap(startTwo, ({ fleet }) =>
        Effect.promise(async () => {
          await sleep(3_000)
          await assertOneStreamEach(fleet)

          const owner = fleet.ownerOf("x") ?? assert.fail("x has no owner")
          const interrupted = PLATFORM_IDS.filter((platform) => fleet.ownerOf(platform) === owner)
          const killedAt = Date.now()
          await owner.kill()
          for (const platform of interrupted) {
            const millis = await fleet.reopened(platform, killedAt)
            assert.isAtMost(millis, MAX_TAKE_OVER_MILLIS, `milliseconds until ${platform} was open again`)
          }
        })
      )
  )

  it.scopedLive("never take back what the ledger says: no gap without an outage, and watched_until only advances", () =>
    Effect.flatMap(startTwo, ({ fleet, first, second, rules }) =>
      Effect.promise(async () => {
        const publisher = startPublisher(fleet.simulator, 1)
        await sleep(6_000)
        const answersOf = async (server: Server): Promise<Facts["answers"]> =>
          Promise.all(rules.map(async (rule) => ({ server: server.name, rule, listed: await listed(server, rule) })))
        const whileLive = await answersOf(first)
        await assertOneStreamEach(fleet)
        const earlyGaps = PLATFORM_IDS.flatMap((platform) =>
          gapsOf(whileLive, platform).map((gap) => `a gap while the first server is live: ${JSON.stringify(gap)}`)
        )

        const killedAt = Date.now()
        const interrupted = PLATFORM_IDS.filter((platform) => fleet.ownerOf(platform) === first)
        await first.kill()
        const reopened = await Promise.all(interrupted.map((platform) => fleet.reopened(platform, killedAt))).then(
          (took) =>
            took.filter((millis) => millis > MAX_TAKE_OVER_MILLIS).map((millis) => `open again after ${millis} ms`),
          (cause: unknown) => [String(cause)]
        )
        await sleep(3_000)
        await publisher.stop()
        const writes = await readWrites(fleet)
        const facts = { published: publisher.published, answers: await answersOf(second), writes, connections: [] }
        assert.deepStrictEqual(
          [
            ...earlyGaps,
            ...reopened,
            ...PLATFORM_IDS.flatMap((platform) => [
              ...backwardSteps(writes, platform),
              ...falseGaps(facts, platform).map((gap) => `${platform}: ${gap}`)
            ])
          ],
          []
        )
      })
    )
  )

  it.scopedLive("match each event with every rule that was created before it, on whichever server", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const [first, second] = yield* Effect.all([inProcess(url), inProcess(url)])
      yield* Effect.promise(async () => {
        const lost: Array<string> = []
        for (let round = 1; round <= ROUNDS; round++) {
          const [creating, receiving] = round % 2 === 0 ? [first, second] : [second, first]
          const word = `word${round}`
          const [platform, event] =
            round % 4 < 2
              ? (["x", xPost(word, `a ${word}`)] as const)
              : (["firehose", firehoseUpdate(`https://news.example.com/${word}`, `a ${word}`)] as const)
          assert.strictEqual((await call(creating, "/api.CreateRule", draft(word, [platform]))).status, 200)
          const { status, body } = await call(receiving, "/local/events", event)
          assert.strictEqual(status, 200, JSON.stringify(body))
          if (Number(body["matches"]) !== 1) lost.push(`${platform} ${word}`)
        }
        assert.deepStrictEqual(
          lost.slice(0, 10),
          [],
          `${lost.length} of ${ROUNDS} events did not meet the rule created before them`
        )
      })
    })
  )
})

// ---- helpers ----

/** The second one starts when the first has rules and watches both platforms. */
const startTwo = Effect.gen(function* () {
  const { url } = yield* temporaryDatabase
  const fleet: Fleet = yield* makeFleet({ database: url, servers: 2 })
  const [first, second] = fleet.servers
  if (first === undefined || second === undefined) return yield* Effect.dieMessage("There are not two servers")
  const rules: ReadonlyArray<Rule> = yield* Effect.promise(async () => {
    await first.start()
    await logWrites(fleet)
    const created = await createRules(first)
    await fleet.isWatching()
    await sleep(1_000)
    await second.start()
    return created
  })
  return { fleet, first, second, rules }
})

/** For two servers that have run for some seconds. */
const assertOneStreamEach = async ({ simulator }: Fleet): Promise<void> => {
  const { connection_attempts, violations } = await simulator.state()
  const attempts = connection_attempts.map(({ platform, status }) => `${platform} ${status}`)
  assert.sameMembers(attempts, ["x 200", "firehose 200"])
  assert.deepStrictEqual(violations, [])
}

/** A server with both platforms in process, without a limit on rules. */
const inProcess = (url: Redacted.Redacted): Effect.Effect<Target, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => startService("node", { DATABASE_URL: Redacted.value(url), X_RULES_PER_ACCOUNT: "0" })),
    (running) => Effect.promise(() => running.stop())
  ).pipe(Effect.map((running) => ({ ...running, key: KEY })))
