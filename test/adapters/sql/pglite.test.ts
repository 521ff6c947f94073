import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { build } from "esbuild"
import { storeImage } from "../../../adapters/runtimes/assets.ts"
import * as pglite from "../../../adapters/sql/pglite.ts"
import { unpack } from "../../../adapters/sql/storeImage.ts"
import * as stores from "../../../adapters/sql/stores.ts"
import type { KeyStore } from "../../../core/keys/KeyStore.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { newAccount, newMatch, visibleRule } from "../../contract/samples.ts"
import { isLong, sized } from "../../long.ts"
import { ROOT, runInProcess } from "../../program.ts"
import { temporaryFolder } from "../../stores.ts"

const KILLS = sized(1, 10)

const longTest = isLong ? it.scopedLive : it.scopedLive.skip

describe("pglite", () => {
  it.scopedLive("layerWith fails while another process uses the folder, which keeps working", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      const first = startWriter(dataDir)
      yield* Effect.promise(() => opens(first))
      const second = yield* Effect.promise(() => collect(startWriter(dataDir, 3)))
      assert.deepStrictEqual(second, [
        `refused Cannot open the store at "${dataDir}": another process is using this folder. ` +
          "Stop that process, or choose another folder with EARSHOT_DATA_DIR"
      ])
      yield* Effect.promise(() => new Promise((resume) => first.stdout?.once("data", resume)))
      first.kill("SIGKILL")
    })
  )

  it.scopedLive("one of several processes takes over the lock of a killed process", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      yield* Effect.promise(() => killAfter(startWriter(dataDir), 0))
      assert.isTrue(hasLock(dataDir))
      const writers = Array.from({ length: 3 }, () => startWriter(dataDir))
      const answers = yield* Effect.promise(() => Promise.all(writers.map(opens)))
      for (const writer of writers) writer.kill("SIGKILL")
      assert.deepStrictEqual(answers.sort(), [false, false, true])
    })
  )

  it.scopedLive("closing the store releases the lock", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      yield* inStore(dataDir, newAccount)
      assert.isFalse(hasLock(dataDir))
      yield* inStore(dataDir, newAccount)
    })
  )

  it.scopedLive("acknowledged writes survive repeated kill -9", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      const acknowledged: Array<string> = []
      const check = (lines: ReadonlyArray<string>, kill: number) => {
        const found = new Set(lines.flatMap((line) => (line.startsWith("has ") ? [line.slice(4)] : [])))
        const lost = acknowledged.filter((line) => !found.has(line))
        assert.deepStrictEqual(lost, [], `after kill ${kill}`)
      }
      for (let kill = 0; kill < KILLS; kill++) {
        const lines = yield* Effect.promise(() => killAfter(startWriter(dataDir), 21 + Math.random() * 200))
        check(lines, kill)
        acknowledged.push(...lines.filter((line) => line.startsWith("rule ") || line.startsWith("match ")))
      }
      check(yield* Effect.promise(() => collect(startWriter(dataDir, 0))), KILLS)
      assert.isAbove(acknowledged.length, KILLS * 20)
    })
  )

  it.scopedLive("the store opens after kill -9 at any moment of the first start", () =>
    Effect.gen(function* () {
      for (let kill = 0; kill < KILLS; kill++) {
        const dataDir = join(yield* temporaryFolder, "data")
        const child = startWriter(dataDir, 0)
        const begun = () => hasLock(dataDir)
        yield* Effect.repeat(Effect.sleep("1 millis"), { until: begun })
        yield* Effect.sleep(Math.random() * 300)
        child.kill("SIGKILL")
        yield* Effect.promise(() => once(child, "close"))
        yield* inStore(dataDir, newAccount)
        assert.isFalse(existsSync(join(dataDir, "pg.new")))
      }
    })
  )

  it.scopedLive("layerWith replaces a partly unpacked image", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      mkdirSync(join(dataDir, "pg.new", "base"), { recursive: true })
      writeFileSync(join(dataDir, "pg.new", "PG_VERSION"), "18\n")
      yield* inStore(dataDir, newAccount)
      assert.isFalse(existsSync(join(dataDir, "pg.new")))
    })
  )

  it.scopedLive("every new store has its own deployment id and keeps it", () =>
    Effect.gen(function* () {
      const deployment = Effect.flatMap(RuleStore, (rules) => rules.deployment)
      const [one, other] = [yield* temporaryFolder, yield* temporaryFolder]
      const first = yield* inStore(one, deployment)
      assert.match(first, /^[0-9a-f-]{36}$/)
      assert.strictEqual(yield* inStore(one, deployment), first)
      assert.notStrictEqual(yield* inStore(other, deployment), first)
    })
  )

  for (const [name, options] of Object.entries({ "an image": { image: storeImage }, "no image": {} })) {
    const isShort = "image" in options
    const test = isShort ? it.scopedLive : longTest
    const note = isShort ? "" : " (takes long: runs in check:long)"
    test(`only the owner can access a new store made from ${name}, whatever the umask${note}`, () =>
      Effect.gen(function* () {
        const dataDir = join(yield* temporaryFolder, "new", "store")
        yield* Effect.acquireRelease(
          Effect.sync(() => process.umask(0)),
          (before) => Effect.sync(() => process.umask(before))
        )
        const layer = Layer.provide(stores.layer, pglite.layerWith({ dataDir, ...options }))
        const write = Effect.andThen(
          newAccount,
          Effect.sync(() => openToOthers(dataDir))
        )
        assert.deepStrictEqual(yield* Effect.provide(write, layer), [])
        assert.deepStrictEqual(openToOthers(dataDir), [])
      }))
  }

  it.scopedLive("every commit is followed by an fsync", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      if (spawnSync("strace", ["-V"]).status === 0) {
        const trace = join(yield* temporaryFolder, "trace")
        const traced = spawn("strace", ["-f", "-e", "trace=fsync", "-o", trace, ...writerCommand(dataDir, 60)])
        yield* Effect.promise(() => collect(traced))
        assert.isAtLeast(readFileSync(trace, "utf8").split("fsync(").length - 1, 60)
      } else {
        const lines = yield* Effect.promise(() => collect(startWriter(dataDir, 60)))
        assert.isAtLeast(Number(lines.at(-1)?.replace("fsyncs ", "")), 60)
      }
    })
  )

  it.scopedLive("inserts do not block the event loop", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      const batches = sized(10, 40)
      const turns = yield* inStore(
        dataDir,
        Effect.gen(function* () {
          const matches = yield* MatchStore
          const rule = yield* visibleRule(yield* newAccount)
          let turns = 0
          const timer = setInterval(() => turns++, 1)
          for (let i = 0; i < batches; i++) {
            yield* matches.insert(Array.from({ length: 100 }, () => newMatch(rule.id)))
          }
          clearInterval(timer)
          return turns
        })
      )
      assert.isAtLeast(turns, batches / 2)
    })
  )

  it.scopedLive("an interrupted transaction releases the only connection at once", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient
        const begun = yield* Deferred.make<void>()
        const work = Effect.zipRight(Deferred.succeed(begun, undefined), sql`select pg_sleep(0.5)`)
        const fiber = yield* Effect.fork(sql.withTransaction(work))
        yield* Deferred.await(begun)
        const [elapsed] = yield* Effect.timed(Effect.zipRight(Fiber.interrupt(fiber), sql`select 1`))
        assert.isBelow(Duration.toMillis(elapsed), 20_000)
      }).pipe(Effect.provide(pglite.layerWith({ dataDir })))
    })
  )

  it.scopedLive("layerWith fails with StoreCannotOpen for a file or a too long path", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = join(folder, "file")
      writeFileSync(file, "")
      const onFile = yield* Effect.flip(Layer.build(pglite.layerWith({ dataDir: join(file, "data") })))
      assert.strictEqual(onFile._tag, "StoreCannotOpen")
      assert.match(onFile.message, /^Cannot open the store at ".*file\/data": ".*file" is a file\. Choose/)
      const asFolder = yield* Effect.flip(Layer.build(pglite.layerWith({ dataDir: file })))
      assert.match(
        asFolder.message,
        /^Cannot open the store at ".*\/file": ".*\/file" is a file\. Choose a folder with EARSHOT_DATA_DIR/
      )
      const long = join(folder, "x".repeat(120))
      const tooLong = yield* Effect.flip(Layer.build(pglite.layerWith({ dataDir: long })))
      assert.match(tooLong.message, /: its path is too long for the lock: the limit is 103 bytes\. Choose a shorter/)
    })
  )

  it.scopedLive("layerWith names a folder that is missing, and changes nothing", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      for (const missing of ["base", "pg_wal"]) {
        const path = join(dataDir, "pg", missing)
        renameSync(path, `${path}.away`)
        const before = contentOf(dataDir)
        const error = yield* Effect.flip(Layer.build(pglite.layerWith({ dataDir, image: storeImage })))
        assert.include(error.message, `"${path}" is missing, as after an interrupted copy`)
        assert.deepStrictEqual(contentOf(dataDir), before)
        renameSync(`${path}.away`, path)
      }
    })
  )

  it.scopedLive("layerWith fails with StoreCannotOpen for a damaged database", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      writeFileSync(join(dataDir, "pg", "global", "pg_filenode.map"), "damaged")
      const error = yield* Effect.flip(Layer.build(pglite.layerWith({ dataDir })))
      assert.strictEqual(error._tag, "StoreCannotOpen")
      assert.match(error.message, /: the database in it does not start.*restore it from a backup/s)
    })
  )

  it.scopedLive("layerWith names pg_control when it is damaged, and changes nothing", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      const file = join(dataDir, "pg", "global", "pg_control")
      const content = readFileSync(file)
      const changed = Buffer.from(content)
      changed.writeUInt8(changed.readUInt8(100) ^ 1, 100)
      for (const damaged of ["damaged", Buffer.alloc(content.length), changed]) {
        writeFileSync(file, damaged)
        const before = contentOf(dataDir)
        const error = yield* Effect.flip(Layer.build(pglite.layerWith({ dataDir })))
        assert.strictEqual(
          error.message,
          `Cannot open the store at "${dataDir}": "${file}" is damaged: its checksum is wrong, and without this file the database cannot start. Nothing was changed. Restore the whole folder from a backup, or choose an empty folder with EARSHOT_DATA_DIR`
        )
        assert.deepStrictEqual(contentOf(dataDir), before)
      }
      writeFileSync(file, content)
      yield* inStore(dataDir, newAccount)
    })
  )

  for (const missing of ["PG_VERSION", "global/pg_control"]) {
    it.scopedLive(`layerWith names ${missing} when it is missing, and changes nothing; neither does a command`, () =>
      Effect.gen(function* () {
        const dataDir = yield* preparedFolder
        const file = join(dataDir, "pg", missing)
        const content = readFileSync(file)
        rmSync(file)
        const before = contentOf(dataDir)
        const error = yield* Effect.flip(Layer.build(pglite.layerWith({ dataDir, image: storeImage })))
        assert.strictEqual(
          error.message,
          `Cannot open the store at "${dataDir}": "${file}" is missing, as after an interrupted copy. Nothing was changed. Restore the whole folder from a backup, or choose an empty folder with EARSHOT_DATA_DIR`
        )
        for (const command of [["matches"], ["keys", "list"], ["keys", "create"]]) {
          const { code, stdout, stderr } = yield* Effect.promise(() =>
            runInProcess(command, { EARSHOT_DATA_DIR: dataDir })
          )
          assert.deepStrictEqual([code, stdout], [1, ""])
          assert.include(stderr, `"${file}" is missing`)
        }
        assert.deepStrictEqual(contentOf(dataDir), before)
        writeFileSync(file, content)
        yield* inStore(dataDir, newAccount)
      })
    )
  }

  it.scopedLive("layerWith names an empty part, and a first key without a store, and changes nothing", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      const refusal = Effect.flip(Layer.build(pglite.layerWith({ dataDir, image: storeImage })))
      for (const name of ["PG_VERSION", "global/pg_control"]) {
        const file = join(dataDir, "pg", name)
        const content = readFileSync(file)
        writeFileSync(file, "")
        assert.include((yield* refusal).message, `"${file}" is empty, as after an interrupted copy`)
        writeFileSync(file, content)
      }
      const base = join(dataDir, "pg", "base")
      renameSync(base, join(dataDir, "kept"))
      mkdirSync(base)
      assert.include((yield* refusal).message, `"${base}" is empty`)
      rmSync(join(dataDir, "pg"), { recursive: true })
      const key = join(dataDir, "first-key")
      writeFileSync(key, "es_1")
      assert.include((yield* refusal).message, `it has "${key}" and no store, as after an interrupted copy`)
      assert.strictEqual(readFileSync(key, "utf8"), "es_1")
      assert.isFalse(existsSync(join(dataDir, "pg")))
    })
  )

  it.scopedLive("layerWith names both versions when the folder is of another engine version, and changes nothing", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      const version = join(dataDir, "pg", "PG_VERSION")
      writeFileSync(version, "17\n")
      const error = yield* Effect.flip(Layer.build(pglite.layerWith({ dataDir })))
      assert.match(
        error.message,
        /: it was written by version 17 of the database engine, and this Earshot has version 18/
      )
      writeFileSync(version, "18\n")
      yield* inStore(dataDir, newAccount)
    })
  )

  longTest("runs on Deno, in a folder created by Node", () =>
    Effect.gen(function* () {
      const dataDir = yield* preparedFolder
      const permissions = ["--allow-env", "--allow-read", `--allow-write=${dataDir}`, "--allow-net"]
      const deno = spawn("npx", ["deno", "run", ...permissions, WRITER, dataDir, "6"])
      const acknowledged = (yield* Effect.promise(() => collect(deno))).filter((line) => line.startsWith("match "))
      assert.strictEqual(acknowledged.length, 40)
      const found = yield* Effect.promise(() => collect(startWriter(dataDir, 0)))
      assert.includeMembers(
        found,
        acknowledged.map((line) => `has ${line}`)
      )
    })
  )

  longTest("layerWith says which permission Deno lacks for the folder", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const lacking = [
        ["read", ["--allow-read=."]],
        ["write", ["--allow-read"]]
      ] as const
      for (const [access, permissions] of lacking) {
        const flags = ["--no-prompt", "--allow-env", "--allow-net", ...permissions]
        const deno = spawn("npx", ["deno", "run", ...flags, WRITER, dataDir, "1"])
        const [refused = ""] = yield* Effect.promise(() => collect(deno))
        assert.match(
          refused,
          new RegExp(
            `^refused Cannot open the store at ".*": Deno is not allowed to use this folder: Requires ${access} access .*\\. Create the folder if it is missing and add it to --allow-read and --allow-write in deno\\.json`
          )
        )
      }
    })
  )
})

