/** `LookUpRounds` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option } from "effect"
import { LookUpRounds, type Round } from "../../core/compliance/LookUpRounds.ts"
import { fromUuid, toUuid } from "../../core/model/Ids.ts"
import { unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const claim: LookUpRounds["Type"]["claim"] = (platform, claim, millis) => {
    const until = sql`clock_timestamp() + ${millis} * interval '1 millisecond'`
    return sql<RoundRow>`
      insert into lookup_rounds as r (platform, claim, claimed_until) values (${platform}, ${claim}, ${until})
      on conflict (platform) do update set claim = excluded.claim, claimed_until = excluded.claimed_until
      where r.claim is null or r.claim = excluded.claim or r.claimed_until <= clock_timestamp()
      returning r.started_at, r.up_to, r.place`.pipe(
      Effect.map(([row]) => Option.map(Option.fromNullable(row), (row) => ({ last: toRound(row) }))),
      unavailable("lookUpRounds.claim")
    )
  }

  return LookUpRounds.of({
    claim,
    save: (platform, claim, { startedAt, upTo, place }) =>
      sql`update lookup_rounds set started_at = ${new Date(startedAt).toISOString()}::timestamptz,
          up_to = ${toUuid(upTo)}, place = ${Option.getOrNull(Option.map(place, toUuid))}::uuid
        where platform = ${platform} and claim = ${claim}`.pipe(Effect.asVoid, unavailable("lookUpRounds.save")),
    release: (platform, claim) =>
      sql`update lookup_rounds set claim = null, claimed_until = null
        where platform = ${platform} and claim = ${claim}`.pipe(Effect.asVoid, unavailable("lookUpRounds.release"))
  })
})

export const layer: Layer.Layer<LookUpRounds, never, SqlClient> = Layer.effect(LookUpRounds, make)

// ---- helpers ----

interface RoundRow {
  readonly started_at: Date | null
  readonly up_to: string | null
  readonly place: string | null
}

const toRound = ({ started_at, up_to, place }: RoundRow): Option.Option<Round> =>
  started_at === null || up_to === null
    ? Option.none()
    : Option.some({
        startedAt: started_at.getTime(),
        upTo: fromUuid("match", up_to),
        place: Option.map(Option.fromNullable(place), (id) => fromUuid("match", id))
      })
