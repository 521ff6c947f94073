/** What several servers on one Postgres ask of the owners among them, in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Deferred, Effect, FiberId, Layer, Option, Schema, type Scope, Stream } from "effect"
import { type RuleId, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { Ownership } from "../../core/ownership/Ownership.ts"
import { Outcome, type RuleRequests, type Unsettled } from "../../core/ownership/RuleRequests.ts"
import { Announcements, RULES_CHANNEL } from "./Announcements.ts"
import { storableJson } from "./parameters.ts"
import { REGISTRATIONS, type RegistrationRow, toRegistration } from "./registrationRows.ts"
import { decided, fenced, unavailable } from "./statements.ts"

export const make: Effect.Effect<RuleRequests, never, SqlClient | Announcements | Scope.Scope> = Effect.gen(
  function* () {
    const sql = yield* SqlClient
    const { rulesChanged } = yield* Announcements
    const registrations = sql.literal(REGISTRATIONS)

    let next = Deferred.unsafeMake<void>(FiberId.none)
    yield* Effect.forkScoped(
      Stream.runForEach(rulesChanged, () =>
        Effect.suspend(() => {
          const announced = next
          next = Deferred.unsafeMake(FiberId.none)
          return Deferred.succeed(announced, undefined)
        })
      )
    )

    const ofRule = (id: RuleId, platform: PlatformId) => sql`rule_id = ${toUuid(id)} and platform = ${platform}`

    return {
      announce: sql`select pg_notify(${RULES_CHANNEL}, '')`.pipe(Effect.asVoid, unavailable("requests.announce")),
      nextAnnouncement: Effect.sync(() => Effect.raceFirst(Deferred.await(next), Effect.sleep("500 millis"))),
      unsettled: (platform) =>
        sql<RegistrationRow & { readonly state: Unsettled["state"]; readonly outcome: unknown }>`${registrations}
        where platform = ${platform} and state in ('pending', 'removing') order by rule_id`.pipe(
          Effect.map((rows) =>
            rows.map((row) => ({ ...toRegistration(row), state: row.state, outcome: toOutcome(row.outcome) }))
          ),
          unavailable("requests.unsettled")
        ),
      settle: (id, platform, outcome) =>
        sql`update registrations set outcome = ${storableJson(Schema.encodeSync(Outcome)(outcome))}::jsonb
        where ${ofRule(id, platform)} and state = 'pending'`.pipe(
          Effect.asVoid,
          fenced(sql),
          unavailable("requests.settle")
        ),
      outcome: (id, platform) =>
        sql<{ readonly outcome: unknown }>`select outcome from registrations where ${ofRule(id, platform)}`.pipe(
          Effect.map(([row]) => toOutcome(row?.outcome)),
          unavailable("requests.outcome")
        ),
      abandon: (id) =>
        sql`update registrations set state = 'removing', since = now() where rule_id = ${toUuid(id)}`.pipe(
          Effect.asVoid,
          decided(sql),
          unavailable("requests.abandon")
        ),
      drop: (id, platform) =>
        Effect.gen(function* () {
          // Locks the rule: of two owners that drop its last two registrations, the second one deletes it.
          yield* sql`select 1 from rules where id = ${toUuid(id)} for update`
          yield* sql`delete from registrations where ${ofRule(id, platform)} and state = 'removing'`
          yield* sql`delete from rules where id = ${toUuid(id)}
          and not exists (select 1 from registrations where rule_id = ${toUuid(id)})`
        }).pipe(sql.withTransaction, fenced(sql), unavailable("requests.drop")),
      activatedSince: (platform, version) =>
        sql<{ readonly text: string; readonly version: number }>`
        select text, version::float8 from registrations
        where platform = ${platform} and version > ${version} and state = 'active'
        order by version`.pipe(unavailable("requests.activatedSince"))
    }
  }
)

/** `Ownership` of a command: servers may use the database too, and it asks the owners among them. It owns nothing. */
export const layer: Layer.Layer<never, never, SqlClient | Announcements> = Layer.scoped(
  Ownership,
  Effect.map(make, (requests) => ({
    isAlone: false,
    own: () => Effect.void,
    ifOwner: () => Effect.succeedNone,
    outdated: Deferred.unsafeMake(FiberId.none),
    requests
  }))
)

// ---- helpers ----

/** None if a server of another version wrote it. */
const decode = Schema.decodeUnknownOption(Outcome)

const toOutcome = (found: unknown): Option.Option<Outcome> => Option.flatMap(Option.fromNullable(found), decode)
