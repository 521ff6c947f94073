/**
 * A process of its own that writes to an embedded store: `node writer.mjs <folder> [commits]`, from the root of the
 * repository. Prints `has` with each rule and match it finds, then `open`, then each new rule or match on its own line
 * once it is acknowledged, then (after so many commits) the fsyncs it has made.
 */
import fs from "node:fs"
import { readFile } from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import process from "node:process"
import { Effect, Layer, Option } from "effect"
import { v7 } from "uuid"
import * as pglite from "../../../adapters/sql/pglite.ts"
import type { StoreCannotOpen } from "../../../adapters/sql/StoreCannotOpen.ts"
import * as stores from "../../../adapters/sql/stores.ts"
import { KeyStore } from "../../../core/keys/KeyStore.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { fromUuid } from "../../../core/model/Ids.ts"
import { Timestamp } from "../../../core/model/Timestamp.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"

let fsyncs = 0
const fsyncSync = fs.fsyncSync
fs.fsyncSync = (fd) => {
  fsyncs++
  fsyncSync(fd)
}
syncBuiltinESMExports()

const [dataDir = "", commits = "Infinity"] = process.argv.slice(2)
const at = Timestamp.make(new Date(0).toISOString())

// Straight to the descriptor: what is said is out when the process is killed.
const say = (line: string) =>
  Effect.sync(() => {
    let rest: Uint8Array = Buffer.from(`${line}\n`)
    while (rest.length > 0) {
      try {
        rest = rest.subarray(fs.writeSync(1, rest))
      } catch (error) {
        // The pipe is full, and the other side is reading.
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error
      }
    }
  })

const write = Effect.gen(function* () {
  const keys = yield* KeyStore
  const rules = yield* RuleStore
  const matches = yield* MatchStore
  const account = { id: fromUuid("acct", v7()), name: "writer" }
  const key = { id: fromUuid("key", v7()), account, name: "", hint: "", digest: "writer", createdAt: at }
  const { account_id } = yield* keys.insert(key)
  for (const { id } of yield* rules.list(account_id)) yield* say(`has rule ${id}`)
  const all = {
    account: account_id,
    rule: Option.none(),
    platforms: ["x" as const],
    before: Option.none(),
    limit: 1_000_000
  }
  for (const { id } of yield* matches.list(all)) yield* say(`has match ${id}`)
  yield* say("open")
  const before = fsyncs
  for (let i = 0; i < Number(commits); i += 3) {
    const id = fromUuid("rule", v7())
    const filters = [{ platform: "x" as const, text: "cat" }]
    yield* rules.reserve({ id, accountId: account_id, name: "", intent: "", createdAt: at, filters }, new Map())
    yield* rules.activate(id, new Map([["x" as const, { platformRuleId: "1", translatedValue: "cat" }]]), at)
    yield* say(`rule ${id}`)
    const batch = Array.from({ length: 20 }, () => ({
      id: fromUuid("match", v7()),
      rule_id: id,
      created_at: at,
      platform: "x" as const,
      platform_post_id: v7(),
      payload: { text: "cat ".repeat(50) }
    }))
    yield* matches.insert(batch)
    yield* say(batch.map((match) => `match ${match.id}`).join("\n"))
  }
  yield* say(`fsyncs ${fsyncs - before}`)
})

const image = Effect.promise(() => readFile("dist/assets/store.tar.gz"))
const store = Layer.provide(stores.layer, pglite.layerWith({ dataDir, image }))
const refused = (error: StoreCannotOpen) => say(`refused ${error.message}`)
await Effect.runPromise(write.pipe(Effect.provide(store), Effect.catchTag("StoreCannotOpen", refused)))
