/** A run on each kind of store, ten in the long form, of what `npm run crash:ingest` does by the hundred. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { sized } from "../long.ts"
import type { RuntimeName } from "../program.ts"
import { temporaryDatabase, temporaryFolder } from "../stores.ts"
import { crashRun } from "./crashRuns.ts"

const embedded = Effect.map(temporaryFolder, (folder) => ({ EARSHOT_DATA_DIR: folder }))
const postgres = Effect.map(temporaryDatabase, ({ url }) => ({ DATABASE_URL: Redacted.value(url) }))

const runs: ReadonlyArray<readonly [string, RuntimeName, typeof embedded | typeof postgres, ReadonlyArray<number>]> = [
  ["the embedded store, on Node", "node", embedded, sized([1], [1, 2, 3])],
  ["Postgres, on Node", "node", postgres, sized([4], [4, 5, 6, 7, 8])],
  ["Postgres, on Deno", "deno", postgres, sized([9], [9, 10])]
]

describe("kill -9 while events come in", () => {
  for (const [where, runtime, open, seeds] of runs) {
    for (const seed of seeds) {
      it.scopedLive(`loses and doubles nothing that is owed, and tells of every gap, with ${where}, seed ${seed}`, () =>
        Effect.gen(function* () {
          const { kills, made, differences } = yield* crashRun({ seed, runtime, store: yield* open })
          assert.deepStrictEqual(differences, [], `after ${kills.join(", ")}`)
          assert.isAbove(made, 200)
          assert.isAtLeast(kills.length, 2)
        })
      )
    }
  }
})