// ---- helpers ----

/** Digests by path. */
const contentOf = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")])
  )

const preparedFolder = Effect.tap(temporaryFolder, (folder) =>
  Effect.map(storeImage, (image) => unpack(image, join(folder, "pg")))
)

/** Inside node_modules, so that it finds the packages that are not bundled. */
const WRITER = join(ROOT, "node_modules", ".cache", "earshot", "writer.mjs")
beforeAll(() =>
  build({
    entryPoints: [join(import.meta.dirname, "writer.ts")],
    outfile: WRITER,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["@electric-sql/pglite", "pg-native"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' }
  })
)

const hasLock = (dataDir: string) =>
  existsSync(dataDir) && readdirSync(dataDir).some((name) => name.startsWith("lock-"))

const writerCommand = (dataDir: string, commits: number) => [process.execPath, WRITER, dataDir, String(commits)]

const startWriter = (dataDir: string, commits = Number.POSITIVE_INFINITY) =>
  spawn(process.execPath, writerCommand(dataDir, commits).slice(1), { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] })

/** All complete lines that the process prints until it ends. */
const collect = async (child: ChildProcess): Promise<Array<string>> => {
  let output = ""
  child.stdout?.on("data", (chunk) => {
    output += chunk
  })
  await once(child, "close")
  // The kill may have cut off the last line.
  return output.slice(0, output.lastIndexOf("\n")).split("\n")
}

