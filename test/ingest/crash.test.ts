/** One crash run on the embedded store, ten on all in long mode. `npm run crash:ingest` does hundreds. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { isLong, sized } from "../long.ts"
import { RUNTIMES, type RuntimeName } from "../program.ts"
import { temporaryDatabase, temporaryFolder } from "../stores.ts"
import { crashRun } from "./crashRuns.ts"

const embedded = Effect.map(temporaryFolder, (folder) => ({ EARSHOT_DATA_DIR: folder }))
const postgres = Effect.map(temporaryDatabase, ({ url }) => ({ DATABASE_URL: Redacted.value(url) }))

const runs: ReadonlyArray<readonly [string, RuntimeName, typeof embedded | typeof postgres, ReadonlyArray<number>]> = [
  ["the embedded store, on Node", "node", embedded, sized([1], [1, 2, 3])],
  ["Postgres, on Node", "node", postgres, sized([], [4, 5, 6, 7, 8])],
  ["Postgres, on Deno", "deno", postgres, [9, 10]]
]

describe("kill -9 during ingest", () => {
  for (const [target, runtime, open, seeds] of runs.filter(([, runtime]) => RUNTIMES.includes(runtime))) {
    for (const seed of seeds) {
      it.scopedLive(`loses and repeats no match, and reports every gap, with ${target}, seed ${seed}`, () =>
        Effect.gen(function* () {
          const { kills, expected, differences } = yield* crashRun({
            seed,
            runtime,
            store: yield* open,
            ...(!isLong && { moreKills: 1 })
          })
          assert.deepStrictEqual(differences, [], `after ${kills.join(", ")}`)
          assert.isAbove(expected, 200)
          assert.isAtLeast(kills.length, 2)
        })
      )
    }
  }
})
