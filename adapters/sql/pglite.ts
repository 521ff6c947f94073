/** PGlite: an embedded Postgres in a folder, without any setup. */
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
import { Context, Effect, Layer, Option, Schedule } from "effect"
import { Disk } from "../../core/disk/Disk.ts"
import { isTurnLong, nextTurn } from "../../core/work/turns.ts"
import * as FirstKey from "../runtimes/firstKey.ts"
import { Announcements } from "./Announcements.ts"
import * as EmbeddedDisk from "./disk.ts"
import { FairPool } from "./FairPool.ts"
import * as FolderLock from "./FolderLock.ts"
import { migrateAt } from "./migrate.ts"
import { StoreCannotOpen } from "./StoreCannotOpen.ts"
import { codeOf } from "./statements.ts"
import { FOLDER_MODE, syncPath, unpack } from "./storeImage.ts"

export interface Options {
  /** Created if missing. Holds all files of the store. */
  readonly dataDir: string
  /** Initial content of a new folder (`storeImage.ts`). Without it the engine creates a new database, which is slow. */
  readonly image?: Effect.Effect<Uint8Array>
  /** In bytes: with less than this free on the disk, the largest accounts may not send events. */
  readonly diskFloor?: Option.Option<number>
  /** Nothing is written once the schema is up to date, not even by maintenance. */
  readonly isReadOnly?: boolean
}

/** Opened, locked against other processes, and migrated to the newest schema. */
export const layerWith = (options: Options): Layer.Layer<SqlClient | Announcements | Disk, StoreCannotOpen> =>
  Layer.merge(client(options), Announcements.layerSingle)

/** For commands that must not create a new, empty store. */
export const checkExists = (dataDir: string): Effect.Effect<void, StoreCannotOpen> =>
  Effect.suspend(() => {
    const location = resolve(dataDir)
    if (existsSync(databaseIn(location))) return Effect.void
    return existsSync(location) && !statSync(location).isDirectory()
      ? new StoreCannotOpen({
          location,
          reason: "it is a file",
          remedy: "Set EARSHOT_DATA_DIR to the folder of a store, or use a server with EARSHOT_URL and EARSHOT_API_KEY",
          cause: undefined
        })
      : new StoreCannotOpen({
          location,
          reason: "there is no store",
          remedy:
            "Start the service once (earshot serve), set EARSHOT_DATA_DIR to its folder, or use a server with EARSHOT_URL and EARSHOT_API_KEY",
          cause: undefined
        })
  })

// ---- helpers ----

const client = (options: Options): Layer.Layer<SqlClient | Disk, StoreCannotOpen> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const folder = resolve(options.dataDir)
      const modeBefore = yield* Effect.try({
        try: () => makeFolder(folder),
        catch: (cause) =>
          isRefusedByDeno(cause)
            ? notAllowed(folder, cause)
            : cause instanceof NotAFolder
              ? notAFolder(folder, cause)
              : cannotWrite(folder, cause)
      })
      // Before anything is written.
      yield* checkComplete(folder)
      if ((modeBefore & OTHERS) !== 0) yield* Effect.logWarning(openToOthers(folder, modeBefore))
      yield* lock(folder)
      if (!existsSync(databaseIn(folder))) yield* prepare(folder, options.image)
      yield* checkVersion(folder)
      yield* checkControlFile(folder)
      const db = yield* Effect.acquireRelease(open(folder), (db) => Effect.promise(() => db.close()))
      const client = yield* PgClient.fromPool({ acquire: poolOf(db) }).pipe(
        Effect.mapError(({ cause }) => cannotRead(folder, cause))
      )
      yield* Effect.provideService(migrateAt(folder), SqlClient, client)
      if (options.isReadOnly === true) {
        yield* Effect.orDie(client`set default_transaction_read_only = on`)
      } else {
        yield* Effect.forkScoped(maintain(client))
      }
      const watched = EmbeddedDisk.watched(folder, options.diskFloor ?? Option.none())
      const disk = yield* Effect.provideService(watched, SqlClient, client)
      return Context.make(SqlClient, client).pipe(Context.add(Disk, disk))
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** Returns the folder's mode. Not `recursive`: below a folder such as /proc Node would retry forever. */
const makeFolder = (folder: string): number => {
  if (existsSync(folder)) {
    const found = statSync(folder)
    if (!found.isDirectory()) throw new NotAFolder(`"${folder}" is a file`)
    return found.mode
  }
  if (dirname(folder) !== folder) makeFolder(dirname(folder))
  mkdirSync(folder, { mode: FOLDER_MODE })
  return FOLDER_MODE
}

/** The permissions of all users but the owner. */
const OTHERS = 0o077

