/** What the log says of filters that are evaluated for every event. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { heldRules } from "../../../adapters/local/HeldRules.ts"
import { firehose } from "../../../core/languages/firehose.ts"
import { Entropy } from "../../../core/model/Entropy.ts"

describe("HeldRules", () => {
  it.effect("register counts filters, of which several rules may have the same", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => lines.push(String(message)))
    return Effect.gen(function* () {
      const { register } = yield* heldRules(firehose)
      yield* register(["cat", "dr:[1 TO 5]", "dr:[1 TO 5]", "*:*"])
      const log = (count: string) =>
        `A filter on "firehose" has no indexable term and is evaluated for every event: ${count} are unindexed`
      assert.deepStrictEqual(lines, [log("1 of 2 different filters"), log("2 of 3 different filters")])
    }).pipe(Effect.provide(Entropy.layerCounting), Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })
})
