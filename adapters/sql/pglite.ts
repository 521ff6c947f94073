/** Postgres inside the process, in a folder: the engine that needs no set-up. */
import { existsSync, fsyncSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { setFlagsFromString } from "node:v8"
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import { PGlite } from "@electric-sql/pglite"
import { createPgConfig } from "@electric-sql/pglite/node-postgres"
import { NodeFS } from "@electric-sql/pglite/nodefs"
import { Effect, Layer, Option, Schedule } from "effect"
import pg from "pg"
import { Announcements } from "./Announcements.ts"
import * as FolderLock from "./FolderLock.ts"
import { migrateAt } from "./migrations.ts"
import { StoreCannotOpen } from "./StoreCannotOpen.ts"
import { syncPath, unpack } from "./storeImage.ts"
import { codeOf } from "./unavailable.ts"

export interface Options {
  /** Created if there is none. Everything the engine keeps is inside it. */
  readonly dataDir: string
  /** What a new folder is filled from (`storeImage.ts`); without it the engine makes a new database, which is slow. */
  readonly image?: Effect.Effect<Uint8Array>
}

/** Opened, locked against other processes, and migrated to the newest schema. */
export const layerWith = (options: Options): Layer.Layer<SqlClient | Announcements, StoreCannotOpen> =>
  Layer.merge(client(options), Announcements.layerAlone)

/** For those who would rather have none than a new, empty one. */
export const checkExists = (dataDir: string): Effect.Effect<void, StoreCannotOpen> =>
  existsSync(databaseIn(resolve(dataDir)))
    ? Effect.void
    : new StoreCannotOpen({
        place: resolve(dataDir),
        reason: "there is none",
        remedy:
          "Start the service once (earshot serve), name its folder with EARSHOT_DATA_DIR, or go to a server with EARSHOT_URL and EARSHOT_API_KEY",
        cause: undefined
      })

// ---- helpers ----

const client = (options: Options): Layer.Layer<SqlClient, StoreCannotOpen> =>
  Layer.scoped(
    SqlClient,
    Effect.gen(function* () {
      const folder = resolve(options.dataDir)
      yield* Effect.try({
        try: () => makeFolder(folder),
        catch: (cause) =>
          isRefusedByDeno(cause)
            ? notAllowed(folder, cause)
            : cause instanceof NotAFolder
              ? notAFolder(folder, cause)
              : cannotWrite(folder, cause)
      })
      yield* lock(folder)
      if (!existsSync(databaseIn(folder))) yield* prepare(folder, options.image)
      yield* checkVersion(folder)
      const db = yield* Effect.acquireRelease(open(folder), (db) => Effect.promise(() => db.close()))
      const client = yield* PgClient.fromPool({ acquire: poolOf(db) }).pipe(
        Effect.mapError(({ cause }) => cannotRead(folder, cause))
      )
      yield* Effect.provideService(migrateAt(folder), SqlClient, client)
      yield* Effect.forkScoped(maintain(client))
      return client
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** Not `recursive`: below a folder in which none can be made, such as /proc, Node tries that for ever. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) {
    if (!statSync(folder).isDirectory()) throw new NotAFolder(`"${folder}" is a file`)
    return
  }
  if (dirname(folder) !== folder) makeFolder(dirname(folder))
  mkdirSync(folder)
}

const lock = (folder: string) =>
  FolderLock.acquire(folder).pipe(
    Effect.catchTags({
      FolderInUse: (cause) =>
        new StoreCannotOpen({
          place: folder,
          reason: "another process is using this folder",
          remedy: "Stop that process, or give this one a folder of its own with EARSHOT_DATA_DIR",
          cause
        }),
      PathTooLong: (cause) =>
        new StoreCannotOpen({
          place: folder,
          reason: `its path is too long for the lock, which has to fit in ${cause.limit} bytes`,
          remedy: "Choose a shorter path with EARSHOT_DATA_DIR, or start from a folder nearer to it",
          cause
        }),
      LockFailed: ({ cause }) =>
        isRefusedByDeno(cause)
          ? notAllowed(folder, cause)
          : new StoreCannotOpen({
              place: folder,
              reason: `its lock, a socket in the folder, cannot be made${inWords(cause)}`,
              remedy: "Check the owner and permissions of the folder, or choose another one with EARSHOT_DATA_DIR",
              cause
            })
    })
  )

const databaseIn = (folder: string) => join(folder, "pg")

/**
 * A kill while a new database is being written would leave one that never opens: it is written aside and renamed when
 * all of it is on the disk. What an earlier start left there is removed first.
 */
const prepare = (folder: string, image: Options["image"]) =>
  Effect.gen(function* () {
    const aside = join(folder, "pg.new")
    const bytes = image === undefined ? undefined : yield* image
    yield* Effect.logInfo(`Preparing the store in ${folder}`)
    yield* Effect.tryPromise({
      try: async () => {
        rmSync(aside, { recursive: true, force: true })
        if (bytes === undefined) await initialise(aside)
        else unpack(bytes, aside)
        renameSync(aside, databaseIn(folder))
        syncPath(folder)
      },
      catch: (cause) => cannotOpen(folder, cause)
    })
  })

const initialise = async (database: string) => {
  const first = await start(database)
  await first.close()
  syncTree(database)
}

const open = (folder: string) =>
  Effect.tryPromise({ try: () => start(databaseIn(folder)), catch: (cause) => cannotOpen(folder, cause) })

/** The engine would say that its files are incompatible, and not with what. */
const checkVersion = (folder: string) =>
  Effect.suspend(() => {
    const file = join(databaseIn(folder), "PG_VERSION")
    const version = existsSync(file) ? readFileSync(file, "utf8").trim() : ENGINE_VERSION
    return version === ENGINE_VERSION
      ? Effect.void
      : new StoreCannotOpen({
          place: folder,
          reason: `it was written by version ${version} of the database engine, and this Earshot has version ${ENGINE_VERSION}`,
          remedy: "Run the Earshot that wrote it, or choose another folder with EARSHOT_DATA_DIR",
          cause: undefined
        })
  })
const ENGINE_VERSION = "18"

const start = async (database: string) => {
  optimizing.hold()
  const db = new ConsideratePGlite({
    fs: new DurableNodeFS(database),
    startParams: [
      // -F turns fsync off.
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
      // The system call behind the default does nothing here.
      ...["-c", "wal_sync_method=fsync"],
      // The default of 128 MB is resident memory for nothing: the files are in the cache of the system anyway.
      ...["-c", "shared_buffers=16MB"]
    ]
  })
  await db.waitReady
  return db
}
/** The engine computes without a pause, and its promises follow one another without one either. */
class ConsideratePGlite extends PGlite {
  override async execProtocolStream(...[message, options]: Parameters<PGlite["execProtocolStream"]>) {
    const began = performance.now()
    const answer = await super.execProtocolStream(message, options)
    optimizing.worked(performance.now() - began)
    // At the end of each statement, and only there, everyone else in the process has a turn.
    if (message[0] === SYNC || message[0] === QUERY) await new Promise((resume) => setImmediate(resume))
    return answer
  }
}
const SYNC = "S".charCodeAt(0)
const QUERY = "Q".charCodeAt(0)

/**
 * The engine is 9 MB of WebAssembly, of which V8 by default compiles a function anew, optimized, after a few calls. The
 * start of Postgres calls thousands: that took as long as the start itself, and 60 MB. So nothing is optimized until the
 * engine has been busy for two seconds of ten.
 */
const optimizing = {
  isHeld: false,
  window: { since: 0, busy: 0 },
  /** Functions other than that of this index stay as they are. */
  hold: () => {
    optimizing.isHeld = true
    setFlagsFromString("--wasm-tier-up-filter=0")
  },
  worked: (millis: number) => {
    if (!optimizing.isHeld) return
    const now = performance.now()
    if (now - optimizing.window.since > 10_000) optimizing.window = { since: now, busy: 0 }
    optimizing.window.busy += millis
    if (optimizing.window.busy <= 2_000) return
    optimizing.isHeld = false
    setFlagsFromString("--wasm-tier-up-filter=-1")
  }
}

/** The file system of PGlite has no fsync: a commit would survive a killed process, but not a power cut. */
class DurableNodeFS extends NodeFS {
  override async init(...args: Parameters<NodeFS["init"]>) {
    const { emscriptenOpts } = await super.init(...args)
    const giveFsync = (mod: { readonly NODEFS: NodeFsInternals }) => {
      mod.NODEFS.stream_ops.fsync = ({ nfd, node }) => {
        if (nfd === undefined) syncPath(mod.NODEFS.realPath(node))
        else fsyncSync(nfd)
        return 0
      }
    }
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), giveFsync] } }
  }
}

