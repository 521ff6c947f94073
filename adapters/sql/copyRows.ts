/**
 * Copies the rows of tables in batches, and computes digests of them. Values travel as text, which Postgres reads back
 * unchanged; this process only passes on the arrays that the source made of them.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Data, Effect } from "effect"
import { MARK } from "./copyMark.ts"
import { type Leaf, quoted, type Table } from "./tables.ts"

export interface Step {
  readonly rows: number
  /** On disk. */
  readonly bytes: number
}

type Report = (step: Step) => Effect.Effect<void>

/** Another process copies the same rows. */
export class PlaceTaken extends Data.TaggedError("PlaceTaken") {}

/**
 * Copies the rows of a leaf, in their physical order. Each batch is stored in one statement with the place of the next
 * row. `from` is that place, null at the beginning.
 */
export const copyRows = (options: {
  readonly source: SqlClient
  readonly target: SqlClient
  readonly table: Table
  readonly leaf: Leaf
  readonly from: string | null
  readonly report: Report
}): Effect.Effect<void, SqlError | PlaceTaken> =>
  Effect.gen(function* () {
    const { source, target, table, leaf, report } = options
    const insert = insertInto(table)
    let stored = options.from
    let block = blockOf(options.from)
    if (block > 0) yield* report({ rows: 0, bytes: (block / leaf.blocks) * leaf.bytes })
    while (block < leaf.blocks) {
      const end = Math.min(block + READ_BLOCKS, leaf.blocks)
      const rows = yield* asPlainText(
        source,
        sizesIn(source, { table, leaf, from: stored ?? START, end: placeOf(end) })
      )
      for (const batch of batchesOf(rows)) {
        const [values = {}] = yield* asPlainText(source, valuesIn(source, { table, leaf, ...batch }))
        const parameters = [leaf.name, batch.next, stored, ...table.columns.map((_, index) => values[`c${index}`])]
        const [result] = yield* target.unsafe<{ readonly rows: number }>(insert, parameters)
        if (result?.rows !== batch.rows) return yield* new PlaceTaken()
        stored = batch.next
        yield* report({ rows: batch.rows, bytes: 0 })
      }
      yield* report({ rows: 0, bytes: ((end - block) / leaf.blocks) * leaf.bytes })
      block = end
    }
  })

/** The digest is the sum of the hashes of all rows: their order does not matter. */
export const digestOf = (sql: SqlClient, table: Table, report: Report) =>
  Effect.gen(function* () {
    let rows = 0
    let sum = 0n
    for (const { name, blocks, bytes } of table.leaves) {
      for (let block = 0; block < blocks; block += DIGEST_BLOCKS) {
        const end = Math.min(block + DIGEST_BLOCKS, blocks)
        const [found] = yield* asPlainText(
          sql,
          sql.unsafe<{ readonly rows: number; readonly sum: string }>(
            `select count(*)::float8 as rows,
              coalesce(sum(('X' || left(md5(${rowText(table)}), 16))::bit(64)::bigint), 0)::text as sum
              from ${quoted(name)} where ${WITHIN}`,
            [placeOf(block), placeOf(end)]
          )
        )
        rows += found?.rows ?? 0
        sum += BigInt(found?.sum ?? 0)
        yield* report({ rows: found?.rows ?? 0, bytes: ((end - block) / blocks) * bytes })
      }
    }
    return { rows, digest: BigInt.asUintN(64, sum).toString(16).padStart(16, "0") }
  })

// ---- helpers ----

/** Of the source, looked at at once. A block has 8 kB, and its rows may refer to large values elsewhere. */
const READ_BLOCKS = 128

/** Size of a batch in memory, roughly: more only if a single row is larger. */
const BATCH_BYTES = 2 * 1_048_576

const DIGEST_BLOCKS = 2_048

const START = "(0,0)"

const placeOf = (block: number): string => `(${block},0)`

const blockOf = (place: string | null): number => Number(/\d+/.exec(place ?? START)?.[0])

const WITHIN = "ctid >= $1::tid and ctid < $2::tid"

const rowText = ({ columns }: Table): string => `row(${columns.map(({ name }) => quoted(name)).join(", ")})::text`

/** The same text on both sides, whatever the settings of the database or the user. */
const asPlainText = <A, E>(sql: SqlClient, query: Effect.Effect<A, E>) =>
  sql.withTransaction(
    Effect.zipRight(
      sql`select set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
        set_config('IntervalStyle', 'postgres', true), set_config('extra_float_digits', '1', true),
        set_config('bytea_output', 'hex', true)`,
      query
    )
  )

interface Sized {
  readonly place: string
  readonly size: number
}

const sizesIn = (
  sql: SqlClient,
  part: { readonly table: Table; readonly leaf: Leaf; readonly from: string; readonly end: string }
) =>
  sql.unsafe<Sized>(
    `select ctid::text as place, octet_length(${rowText(part.table)}) as size
      from ${quoted(part.leaf.name)} where ${WITHIN} order by ctid`,
    [part.from, part.end]
  )

interface Batch {
  readonly first: string
  /** The place after the last row. */
  readonly next: string
  readonly rows: number
}

const batchesOf = (sized: ReadonlyArray<Sized>): ReadonlyArray<Batch> => {
  const batches: Array<Batch> = []
  let bytes = 0
  for (const { place, size } of sized) {
    const last = batches.at(-1)
    bytes += size
    if (last !== undefined && bytes <= BATCH_BYTES) {
      batches[batches.length - 1] = { ...last, next: after(place), rows: last.rows + 1 }
    } else {
      batches.push({ first: place, next: after(place), rows: 1 })
      bytes = size
    }
  }
  return batches
}

const after = (place: string): string => place.replace(/\d+\)$/, (row) => `${Number.parseInt(row, 10) + 1})`)

/** One row, with an array for each column. */
const valuesIn = (sql: SqlClient, part: { readonly table: Table; readonly leaf: Leaf } & Batch) => {
  const arrays = part.table.columns.map(({ name }, index) => `array_agg(${quoted(name)}::text)::text as c${index}`)
  return sql.unsafe<Readonly<Record<string, string>>>(
    `select ${arrays.join(", ")} from ${quoted(part.leaf.name)} where ${WITHIN}`,
    [part.first, part.next]
  )
}

/** Stores nothing if another process has moved the place. */
const insertInto = ({ name, columns }: Table): string => {
  const list = (of: (column: Table["columns"][number], index: number) => string) => columns.map(of).join(", ")
  return `with moved as (
      update ${quoted(MARK)} set places = places || jsonb_build_object($1::text, $2::text)
      where places ->> $1::text is not distinct from $3::text returning 1
    ), stored as (
      insert into ${quoted(name)} (${list((column) => quoted(column.name))}) overriding system value
      select ${list(({ type }, index) => `c${index}::${type}`)}
      from unnest(${list((_, index) => `$${index + 4}::text[]`)}) as r(${list((_, index) => `c${index}`)})
      where exists (select from moved) returning 1
    )
    select count(*)::int as rows from stored`
}