/** True when the writer opens the store, false when that fails. */
const opens = (child: ChildProcess) =>
  new Promise<boolean>((resume, fail) => {
    let output = ""
    child.stdout?.on("data", (chunk) => {
      output += chunk
      if (/^open$/m.test(output)) resume(true)
      if (/^refused /m.test(output)) resume(false)
    })
    child.once("close", (code) => fail(new Error(`The writer ended with code ${code}`)))
  })

/** Kills the process at a random moment after it opened the store and printed that many lines. Returns its output. */
const killAfter = async (child: ChildProcess, lines: number) => {
  const output = collect(child)
  await opens(child)
  for (let seen = 0; seen < lines; ) {
    const [chunk] = await once(child.stdout ?? child, "data")
    seen += String(chunk).split("\n").length - 1
  }
  await new Promise((resume) => setTimeout(resume, Math.random() * 20))
  child.kill("SIGKILL")
  return output
}

/** Files, folders and sockets, with their mode. */
const openToOthers = (folder: string): ReadonlyArray<string> =>
  [folder, ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))]
    .map((path) => `${(statSync(path).mode & 0o777).toString(8)} ${path}`)
    .filter((line) => !/^[67]00 /.test(line))

const inStore = <A, E>(dataDir: string, effect: Effect.Effect<A, E, RuleStore | MatchStore | KeyStore>) =>
  Effect.provide(effect, Layer.provide(stores.layer, pglite.layerWith({ dataDir, image: storeImage })))