/** Not changed here: the operator may have given access on purpose. */
const openToOthers = (folder: string, mode: number) =>
  `Other users of this machine may access the store in "${folder}" (mode ${(mode & 0o777).toString(8)}), which holds secrets: run chmod -R go-rwx '${folder}'`

const lock = (folder: string) =>
  FolderLock.acquire(folder).pipe(
    Effect.catchTags({
      FolderInUse: (cause) =>
        new StoreCannotOpen({
          location: folder,
          reason: "another process is using this folder",
          remedy: "Stop that process, or choose another folder with EARSHOT_DATA_DIR",
          cause
        }),
      PathTooLong: (cause) =>
        new StoreCannotOpen({
          location: folder,
          reason: `its path is too long for the lock: the limit is ${cause.limit} bytes`,
          remedy: "Choose a shorter path with EARSHOT_DATA_DIR, or start the program in a folder closer to it",
          cause
        }),
      LockFailed: ({ cause }) =>
        isRefusedByDeno(cause)
          ? notAllowed(folder, cause)
          : new StoreCannotOpen({
              location: folder,
              reason: `its lock, a socket in the folder, cannot be created${detailOf(cause)}`,
              remedy: "Check the owner and permissions of the folder, or choose another one with EARSHOT_DATA_DIR",
              cause
            })
    })
  )

const databaseIn = (folder: string) => join(folder, "pg")

/**
 * Writes a new database to a temporary folder, syncs it and renames it: a killed process must not leave a broken one.
 * Leftovers of an earlier start are removed first.
 */
const prepare = (folder: string, image: Options["image"]) =>
  Effect.gen(function* () {
    const temporary = join(folder, "pg.new")
    const bytes = image === undefined ? undefined : yield* image
    yield* Effect.logInfo(`Preparing the store in ${folder}`)
    yield* Effect.tryPromise({
      try: async () => {
        rmSync(temporary, { recursive: true, force: true })
        if (bytes === undefined) await initialise(temporary)
        else unpack(bytes, temporary)
        renameSync(temporary, databaseIn(folder))
        syncPath(folder)
      },
      catch: (cause) => cannotOpen(folder, cause)
    })
  })

const initialise = async (database: string) => {
  mkdirSync(database, { mode: FOLDER_MODE })
  const first = await start(database)
  await first.close()
  syncTree(database)
}

const open = (folder: string) =>
  Effect.tryPromise({ try: () => start(databaseIn(folder)), catch: (cause) => cannotOpen(folder, cause) })

/**
 * A folder with a missing or empty part. Without some files the engine would create a new, empty database over the
 * others.
 */
const checkComplete = (folder: string) =>
  Effect.suspend(() => {
    const incomplete = (reason: string) =>
      new StoreCannotOpen({
        location: folder,
        reason: `${reason}, as after an interrupted copy`,
        remedy: RESTORE,
        cause: undefined
      })
    const database = databaseIn(folder)
    if (!existsSync(database)) {
      const key = FirstKey.pathIn(folder)
      return existsSync(key) ? incomplete(`it has "${key}" and no store`) : Effect.void
    }
    for (const path of REQUIRED_PATHS.map((name) => join(database, name))) {
      if (!existsSync(path)) return incomplete(`"${path}" is missing`)
      if (isEmpty(path)) return incomplete(`"${path}" is empty`)
    }
    return existsSync(join(database, TABLESPACES))
      ? Effect.void
      : incomplete(`"${join(database, TABLESPACES)}" is missing`)
  })

const RESTORE =
  "Nothing was changed. Restore the whole folder from a backup, or choose an empty folder with EARSHOT_DATA_DIR"

/** Every database has them, from its creation on, and something in them. */
const REQUIRED_PATHS = ["PG_VERSION", "global/pg_control", "base", "pg_wal", "pg_xact", "pg_multixact"]

/** Every database has it, with nothing in it. */
const TABLESPACES = "pg_tblspc"

const isEmpty = (path: string): boolean => {
  const found = statSync(path)
  return found.isDirectory() ? readdirSync(path).length === 0 : found.size === 0
}

/** The engine's own error does not name the versions. */
const checkVersion = (folder: string) =>
  Effect.suspend(() => {
    const version = readFileSync(join(databaseIn(folder), "PG_VERSION"), "utf8").trim()
    return version === ENGINE_VERSION
      ? Effect.void
      : new StoreCannotOpen({
          location: folder,
          reason: `it was written by version ${version} of the database engine, and this Earshot has version ${ENGINE_VERSION}`,
          remedy: "Run the Earshot that wrote it, or choose another folder with EARSHOT_DATA_DIR",
          cause: undefined
        })
  })
const ENGINE_VERSION = "18"

