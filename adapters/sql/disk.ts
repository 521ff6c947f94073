/** What this process knows of the disk of its store: by looking at it, and from writes that failed. */
import { access, constants, statfs } from "node:fs/promises"
import { SqlClient } from "@effect/sql/SqlClient"
import { Clock, Effect, Layer, Option, Schedule, type Scope } from "effect"
import { Disk, type Space } from "../../core/disk/Disk.ts"
import { type DiskProblem, describeProblem } from "../../core/model/Errors.ts"
import { codeOf } from "./statements.ts"

/** For a Postgres server: only failed writes tell that its disk is full. */
export const unseen: Layer.Layer<Disk> = Layer.sync(Disk, () => ({
  ...failures(),
  space: Effect.succeedNone,
  location: Option.none()
}))

/**
 * For the embedded store: looks at its folder every second. While the disk is full the store is read-only, because the
 * engine stops the whole process for good if it cannot extend its write-ahead log. `floor`: none for the default.
 */
export const watched = (
  folder: string,
  floor: Option.Option<number>
): Effect.Effect<Disk["Type"], never, SqlClient | Scope.Scope> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const failed = failures()
    let space = Option.none<Space>()
    let problem = Option.none<DiskProblem>()
    let isLow = false

    const setReadOnly = (isOn: boolean) =>
      sql.unsafe(`set default_transaction_read_only = ${isOn ? "on" : "off"}`).pipe(
        Effect.as(true),
        Effect.catchAll((error) =>
          Effect.as(Effect.logWarning("Cannot change whether the store may be written", error.cause), false)
        )
      )

    const warnIfChanged = (next: { readonly problem: Option.Option<DiskProblem>; readonly isLow: boolean }) => {
      const shown = Option.map(space, ({ free, total }) => ` (${mebibytes(free)} of ${mebibytes(total)} MiB are free)`)
      const place = `"${folder}"${Option.getOrElse(shown, () => "")}`
      const before = Option.getOrNull(problem)
      const now = Option.getOrNull(next.problem)
      if (now !== before) {
        return now === null
          ? Effect.logInfo(`The store in ${place} can be written again`)
          : Effect.logError(`${describeProblem(now)}. Its folder is ${place}`)
      }
      return next.isLow && !isLow ? Effect.logWarning(`${LOW}: make room for ${place}`) : Effect.void
    }

    const look = Effect.gen(function* () {
      const found = yield* Effect.promise(() => lookAt(folder))
      const wasFull = Option.contains(problem, "disk_full")
      let isFull = false
      if (found.size !== undefined) {
        const { free, total } = found.size
        const limit = floorOf(total, floor)
        const reserve = Math.max(MIN_RESERVE, limit / RESERVE_PART)
        isFull = free < (wasFull ? reserve * HYSTERESIS : reserve)
        if (isFull !== wasFull && !(yield* setReadOnly(isFull))) isFull = wasFull
        const reusable = free < limit && !isFull ? yield* reusableBytes(sql) : 0
        space = Option.some({ total, free: free + reusable, floor: limit })
      }
      const next = {
        problem: isFull
          ? Option.some("disk_full" as const)
          : found.isReadOnly
            ? Option.some("read_only" as const)
            : Option.none(),
        isLow: Option.exists(space, ({ free, floor }) => free < floor)
      }
      yield* warnIfChanged(next)
      problem = next.problem
      isLow = next.isLow
    })

    yield* look
    yield* Effect.forkScoped(Effect.repeat(Effect.delay(look, INTERVAL), Schedule.forever))
    return {
      space: Effect.sync(() => space),
      problem: Effect.suspend(() => (Option.isSome(problem) ? Effect.succeed(problem) : failed.problem)),
      noteFailure: failed.noteFailure,
      location: Option.some(folder)
    }
  })

/** By default a quarter of the disk on a small one, and 2 % on a large one. */
export const floorOf = (total: number, setting: Option.Option<number>): number =>
  Option.getOrElse(setting, () => Math.min(Math.max(256 * MIB, 0.02 * total), 2_048 * MIB, total / 4))

// ---- helpers ----

const MIB = 1_048_576

const INTERVAL = "1 second"

const LOW =
  "The disk of the store is nearly full, and events of the accounts that store the most are refused until more is free"

/** The part of the floor at which nothing is written any more. */
const RESERVE_PART = 4

/** Two segments of the write-ahead log. */
const MIN_RESERVE = 32 * MIB

/** How much more must be free until the store is written again. */
const HYSTERESIS = 1.25

const FAILURE_MILLIS = 15_000

const mebibytes = (bytes: number): string => (bytes / MIB).toFixed(0)

/** Retries fail again within seconds as long as the problem lasts. */
const failures = (): Pick<Disk["Type"], "problem" | "noteFailure"> => {
  let last: { readonly problem: DiskProblem; readonly until: number } | undefined
  return {
    problem: Effect.map(Clock.currentTimeMillis, (now) =>
      last !== undefined && now < last.until ? Option.some(last.problem) : Option.none()
    ),
    noteFailure: (problem) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        last = { problem, until: now + FAILURE_MILLIS }
      })
  }
}

/**
 * `size` is undefined if it cannot be told: on Deno that needs --allow-sys=statfs. Deno compares only the mode of the
 * folder, and asks for a permission to do so: there the first failed write tells that the file system is read-only.
 */
const lookAt = async (folder: string) => ({ size: await sizeOf(folder), isReadOnly: await isReadOnly(folder) })

const sizeOf = async (folder: string) => {
  try {
    const { bavail, blocks, bsize } = await statfs(folder)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return undefined
  }
}

const isReadOnly = async (folder: string) => {
  if ("Deno" in globalThis) return false
  try {
    await access(folder, constants.W_OK)
    return false
  } catch (error) {
    return Option.contains(codeOf(error), "EROFS")
  }
}

/**
 * A lower bound of the room inside the files of matches, which never shrink: what retention deletes makes room there, and
 * not on the disk.
 */
const reusableBytes = (sql: SqlClient) =>
  sql<{ readonly bytes: number }>`
    select greatest(0, pg_total_relation_size('matches') - coalesce(sum(bytes), 0) - ${ROW_BYTES} * coalesce(sum(matches), 0))::float8
      as bytes
    from account_usage`.pipe(
    Effect.map(([row]) => row?.bytes ?? 0),
    Effect.catchAll(() => Effect.succeed(0))
  )

/** Of a match without its payload, with its entries in the indexes. */
const ROW_BYTES = 600
