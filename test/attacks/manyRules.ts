/** An account with many rules, written to the store at once. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { v7 } from "uuid"
import { type AccountId, toUuid } from "../../core/model/Ids.ts"

const CHUNK = 5_000

/** They are active on firehose. Each is as large as a usual one. */
export const insertRules = (account: AccountId, count: number): Effect.Effect<void, never, SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const owner = toUuid(account)
    for (let done = 0; done < count; done += CHUNK) {
      const rules = Array.from({ length: Math.min(CHUNK, count - done) }, (_, i) => ({ id: v7(), n: done + i }))
      const given = sql`from jsonb_to_recordset(${JSON.stringify(rules)}::jsonb) as x(id uuid, n int)`
      yield* sql`insert into rules (id, account_id, name, intent, created_at)
        select id, ${owner}, 'Rule ' || n, 'Shows that a long list of rules blocks nobody', now() ${given}`
      yield* sql`insert into registrations
        (rule_id, account_id, platform, text, platform_rule_id, translated_value, state, since, watched_since)
        select id, ${owner}, 'firehose', 'word' || n, 'p' || n, 'word' || n, 'active', now(), now() ${given}`
    }
  }).pipe(Effect.orDie)
