/**
 * Locks of @effect/cluster that stay where they are. By itself the cluster moves work when a server joins, and for a
 * stream each move is a gap. Here a server only takes what is free, and leaves the others their share of it.
 */
import { PersistenceError } from "@effect/cluster/ClusterError"
import { RunnerStorage } from "@effect/cluster/RunnerStorage"
import type { ShardId } from "@effect/cluster/ShardId"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect, Layer } from "effect"
import { addressText, isLive, LOCK_SECONDS } from "./liveServers.ts"

/** `self`: the host in this server's address. `wanted`: the locks that have work. `isStopping`: it takes none any more. */
export const layerWith = (options: {
  readonly self: string
  readonly wanted: ReadonlySet<string>
  readonly isStopping: () => boolean
}): Layer.Layer<RunnerStorage, never, RunnerStorage | SqlClient> =>
  Layer.effect(
    RunnerStorage,
    Effect.gen(function* () {
      const storage = yield* RunnerStorage
      const sql = yield* SqlClient

      const isWanted = (lock: ShardId) => options.wanted.has(String(lock))

      const oldest = sql`now()::timestamp - make_interval(secs => ${LOCK_SECONDS})`

      /** This server's share of the locks that are free. */
      const look = (locks: ReadonlyArray<ShardId>) =>
        Effect.map(
          sql<{ readonly free: ReadonlyArray<string>; readonly servers: number }>`
            select
              array(
                select wanted from unnest(${locks.map(String)}::text[]) as wanted where not exists (
                  select 1 from earshot_locks l where l.shard_id = wanted and l.acquired_at >= ${oldest}
                    and l.address <> ${addressText(options.self)}
                )
              ) as free,
              (select count(*)::int from servers s where ${isLive(sql, "s.id")}) as servers`,
          ([row]) => {
            const free = locks.filter((lock) => row?.free.includes(String(lock)) === true)
            return free.slice(0, Math.ceil(free.length / Math.max(row?.servers ?? 1, 1)))
          }
        )
      const awaitFree = (locks: ReadonlyArray<ShardId>): Effect.Effect<ReadonlyArray<ShardId>, SqlError> =>
        Effect.flatMap(locks.some(isWanted) ? look(locks.filter(isWanted)) : Effect.succeed([]), (free) =>
          // Once more when one is free: a server that stops releases all its locks, and the cluster pauses after each take.
          free.length > 0 ? Effect.delay(look(locks.filter(isWanted)), POLL) : Effect.delay(awaitFree(locks), POLL)
        )

      return RunnerStorage.of({
        ...storage,
        // A server that stops is no longer listed. The cluster would list it again.
        register: (runner, isHealthy) => (options.isStopping() ? Effect.never : storage.register(runner, isHealthy)),
        // Each server sees itself alone, so that it tries to take every lock.
        getRunners: Effect.map(storage.getRunners, (runners) =>
          runners.filter(([{ address }]) => address.host === options.self)
        ),
        // Waits for a free lock. The cluster calls it again when it takes too long.
        acquire: (address, locks) =>
          awaitFree([...locks]).pipe(
            PersistenceError.refail,
            Effect.flatMap((free) => storage.acquire(address, free)),
            // Another server was faster.
            Effect.repeat({ until: ({ length }) => length > 0 })
          )
      })
    })
  )

// ---- helpers ----

const POLL = "100 millis"
