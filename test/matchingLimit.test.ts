/** The limit on matching, with the real program on the embedded store. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "./eventually.ts"
import { type Answer, call, draft, type Json, type Target } from "./gateway/client.ts"
import { KEY, runInProcess, serveInProcess } from "./program.ts"
import { temporaryFolder } from "./stores.ts"

const OPERATOR_KEY = "key-of-the-operator-of-this-server"

/** Seconds per minute. */
const LIMIT = 1

describe("the limit on matching", () => {
  it.scopedLive("pauses an account's dearest rule and no other, says why, and the pause survives a restart", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const settings = {
        EARSHOT_DATA_DIR: dataDir,
        EARSHOT_OPERATOR_KEY: OPERATOR_KEY,
        EARSHOT_LIMIT_MATCHING: String(LIMIT),
        LOG_LEVEL: "error"
      }
      const start = Effect.acquireRelease(
        Effect.promise(() => serveInProcess(settings)),
        ({ stop }) => Effect.promise(stop)
      )

      const first = yield* start
      const { stdout } = yield* Effect.promise(() =>
        runInProcess(["keys", "create", "--account", "other"], { EARSHOT_DATA_DIR: dataDir })
      )
      const other = stdout.trim()
      const ids = yield* Effect.promise(async () => {
        const account = { ...first, key: KEY }
        const dear = await created(account, DEAR)
        const cheap = await created(account, "title:check")
        const foreign = await created({ ...first, key: other }, "title:check")
        let used = 0
        await eventually(async () => {
          await send(
            first,
            Array.from({ length: 100 }, () => "word ".repeat(500))
          )
          const { limit, used: now } = limitIn(await call(account, "/account"))
          assert.strictEqual(limit, LIMIT)
          // Counted per minute, and the next one may have begun.
          used = Math.max(used, now)
          assert.strictEqual(await stateOf(account, dear), "paused")
        })
        assert.isAbove(used, 0)
        return { dear, cheap, foreign }
      })
      const before = yield* Effect.promise(() => check(first, other, ids))
      yield* Effect.promise(first.stop)

      const second = yield* start
      const after = yield* Effect.promise(() => check(second, other, ids))
      assert.deepStrictEqual(after, before)
    })
  )
})

// ---- helpers ----

/** Each fuzzy word is compared with each word of a title. */
const DEAR = `title:(${Array.from({ length: 50 }, (_, n) => `tesla${n}~2`).join(" OR ")})`

interface RuleIds {
  readonly dear: string
  readonly cheap: string
  readonly foreign: string
}

/** The dear rule is paused with a reason and a gap, and the others match the next event. Returns what is shown of the dear one. */
const check = async (server: Omit<Target, "key">, other: string, { dear, cheap, foreign }: RuleIds) => {
  const account = { ...server, key: KEY }
  // The rule is shown as paused a moment before its text is removed: the first event may still match.
  await eventually(async () => {
    const url = await send(server, ["check tesla7"])
    await eventually(async () => {
      assert.include(await urlsOf(account, cheap), url)
      assert.include(await urlsOf({ ...server, key: other }, foreign), url)
    })
    assert.notInclude(await urlsOf(account, dear), url)
  })
  const [shown, gaps] = [await platformOf(account, dear), await gapsOf(account, dear)]
  assert.match(
    String(shown["reason"]),
    /^paused: matching the rules of the account took \S+ of 1 seconds in this minute; it is registered again at \S+Z\./
  )
  assert.deepStrictEqual(
    gaps.map(({ cause, to }) => [String(cause), to]),
    [["matching", undefined]]
  )
  assert.deepStrictEqual([await stateOf(account, dear), await stateOf(account, cheap)], ["paused", "active"])
  assert.deepStrictEqual(await gapsOf(account, cheap), [])
  return shown
}

const created = async (target: Target, filter: string) =>
  String((await call(target, "/api.CreateRule", draft(filter))).body["rule_id"])

let pages = 0

/** Sends shared pages with these titles. Returns the address of the last one. */
const send = async (server: Omit<Target, "key">, titles: ReadonlyArray<string>) => {
  const events = titles.map((title) => ({ document: { url: `https://example.com/${++pages}`, title } }))
  const { status } = await call({ ...server, key: OPERATOR_KEY }, "/local/events", events)
  assert.strictEqual(status, 200)
  return `https://example.com/${pages}`
}

const limitIn = ({ body }: Answer): { readonly limit: number; readonly used: number } => {
  const found = [...(body["limits"] ?? [])].find((one) => String(one["name"]) === "matching")
  return { limit: Number(found?.["limit"]), used: Number(found?.["used"]) }
}

const platformOf = async (target: Target, rule: string): Promise<Json> => {
  const rules = [...((await call(target, "/api.ListRules")).body["rules"] ?? [])]
  const found = rules.find(({ id }) => String(id) === rule)
  return found?.["platforms"]?.["firehose"] ?? assert.fail(`Cannot find rule "${rule}"`)
}

const stateOf = async (target: Target, rule: string) => String((await platformOf(target, rule))["state"])

const matchesOf = (target: Target, rule: string) => call(target, "/matches", { rule_id: rule, limit: 500 })

const urlsOf = async (target: Target, rule: string) =>
  [...((await matchesOf(target, rule)).body["matches"] ?? [])].map(({ payload }) =>
    String(payload?.["document"]?.["url"])
  )

/** Of this rule only: a restart is a gap of the platform. */
const gapsOf = async (target: Target, rule: string) => {
  const [platform] = [...((await matchesOf(target, rule)).body["coverage"]?.["platforms"] ?? [])]
  return [...(platform?.["gaps"] ?? [])].filter(({ rule_id }) => rule_id !== undefined)
}
