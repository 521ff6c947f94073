/** The tables of a store, read from the catalog: a copy of the store has them all, also those of later migrations. */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import pg from "pg"
import { MARK } from "./copyMark.ts"
import { TABLE as MIGRATIONS } from "./migrate.ts"

export interface Table {
  readonly name: string
  /** Those that an insert may set. */
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>
  /** What holds its rows: its partitions, or the table itself. */
  readonly leaves: ReadonlyArray<Leaf>
  readonly hasTriggers: boolean
}

export interface Leaf {
  readonly name: string
  readonly blocks: number
  /** With large values, which are stored elsewhere. */
  readonly bytes: number
}

export interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

/** Without those that belong to the database itself: its migrations, and the mark of a copy. */
export const tablesIn = (sql: SqlClient): Effect.Effect<ReadonlyArray<Table>, SqlError> =>
  sql<Table>`select c.relname as name,
      (select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum)
        from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(json_agg(json_build_object('name', relname,
          'bytes', case when pg_relation_size(oid) = 0 then 0 else pg_table_size(oid) end,
          'blocks', pg_relation_size(oid) / current_setting('block_size')::int) order by relname), '[]')
        from pg_class where relkind = 'r' and (oid = c.oid or oid in (select relid from pg_partition_tree(c.oid)))
      ) as leaves,
      exists (select from pg_trigger where tgrelid = c.oid and not tgisinternal) as "hasTriggers"
    from pg_class c
    where c.relnamespace = ${ownSchema(sql)} and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all(${[MIGRATIONS, MARK]})
    order by c.relname`

export const foreignKeysIn = (sql: SqlClient): Effect.Effect<ReadonlyArray<ForeignKey>, SqlError> =>
  sql<ForeignKey>`select t.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class t on t.oid = k.conrelid
    where k.contype = 'f' and k.connamespace = ${ownSchema(sql)} and k.conparentid = 0
    order by t.relname, k.conname`

/** Creates the partitions of `source` that `target` does not have yet. */
export const createPartitions = ({ source, target }: { readonly source: SqlClient; readonly target: SqlClient }) =>
  Effect.gen(function* () {
    const partitions = yield* source<Partition>`select c.relname as name, p.relname as parent,
        pg_get_expr(c.relpartbound, c.oid) as bounds, pg_get_partkeydef(c.oid) as key
      from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
      where c.relispartition and c.relkind in ('r', 'p') and c.relnamespace = ${ownSchema(source)}
      order by c.oid`
    for (const { name, parent, bounds, key } of partitions) {
      const subdivision = key === null ? "" : ` partition by ${key}`
      yield* target.unsafe(
        `create table if not exists ${quoted(name)} partition of ${quoted(parent)} ${bounds}${subdivision}`
      )
    }
  })

/** Sets the sequences of `target` to those of `source`. */
export const copySequences = ({ source, target }: { readonly source: SqlClient; readonly target: SqlClient }) =>
  Effect.gen(function* () {
    const sequences = yield* source<{ readonly name: string }>`select relname as name from pg_class
      where relkind = 'S' and relnamespace = ${ownSchema(source)} order by relname`
    for (const { name } of sequences) {
      const [at] = yield* source<{ readonly last: string; readonly called: boolean }>`
        select last_value::text as last, is_called as called from ${source(name)}`
      if (at === undefined) continue
      yield* target`select setval(${quoted(name)}::regclass, ${at.last}::bigint, ${at.called})`
    }
  })

export const quoted = (name: string): string => pg.escapeIdentifier(name)

// ---- helpers ----

interface Partition {
  readonly name: string
  readonly parent: string
  readonly bounds: string
  /** Null if it has no partitions itself. */
  readonly key: string | null
}

/** Where the migrations create tables. */
const ownSchema = (sql: SqlClient) => sql`(select oid from pg_namespace where nspname = current_schema())`
