/** An account with many rules: its lists are sent in parts, which blocks nobody and takes little memory. */
import process from "node:process"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink } from "@trpc/client"
import { Effect, Layer } from "effect"
import * as sqlStores from "../../adapters/sql/stores.ts"
import { Keys } from "../../core/keys/Keys.ts"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { type Answer, assertError, call, type Target } from "../gateway/client.ts"
import { serve, serviceOn } from "../gateway/inProcess.ts"
import { transportOf } from "../gateway/mcp/served.ts"
import { connect } from "../gateway/mcp/session.ts"
import { localPlatforms } from "../platforms.ts"
import { isLong } from "../long.ts"
import { pgliteClient } from "../stores.ts"
import { insertRules } from "./manyRules.ts"

const RULES = 5_000

/** In one part, the list of so many rules would block for half a second. */
const MAX_MILLIS = 250

/** The first turns also compile code, and threads of the garbage collector count too: a real stall is in every try. */
const TRIES = 3

const TIMEOUT = 180_000

/** The others run in check:long. */
const SHORT = ["REST", "a tRPC batch"]

const service = serviceOn(localPlatforms(), Layer.provideMerge(sqlStores.layer, pgliteClient)).pipe(
  Layer.provideMerge(pgliteClient)
)

const withRules = (count: number, test: (target: Target, sql: SqlClient) => Promise<void>) =>
  Effect.gen(function* () {
    const target = yield* (yield* serve)("ann")
    yield* insertRules(yield* (yield* Keys).account("ann"), count)
    const sql = yield* SqlClient
    yield* Effect.promise(() => test(target, sql))
  }).pipe(Effect.provide(service))

describe("the rules of an account with 5,000", () => {
  it.scopedLive(
    "are listed by every interface, and block nobody meanwhile",
    () =>
      withRules(RULES, async (target) => {
        const client = (link: typeof httpLink | typeof httpBatchLink | typeof httpBatchStreamLink) =>
          createTRPCClient<AppRouter>({
            links: [link({ url: `${target.url}/trpc`, headers: { authorization: `Bearer ${target.key}` } })]
          })
        const [single, batch, stream] = [client(httpLink), client(httpBatchLink), client(httpBatchStreamLink)]
        const listed: ReadonlyArray<
          readonly [string, () => Promise<ReadonlyArray<ReadonlyArray<{ readonly id: unknown }>>>]
        > = [
          ["REST", async () => [[...((await call(target, "/api.ListRules")).body["rules"] ?? [])] as never]],
          ["tRPC", async () => [(await single.rules.list.query()).rules]],
          [
            "a tRPC batch",
            async () => (await Promise.all([1, 2].map(() => batch.rules.list.query()))).map(({ rules }) => rules)
          ],
          [
            "a tRPC stream",
            async () => (await Promise.all([1, 2].map(() => stream.rules.list.query()))).map(({ rules }) => rules)
          ]
        ]
        for (const [name, list] of listed.filter(([name]) => isLong || SHORT.includes(name))) {
          const { longest, result } = await longestTurn(list)
          for (const rules of result) assert.lengthOf(new Set(rules.map(({ id }) => id)), RULES, name)
          for (const rules of result) assert.lengthOf(rules, RULES, name)
          assert.isBelow(longest, MAX_MILLIS, name)
        }
        const agent = await connect(transportOf(target))
        const search = await longestTurn(() => agent.call("list_rules", { query: "word1234", limit: 10 }))
        assert.lengthOf([...(search.result.structured["rules"] ?? [])], 1)
        assert.isBelow(search.longest, MAX_MILLIS)
      }),
    TIMEOUT
  )

  it.scopedLive(
    "can be read in pages",
    () =>
      withRules(250, async (target) => {
        const all = ids(await call(target, "/api.ListRules"))
        const pages: Array<ReadonlyArray<string>> = []
        for (let cursor = ""; ; ) {
          const page = await call(target, `/api.ListRules?limit=100${cursor}`)
          pages.push(ids(page))
          if (page.body["next_cursor"] === undefined) break
          cursor = `&cursor=${page.body["next_cursor"]}`
        }
        assert.deepStrictEqual(
          pages.map(({ length }) => length),
          [100, 100, 50]
        )
        assert.deepStrictEqual(pages.flat(), all)
        assert.deepStrictEqual(ids(await call(target, `/api.ListRules?cursor=${all[99]}`)), all.slice(100))
        for (const limit of ["0", "101", "ten", "1.5"]) {
          assertError(await call(target, `/api.ListRules?limit=${limit}`), 400, "invalid_argument")
        }
        assertError(await call(target, "/api.ListRules?cursor=x"), 400, "invalid_argument", /next_cursor/)
      }),
    TIMEOUT
  )

  it.scopedLive(
    "are never taken for all if reading them fails in between",
    () =>
      withRules(2_000, async (target, sql) => {
        const response = await fetch(`${target.url}/api.ListRules`, {
          headers: { authorization: `Bearer ${target.key}` }
        })
        assert.strictEqual(response.status, 200)
        await Effect.runPromise(sql`alter table rules rename to hidden_rules`)
        const end = await response.text().then(
          () => "complete",
          () => "broken"
        )
        assert.strictEqual(end, "broken")
      }),
    TIMEOUT
  )
})

const ids = ({ body }: Answer): ReadonlyArray<string> => [...(body["rules"] ?? [])].map((rule) => String(rule["id"]))

/** The longest turn of the event loop while it works, in milliseconds of CPU, in the best of some tries. */
const longestTurn = async <A>(work: () => Promise<A>): Promise<{ readonly longest: number; readonly result: A }> => {
  let best = await longestTurnOnce(work)
  for (let n = 1; n < TRIES && best.longest >= MAX_MILLIS; n++) {
    const again = await longestTurnOnce(work)
    if (again.longest < best.longest) best = again
  }
  return best
}

/** In CPU: other processes do not count. */
const longestTurnOnce = async <A>(
  work: () => Promise<A>
): Promise<{ readonly longest: number; readonly result: A }> => {
  let longest = 0
  let isDone = false
  let last = process.cpuUsage()
  const measure = () => {
    const { user, system } = process.cpuUsage(last)
    longest = Math.max(longest, (user + system) / 1_000)
    last = process.cpuUsage()
    if (!isDone) setImmediate(measure)
  }
  setImmediate(measure)
  const result = await work()
  isDone = true
  return { longest, result }
}
