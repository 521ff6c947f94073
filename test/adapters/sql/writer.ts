/**
 * A process that writes to an embedded store: `node writer.mjs <folder> [commits]`, run from the repository root.
 * Prints a line `has …` per rule and match it finds, then `open`, then one line per acknowledged rule or match, and
 * after the last commit the number of fsyncs.
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
import { Payload } from "../../../core/matches/Payload.ts"

let fsyncs = 0
const fsyncSync = fs.fsyncSync
fs.fsyncSync = (fd) => {
  fsyncs++
  fsyncSync(fd)
}
syncBuiltinESMExports()

const [dataDir = "", commits = "Infinity"] = process.argv.slice(2)
const at = Timestamp.make(new Date(0).toISOString())

// Writes synchronously: printed lines survive a kill.
const print = (line: string) =>
  Effect.sync(() => {
    let rest: Uint8Array = Buffer.from(`${line}\n`)
    while (rest.length > 0) {
      try {
        rest = rest.subarray(fs.writeSync(1, rest))
      } catch (error) {
        // The pipe is full: retry until the reader catches up.
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error
      }
    }
  })

const write = Effect.gen(function* () {
  const keys = yield* KeyStore
  const rules = yield* RuleStore
  const matches = yield* MatchStore
  const account_id = yield* keys.account({ id: fromUuid("acct", v7()), name: "writer", createdAt: at })
  for (const { id } of yield* rules.list(account_id, { before: Option.none(), limit: 100 }))
    yield* print(`has rule ${id}`)
  const all = {
    account: account_id,
    rules: Option.none(),
    platforms: ["x" as const],
    before: Option.none(),
    limit: 1_000_000
  }
  for (const { id } of (yield* matches.list(all)).items) yield* print(`has match ${id}`)
  yield* print("open")
  const before = fsyncs
  for (let i = 0; i < Number(commits); i += 3) {
    const id = fromUuid("rule", v7())
    const filters = [{ platform: "x" as const, text: "cat" }]
    yield* rules.reserve({ id, accountId: account_id, name: "", intent: "", createdAt: at, filters }, new Map())
    yield* rules.activate(id, new Map([["x" as const, { platformRuleId: "1", translatedValue: "cat" }]]), at)
    yield* print(`rule ${id}`)
    const batch = Array.from({ length: 20 }, () => ({
      id: fromUuid("match", v7()),
      rule_id: id,
      rule_version: 1,
      created_at: at,
      platform: "x" as const,
      platform_post_id: v7(),
      payload: Payload.of({ text: "cat ".repeat(50) })
    }))
    yield* matches.insert(batch)
    yield* print(batch.map((match) => `match ${match.id}`).join("\n"))
  }
  yield* print(`fsyncs ${fsyncs - before}`)
})

const image = Effect.promise(() => readFile("dist/assets/store.tar.gz"))
const store = Layer.provide(stores.layer, pglite.layerWith({ dataDir, image }))
const refused = (error: StoreCannotOpen) => print(`refused ${error.message}`)
await Effect.runPromise(write.pipe(Effect.provide(store), Effect.catchTag("StoreCannotOpen", refused)))
