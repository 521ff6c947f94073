/** Rules that are created and deleted on several servers while the owner of the platforms changes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import { until } from "../eventually.ts"
import { call, draft, type Target, xPost } from "../gateway/client.ts"
import { sized } from "../long.ts"
import { KEY, START_MILLIS, startService } from "../program.ts"
import { temporaryDatabase } from "../stores.ts"
import { type Fleet, makeFleet, type Server } from "./fleet.ts"

const ROUNDS = sized(1, 10)

/** In one request, which takes some seconds. */
const EVENTS = sized(2_000, 4_000)

/** Two servers use each text, so that creates and deletes of equal texts meet. */
const TEXTS = ["amber", "birch", "cedar"]

describe("changes of rules on several servers", { timeout: 10 * START_MILLIS }, () => {
  it.scopedLive("reach the platforms and every server, also when their owner is killed meanwhile", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const fleet = yield* makeFleet({ database: url, servers: 3 })
      yield* Effect.promise(async () => {
        await fleet.startAll()
        const always = await createOn(fleet.servers[0], "always")
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
          const [listed, ...elsewhere] = await Promise.all(fleet.servers.map(listedOn))
          // "always", and of each text two creates before the kill, a create and a delete after it.
          assert.lengthOf(listed ?? [], 1 + TEXTS.length * 2)
          for (const other of elsewhere) assert.deepStrictEqual(other, listed)
          await hold(fleet, ["always", ...TEXTS])
          for (const id of listed?.filter((rule) => rule !== always) ?? []) await deleteOn(others[0], id)
          await hold(fleet, ["always"])
        }
      })
    })
  )

  it.scopedLive("lose no event that both filters meet, while another server receives it", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const start = Effect.acquireRelease(
        Effect.promise(() => startService("node", { DATABASE_URL: Redacted.value(url) })),
        (running) => Effect.promise(() => running.stop())
      )
      const [changing, receiving] = (yield* Effect.all([start, start])).map((running) => ({ ...running, key: KEY }))
      if (changing === undefined || receiving === undefined) return assert.fail("There are not two servers")
      yield* Effect.promise(async () => {
        const { body } = await call(changing, "/api.CreateRule", draft("cat", ["x"]))
        const rule_id = String(body["rule_id"])
        const posts = Array.from({ length: EVENTS }, (_, index) => xPost(String(index), "a cat and a dog"))
        let isSent = false
        const sending = call(receiving, "/local/events", posts).finally(() => {
          isSent = true
        })
        let changes = 0
        for (; !isSent; changes++) {
          const filter = changes % 2 === 0 ? "dog" : "cat"
          const { status } = await call(changing, "/api.UpdateRule", { rule_id, overrides: { x: filter } })
          assert.strictEqual(status, 200)
        }
        assert.strictEqual((await sending).status, 200)
        assert.strictEqual(await countMatches(receiving, rule_id), EVENTS, `after ${changes} changes`)
      })
    })
  )
})

// ---- helpers ----

const countMatches = async (target: Target, rule_id: string): Promise<number> => {
  let count = 0
  let cursor: unknown
  do {
    const page = { rule_id, limit: 500, ...(cursor !== undefined && { cursor }) }
    const { body } = await call(target, "/matches", page)
    count += [...(body["matches"] ?? [])].length
    cursor = body["next_cursor"]
  } while (cursor !== undefined)
  return count
}

const hold = (fleet: Fleet, texts: ReadonlyArray<string>) =>
  until(`the platforms hold each of ${texts.join()} once`, async () => {
    const { x, firehose } = await fleet.simulator.state()
    const held = [x.rules, firehose.taps.flatMap((tap) => tap.rules)]
    return held.every(
      (rules) =>
        rules
          .map(({ value }) => value)
          .sort()
          .join() === texts.join()
    )
  })

/** Returns the id of the rule. A create waits for the next owner, so it succeeds. */
const createOn = async (server: Server | undefined, text: string): Promise<string> => {
  const draft = { name: text, intent: "Survive", platforms: PLATFORM_IDS, overrides: { x: text, firehose: text } }
  const { rule_id } = await checked(server).post<{ rule_id: string }>("/api.CreateRule", draft)
  return rule_id
}

const deleteOn = (server: Server | undefined, id: string) =>
  checked(server).post<object>("/api.DeleteRule", { rule_id: id })

const listedOn = async (server: Server | undefined): Promise<ReadonlyArray<string>> => {
  const { rules } = await checked(server).get<{ rules: ReadonlyArray<{ id: string }> }>("/api.ListRules")
  return rules.map(({ id }) => id).sort()
}

const checked = (server: Server | undefined): Server => server ?? assert.fail("There is no such server")