/** The engine's own error does not say that this file is the reason. */
const checkControlFile = (folder: string) =>
  Effect.suspend(() => {
    const path = join(databaseIn(folder), "global", "pg_control")
    const content = readFileSync(path)
    const isIntact =
      content.length >= CONTROL_BYTES + 4 &&
      crc32c(content.subarray(0, CONTROL_BYTES)) === content.readUInt32LE(CONTROL_BYTES)
    return isIntact
      ? Effect.void
      : new StoreCannotOpen({
          location: folder,
          reason: `"${path}" is damaged: its checksum is wrong, and without this file the database cannot start`,
          remedy: RESTORE,
          cause: undefined
        })
  })

/** In version 18 of the engine. Its checksum follows. */
const CONTROL_BYTES = 292

const crc32c = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0)
  }
  return ~crc >>> 0
}

const start = async (database: string) => {
  wasmTierUp.delay()
  const db = new YieldingPGlite({
    fs: new DurableNodeFS(database),
    startParams: [
      // -F turns fsync off.
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
      // The default method is a no-op in PGlite.
      ...["-c", "wal_sync_method=fsync"],
      // Not the default of 128 MB: the operating system caches the files anyway.
      ...["-c", "shared_buffers=16MB"],
      // A new file of the log is not filled with zeros first, which would hold up everything else.
      ...["-c", "wal_init_zero=off"],
      // Nothing analyzes a table that has just grown. The planner then expects few rows: it would read all rules of an
      // account and sort them for each page, instead of the page from the index.
      ...["-c", "enable_bitmapscan=off"]
    ]
  })
  await db.waitReady
  return db
}

/**
 * Yields to the event loop after each statement, and before a message if the turn is long already: the engine runs
 * synchronously, and its promises never yield.
 */
class YieldingPGlite extends PGlite {
  override async execProtocolStream(...[message, options]: Parameters<PGlite["execProtocolStream"]>) {
    if (isTurnLong()) await nextTurn()
    // The driver does not wait until its farewell was read.
    if (this.closed) return []
    const startedAt = performance.now()
    const answer = await super.execProtocolStream(message, options)
    wasmTierUp.addBusyTime(performance.now() - startedAt)
    if (message[0] === SYNC || message[0] === QUERY) await nextTurn()
    return answer
  }
}
const SYNC = "S".charCodeAt(0)
const QUERY = "Q".charCodeAt(0)

/**
 * Delays V8's optimizing compiler until the engine was busy for two of ten seconds. The engine is 9 MB of WebAssembly,
 * and V8 recompiles a function after a few calls: during the start of Postgres that took as long as the start itself,
 * and 60 MB.
 */
const wasmTierUp = {
  isDelayed: false,
  window: { since: 0, busy: 0 },
  /** Limits tier-up to the function with index 0. */
  delay: () => {
    wasmTierUp.isDelayed = true
    setFlagsFromString("--wasm-tier-up-filter=0")
  },
  addBusyTime: (millis: number) => {
    if (!wasmTierUp.isDelayed) return
    const now = performance.now()
    if (now - wasmTierUp.window.since > 10_000) wasmTierUp.window = { since: now, busy: 0 }
    wasmTierUp.window.busy += millis
    if (wasmTierUp.window.busy <= 2_000) return
    wasmTierUp.isDelayed = false
    setFlagsFromString("--wasm-tier-up-filter=-1")
  }
}

/**
 * Adds two things to PGlite's file system. Fsync: without it a commit survives a killed process, but not a power cut.
 * And private files, regardless of the umask, which Deno may not set.
 */
class DurableNodeFS extends NodeFS {
  override async init(...args: Parameters<NodeFS["init"]>) {
    const { emscriptenOpts } = await super.init(...args)
    const addFsync = ({ NODEFS }: { readonly NODEFS: NodeFsInternals }) => {
      NODEFS.stream_ops.fsync = ({ nfd, node }) => {
        if (nfd === undefined) syncPath(NODEFS.realPath(node))
        else fsyncSync(nfd)
        return 0
      }
    }
    const makePrivate = ({ NODEFS }: { readonly NODEFS: NodeFsInternals }) => {
      const { mknod } = NODEFS.node_ops
      NODEFS.node_ops.mknod = (parent, name, mode, device) => mknod(parent, name, mode & ~OTHERS, device)
      const { doSetAttr } = NODEFS
      NODEFS.doSetAttr = (target, node, { mode, ...others }, ...operations) =>
        doSetAttr(target, node, mode === undefined ? others : { mode: mode & ~OTHERS, ...others }, ...operations)
    }
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync, makePrivate] } }
  }
}