/** The part of Emscripten's NODEFS that we touch. */
interface NodeFsInternals {
  readonly realPath: (node: unknown) => string
  readonly stream_ops: {
    /** `nfd` is the descriptor of a file; a folder has none. */
    fsync: (stream: { readonly nfd?: number; readonly node: unknown }) => number
  }
}

const syncTree = (folder: string) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else syncPath(path)
  }
  syncPath(folder)
}

const poolOf = (db: PGlite) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new pg.Pool({ ...createPgConfig(db), max: 1, idleTimeoutMillis: 0 })
      pool.on("error", () => {})
      // Interrupted statements are cancelled over a second connection, which is not to be had: the driver would wait
      // for five seconds, within an open transaction. It leaves a connection without a process id alone.
      pool.on("connect", (client) => Object.assign(client, { processID: undefined }))
      return pool
    }),
    (pool) => Effect.promise(() => pool.end())
  )

/** What a server does in background processes: keep the log of changes short, so that a restart is quick, and tidy up. */
const maintain = (sql: SqlClient) => {
  const checkpoint = Effect.gen(function* () {
    const due = yield* sql`select 1 from pg_control_checkpoint()
      where pg_current_wal_insert_lsn() - redo_lsn > ${CHECKPOINT_AFTER_BYTES}`
    if (due.length > 0) yield* sql`checkpoint`
  })
  const vacuum = Effect.forEach(
    ["matches", "registrations", "rules", "keys", "accounts"],
    (table) => sql`vacuum (analyze) ${sql(table)}`
  )
  // All of it is replaced again and again, so the space of what was deleted is needed soon.
  const vacuumLog = Effect.forEach(["event_segments", "event_logs"], (table) => sql`vacuum ${sql(table)}`)
  const regularly = <A>(work: Effect.Effect<A, SqlError>, every: "5 seconds" | "1 minute" | "10 minutes") =>
    work.pipe(
      Effect.catchAll((error) => Effect.logWarning("Maintenance of the store failed and is tried again", error.cause)),
      Effect.delay(every),
      Effect.repeat(Schedule.forever)
    )
  return Effect.all(
    [regularly(checkpoint, "5 seconds"), regularly(vacuumLog, "1 minute"), regularly(vacuum, "10 minutes")],
    { concurrency: "unbounded" }
  )
}
const CHECKPOINT_AFTER_BYTES = 64 * 1024 * 1024

