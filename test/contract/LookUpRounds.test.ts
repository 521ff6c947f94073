/** The contract of `LookUpRounds`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { v7 } from "uuid"
import { LookUpRounds } from "../../core/compliance/LookUpRounds.ts"
import { firstMatchIdAt } from "../../core/model/Ids.ts"
import { everyStore } from "../stores.ts"

for (const [name, layer] of everyStore) {
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`LookUpRounds on ${name}`, (it) => {
    it.effect("claim gives the rounds of a platform to one process, with the last round saved", () =>
      Effect.gen(function* () {
        const rounds = yield* LookUpRounds
        const [ours, theirs] = [v7(), v7()]
        const round = { startedAt: 1_000, upTo: firstMatchIdAt(2_000), place: Option.none() }
        assert.deepStrictEqual(yield* rounds.claim("x", ours, 60_000), Option.some({ last: Option.none() }))
        yield* rounds.save("x", ours, round)
        assert.deepStrictEqual(yield* rounds.claim("x", theirs, 60_000), Option.none())
        yield* rounds.save("x", theirs, { ...round, startedAt: 2 })
        yield* rounds.release("x", theirs)
        assert.deepStrictEqual(yield* rounds.claim("x", ours, 60_000), Option.some({ last: Option.some(round) }))
        assert.deepStrictEqual(yield* rounds.claim("firehose", theirs, 60_000), Option.some({ last: Option.none() }))
        const further = { ...round, place: Option.some(firstMatchIdAt(1_500)) }
        yield* rounds.save("x", ours, further)
        yield* rounds.release("x", ours)
        assert.deepStrictEqual(yield* rounds.claim("x", theirs, 60_000), Option.some({ last: Option.some(further) }))
      })
    )

    it.effect("claim takes over from a process whose claim has expired", () =>
      Effect.gen(function* () {
        const rounds = yield* LookUpRounds
        yield* rounds.claim("third", v7(), 1)
        yield* Effect.sleep("20 millis")
        assert.isTrue(Option.isSome(yield* rounds.claim("third", v7(), 60_000)))
      })
    )
  })
}