/** The part of Emscripten's NODEFS used here. */
interface NodeFsInternals {
  readonly realPath: (node: unknown) => string
  /** Changes the mode, among others: the engine sets it on each new file. */
  doSetAttr: (
    target: unknown,
    node: unknown,
    attributes: { readonly mode?: number | undefined },
    ...operations: ReadonlyArray<unknown>
  ) => void
  readonly node_ops: {
    /** Creates a file or a folder. */
    mknod: (parent: unknown, name: string, mode: number, device: number) => unknown
  }
  readonly stream_ops: {
    /** `nfd` is a file descriptor; undefined for a folder. */
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
      const pool = new FairPool({ ...createPgConfig(db), max: 1, idleTimeoutMillis: 0 })
      pool.on("error", () => {})
      // The driver cancels an interrupted statement over a second connection. PGlite has only one, so the driver would
      // wait five seconds within an open transaction. Without a process id it does not try.
      pool.on("connect", (client) => Object.assign(client, { processID: undefined }))
      return pool
    }),
    (pool) => Effect.promise(() => pool.end())
  )

/**
 * Checkpoints and vacuum, which a Postgres server runs in background processes. Checkpoints keep restarts fast. Both are
 * done after little has been written, where possible: they hold up everything else as long as they take.
 */
const maintain = (sql: SqlClient) => {
  const checkpoint = sql`checkpoint`
  // The log of recent events is replaced all the time and reuses the freed space. Truncating it takes up to 90 ms.
  const vacuumLog = Effect.forEach(
    ["event_segments", "event_logs"],
    (table) => sql`vacuum (truncate off) ${sql(table)}`
  )
  const vacuum = Effect.forEach(
    ["matches", "registrations", "rules", "keys", "accounts"],
    (table) => sql`vacuum (analyze) ${sql(table)}`
  )
  const written = Effect.map(
    sql<{ readonly bytes: number }>`select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`,
    ([row]) => row?.bytes ?? 0
  )
  const last = { checkpoint: 0, vacuumLog: 0 }
  const ifDue = Effect.gen(function* () {
    const now = yield* written
    if (now - last.vacuumLog >= VACUUM_LOG_AFTER_BYTES) {
      yield* vacuumLog
      last.vacuumLog = now
    }
    if (now - last.checkpoint >= CHECKPOINT_AFTER_BYTES) {
      yield* checkpoint
      last.checkpoint = now
    }
  })
  const regularly = <A>(work: Effect.Effect<A, SqlError>, every: "1 second" | "10 minutes") =>
    work.pipe(
      Effect.catchAll((error) => Effect.logWarning("Store maintenance failed and will be retried", error.cause)),
      Effect.delay(every),
      Effect.repeat(Schedule.forever)
    )
  return Effect.all([regularly(ifDue, "1 second"), regularly(vacuum, "10 minutes")], { concurrency: "unbounded" })
}
/** A checkpoint after 64 MB takes 100 ms, one after 4 MB about 25 ms. Writing gets no slower by more of them. */
const CHECKPOINT_AFTER_BYTES = 4 * 1024 * 1024
const VACUUM_LOG_AFTER_BYTES = 4 * 1024 * 1024

const cannotWrite = (location: string, cause: unknown) =>
  new StoreCannotOpen({
    location,
    reason: `the folder cannot be written${detailOf(cause)}`,
    remedy: "Check its owner and permissions, or choose another folder with EARSHOT_DATA_DIR",
    cause
  })

class NotAFolder extends Error {}

const notAFolder = (location: string, cause: NotAFolder) =>
  new StoreCannotOpen({
    location,
    reason: cause.message,
    remedy: "Choose a folder with EARSHOT_DATA_DIR; it is created if missing",
    cause
  })

/** Deno's own permissions, regardless of the folder's owner. */
const isRefusedByDeno = (cause: unknown) => cause instanceof Error && cause.name === "NotCapable"

const notAllowed = (location: string, cause: unknown) =>
  new StoreCannotOpen({
    location,
    reason: `Deno is not allowed to use this folder${detailOf(cause)}`,
    remedy:
      "Create the folder if it is missing and add it to --allow-read and --allow-write in deno.json, or set EARSHOT_DATA_DIR to a folder that they allow",
    cause
  })

const cannotOpen = (folder: string, cause: unknown) =>
  Option.contains(codeOf(cause), "EACCES") ? cannotWrite(folder, cause) : cannotRead(folder, cause)

const cannotRead = (location: string, cause: unknown) =>
  new StoreCannotOpen({
    location,
    reason: `the database in it does not start${detailOf(cause)}`,
    remedy: "Check the free space and the permissions of the folder; restore it from a backup if it is damaged",
    cause
  })

const detailOf = (cause: unknown) => (cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "")