const cannotWrite = (place: string, cause: unknown) =>
  new StoreCannotOpen({
    place,
    reason: `the folder cannot be written${inWords(cause)}`,
    remedy: "Check its owner and permissions, or choose another folder with EARSHOT_DATA_DIR",
    cause
  })

class NotAFolder extends Error {}

const notAFolder = (place: string, cause: NotAFolder) =>
  new StoreCannotOpen({
    place,
    reason: cause.message,
    remedy: "Choose a folder with EARSHOT_DATA_DIR; it is made if there is none",
    cause
  })

/** By the permissions that Deno was started with, whoever owns the folder. */
const isRefusedByDeno = (cause: unknown) => cause instanceof Error && cause.name === "NotCapable"

const notAllowed = (place: string, cause: unknown) =>
  new StoreCannotOpen({
    place,
    reason: `Deno is not allowed to use this folder${inWords(cause)}`,
    remedy:
      "Make the folder if there is none, and name it in the --allow-read and --allow-write of deno.json, or choose one that they name with EARSHOT_DATA_DIR",
    cause
  })

const cannotOpen = (folder: string, cause: unknown) =>
  Option.contains(codeOf(cause), "EACCES") ? cannotWrite(folder, cause) : cannotRead(folder, cause)

const cannotRead = (place: string, cause: unknown) =>
  new StoreCannotOpen({
    place,
    reason: `the database in it does not start${inWords(cause)}`,
    remedy: "Check the free space and the permissions of the folder; restore it from a backup if it is damaged",
    cause
  })

const inWords = (cause: unknown) => (cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "")
