/** The turn that writers of matches take: how long they wait for it, and the store without it. */
import { setTimeout as sleep } from "node:timers/promises"
import type pg from "pg"

export interface TurnSamples {
  /** Sessions that ran an insert of matches, summed over all samples. */
  readonly writing: number
  /** Those of them that waited for another writer. */
  readonly waiting: number
}

/** Looks at the sessions of Postgres until `until` settles. */
export const sampleTurns = async (client: pg.Client, until: Promise<unknown>): Promise<TurnSamples> => {
  let isOver = false
  const over = () => {
    isOver = true
  }
  until.then(over, over)
  let writing = 0
  let waiting = 0
  while (!isOver) {
    const { rows } = await client.query<{ readonly writing: number; readonly waiting: number }>(
      `select count(*)::int as writing, count(*) filter (where wait_event_type = 'Lock')::int as waiting
       from pg_stat_activity where state = 'active' and query like '%take_turn(%' and pid <> pg_backend_pid()`
    )
    writing += rows[0]?.writing ?? 0
    waiting += rows[0]?.waiting ?? 0
    await sleep(SAMPLE_MILLIS)
  }
  return { writing, waiting }
}

/**
 * Runs the work while nobody takes turns. The row of an account's usage still serializes the writers of that account, so
 * this is what one turn per account would cost at least. Only for a load without readers: ids can become visible late.
 */
export const withoutTurns = async <A>(client: pg.Client, work: () => Promise<A>): Promise<A> => {
  const { rows } = await client.query<{ readonly source: string }>(
    "select pg_get_functiondef('take_turn(uuid, uuid)'::regprocedure) as source"
  )
  await client.query(
    "create or replace function take_turn(first uuid, last uuid) returns void language plpgsql as 'begin end'"
  )
  try {
    return await work()
  } finally {
    await client.query(rows[0]?.source ?? "")
    // Later matches come after those that took no turn.
    await client.query(
      "update match_order set newest = greatest(newest, (select id from matches order by id desc limit 1))"
    )
  }
}

// ---- helpers ----

const SAMPLE_MILLIS = 10
