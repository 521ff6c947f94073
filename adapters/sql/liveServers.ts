/** Which servers are alive, by their heartbeats in the database. */
import type { SqlClient } from "@effect/sql/SqlClient"

/**
 * A lock that is not renewed for this long is free for others, and its server counts as dead. The library renews locks
 * at least three times as often, and stops the work of a server that cannot.
 */
export const LOCK_SECONDS = 6

/** The cluster's address of a server. */
export const addressText = (id: string): string => `${id}:1`

/** `id`: the column with the server's id. */
export const isLive = (sql: SqlClient, id: "s.id" | "o.server") => sql`exists (
  select 1 from earshot_runners r where r.address = ${sql.literal(id)}::text || ':1'
    and r.last_heartbeat > now()::timestamp - make_interval(secs => ${LOCK_SECONDS})
)`
