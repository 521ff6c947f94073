/** Attempts that were abandoned, and answers that are kept in the transaction of the effect. */
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { v7 } from "uuid"
import * as sqlStores from "../../../adapters/sql/stores.ts"
import { type Attempt, ClaimStore } from "../../../core/idempotency/ClaimStore.ts"
import { CurrentDecision } from "../../../core/idempotency/Idempotency.ts"
import { fromMillis } from "../../../core/model/Timestamp.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { at, FIRST_RULES, newAccount, newRule, noLimits, registeredOf, visibleRule } from "../../contract/samples.ts"
import { pgliteClient, postgresClient } from "../../stores.ts"

for (const [name, client] of [
  ["PGlite", pgliteClient],
  ["Postgres", postgresClient]
] as const) {
  withLayer(Layer.provideMerge(sqlStores.layer, client), { excludeTestServices: true, timeout: "240 seconds" })(
    `SqlClaimStore on ${name}`,
    (it) => {
      it.effect("begin takes over an attempt that was not renewed for six seconds, unless it has an answer", () =>
        Effect.gen(function* () {
          const store = yield* ClaimStore
          const [running, done] = [claim(), claim()]
          yield* stored(running)
          yield* store.begin(done)
          yield* store.keep(done, "answer")
          assert.isTrue(Option.isSome(yield* store.begin(claim(running.digest))))
          yield* age(7)
          assert.isTrue(Option.isNone(yield* store.begin(claim(running.digest))))
          assert.isTrue(Option.isSome(yield* store.begin(claim(done.digest))))
          const error = yield* Effect.flip(store.keep(running, "late"))
          assert.strictEqual(error._tag, "StoreUnavailable")
        })
      )

      it.effect("an attempt that runs is renewed, and one that has ended is not", () =>
        Effect.gen(function* () {
          const store = yield* ClaimStore
          const [running, released] = [claim(), claim()]
          yield* store.begin(running)
          yield* store.begin(released)
          yield* store.release(released)
          yield* stored(released)
          yield* age(60)
          yield* Effect.repeat(Effect.delay(isRenewed(running), "100 millis"), { until: (yes) => yes, times: 100 })
          assert.isTrue(Option.isSome(yield* store.begin(claim(running.digest))))
          assert.isTrue(Option.isNone(yield* store.begin(claim(released.digest))))
        })
      )

      it.effect("activate and hide keep the answer with their write", () =>
        Effect.gen(function* () {
          const [store, rules] = [yield* ClaimStore, yield* RuleStore]
          const account = yield* newAccount
          const rule = newRule(account)
          yield* rules.reserve(rule, noLimits)
          const creating = claim()
          yield* store.begin(creating)
          yield* rules.activate(rule.id, registeredOf(rule), at(2)).pipe(deciding(creating))
          assert.deepStrictEqual(yield* answerOf(creating), Option.some("decided"))

          const deleting = claim()
          yield* store.begin(deleting)
          assert.isFalse(yield* rules.hide(yield* newAccount, rule.id, at(3)).pipe(deciding(deleting)))
          assert.deepStrictEqual(yield* answerOf(deleting), Option.none(), "nothing was hidden")
          assert.isTrue(yield* rules.hide(account, rule.id, at(3)).pipe(deciding(deleting)))
          assert.deepStrictEqual(yield* answerOf(deleting), Option.some("decided"))
        })
      )

      it.effect("activate and hide have no effect for an attempt that was replaced", () =>
        Effect.gen(function* () {
          const [store, rules] = [yield* ClaimStore, yield* RuleStore]
          const account = yield* newAccount
          const [reserved, visible] = [newRule(account), yield* visibleRule(account)]
          yield* rules.reserve(reserved, noLimits)
          const replaced = claim()
          yield* stored(replaced)
          yield* age(7)
          yield* store.begin(claim(replaced.digest))
          yield* Effect.flip(rules.activate(reserved.id, registeredOf(reserved), at(2)).pipe(deciding(replaced)))
          yield* Effect.flip(rules.hide(account, visible.id, at(3)).pipe(deciding(replaced)))
          assert.deepStrictEqual(
            (yield* rules.list(account, FIRST_RULES)).map(({ id }) => id),
            [visible.id]
          )
        })
      )
    }
  )
}

// ---- helpers ----

const claim = (digest = v7()) => ({
  digest,
  attempt: v7(),
  request: "request",
  at: fromMillis(Date.now()),
  expiredBefore: fromMillis(0)
})

const deciding =
  ({ digest, attempt }: Attempt) =>
  <A, E, R>(write: Effect.Effect<A, E, R>) =>
    Effect.provideService(write, CurrentDecision, Option.some({ digest, attempt, answer: Effect.succeed("decided") }))

/** As if nothing had been renewed for this long. */
const age = (seconds: number) =>
  Effect.flatMap(
    SqlClient,
    (sql) => sql`update idempotency_keys set renewed_at = renewed_at - make_interval(secs => ${seconds})`
  )

/** Adds the row of an attempt that does not run in this process. */
const stored = ({ digest, attempt }: Attempt) =>
  Effect.flatMap(
    SqlClient,
    (sql) => sql`insert into idempotency_keys (digest, request, attempt, created_at, renewed_at)
      values (${digest}, 'request', ${attempt}, now(), now())`
  )

const isRenewed = ({ digest }: Attempt) =>
  Effect.flatMap(SqlClient, (sql) =>
    Effect.map(
      sql`select 1 from idempotency_keys where digest = ${digest} and renewed_at > now() - interval '30 seconds'`,
      ({ length }) => length > 0
    )
  )

const answerOf = ({ digest }: Attempt) =>
  Effect.flatMap(SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly answer: string | null }>`select answer from idempotency_keys where digest = ${digest}`,
      (rows) => Option.fromNullable(rows[0]?.answer)
    )
  )
