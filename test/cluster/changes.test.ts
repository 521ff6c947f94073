/** Rules that are created and deleted on several servers while the owner of the platforms changes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sized } from "../long.ts"
import { PLATFORM_IDS } from "../platforms.ts"
import { START_MILLIS } from "../program.ts"
import { temporaryDatabase } from "../stores.ts"
import { makeFleet, type Server, until } from "./fleet.ts"

const ROUNDS = sized(1, 10)

/** Two servers use each text, so that creates and deletes of equal texts meet. */
const TEXTS = ["amber", "birch", "cedar"]

describe("changes of rules on several servers", { timeout: 10 * START_MILLIS }, () => {
  it.scopedLive("reach the platforms and every server, also when their owner is killed meanwhile", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const fleet = yield* makeFleet({ database: url, servers: 3, simulator: { x: { rule_cap: 1_000 } } })
      yield* Effect.promise(async () => {
        await fleet.startAll()
        await createOn(fleet.servers[0], "always")
        await fleet.isSettled()
        for (let round = 0; round < ROUNDS; round++) {
          const victim = fleet.ownerOf(PLATFORM_IDS[round % 2] ?? "x") ?? assert.fail("There is no owner")
          const others = fleet.servers.filter((server) => server !== victim)
          const first = await Promise.all(TEXTS.flatMap((text) => others.map((server) => createOn(server, text))))
          await victim.kill()
          const changes = TEXTS.flatMap((text, index) => [
            createOn(others[index % 2], text),
            deleteOn(others[(index + 1) % 2], first[index] ?? assert.fail("Nothing was created"))
          ])
          await Promise.all(changes)
          await victim.start()
          await fleet.isSettled()
        }
        // "always", and in each round two creates per text before the kill, a create and a delete after it.
        const wanted = [
          await listedOn(fleet.servers[0]),
          await listedOn(fleet.servers[1]),
          await listedOn(fleet.servers[2])
        ]
        assert.lengthOf(wanted[0] ?? [], 1 + ROUNDS * TEXTS.length * 2)
        assert.deepStrictEqual(wanted[1], wanted[0])
        assert.deepStrictEqual(wanted[2], wanted[0])
        await until("the platforms hold each text once", async () => {
          const { x, firehose } = await fleet.simulator.state()
          const held = [x.rules, firehose.taps.flatMap((tap) => tap.rules)]
          const expected = ["always", ...TEXTS].sort().join()
          return held.every(
            (rules) =>
              rules
                .map(({ value }) => value)
                .sort()
                .join() === expected
          )
        })
      })
    })
  )
})

// ---- helpers ----

/** Returns the id of the rule. A create waits for the next owner, so it succeeds. */
const createOn = async (server: Server | undefined, text: string): Promise<string> => {
  const draft = { name: text, intent: "Survive", platforms: PLATFORM_IDS, overrides: { x: text, firehose: text } }
  const { rule_id } = await checked(server).post<{ rule_id: string }>("/api.CreateRule", draft)
  return rule_id
}

const deleteOn = (server: Server | undefined, id: string) =>
  checked(server).post<object>("/api.DeleteRule", { rule_id: id })

const listedOn = async (server: Server | undefined): Promise<ReadonlyArray<string>> => {
  const { rules } = await checked(server).get<{ rules: ReadonlyArray<{ rule_id: string }> }>("/api.ListRules")
  return rules.map(({ rule_id }) => rule_id).sort()
}

const checked = (server: Server | undefined): Server => server ?? assert.fail("There is no such server")
