/** Several real servers on one Postgres database and one simulator, with faults between and in them. */
import { Effect, Redacted, type Scope } from "effect"
import pg from "pg"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import type { SettingsPatch } from "../../simulator/settings.ts"
import { until } from "../eventually.ts"
import { KEY, type Running, startService } from "../program.ts"
import { startProxy, type TcpProxy } from "./proxy.ts"
import { type Connection, type SimulatorProcess, startSimulator } from "./simulator.ts"

export interface FleetOptions {
  readonly database: Redacted.Redacted
  readonly servers: number
  readonly seed?: number
  /** Enterprise has backfill. */
  readonly tier?: "pay-per-use" | "enterprise"
  readonly simulator?: SettingsPatch
  /** Milliseconds by which the clock of the last server is ahead. */
  readonly lastClockAhead?: number
}

export interface Fleet {
  readonly simulator: SimulatorProcess
  readonly servers: ReadonlyArray<Server>
  /** Starts the first one alone, because it sets up the key. */
  readonly startAll: () => Promise<void>
  readonly up: () => ReadonlyArray<Server>
  /** The server that opened it: the last one that asked for it before. */
  readonly serverOf: (connection: Connection) => Server
  /** Of the newest open stream. */
  readonly ownerOf: (platform: PlatformId) => Server | undefined
  /** Waits until each platform has an open stream. */
  readonly isWatching: () => Promise<void>
  /** Waits a minute at most, because a cut stream waits before it reconnects. */
  readonly isSettled: () => Promise<void>
  /** Waits for a stream that was opened after `since`. Returns how many milliseconds after. */
  readonly reopened: (platform: PlatformId, since: number) => Promise<number>
  readonly sql: <Row extends pg.QueryResultRow>(statement: string) => Promise<ReadonlyArray<Row>>
  /** Ends all sessions of the database but ours, as a failover does. */
  readonly endSessions: () => Promise<void>
}

/** Starts no server. */
export const makeFleet = (options: FleetOptions): Effect.Effect<Fleet, never, Scope.Scope> =>
  Effect.gen(function* () {
    const simulator = yield* startSimulator({
      seed: options.seed ?? 1,
      tier: options.tier ?? "pay-per-use",
      settings: {
        x: { ...unlimited.x, ...options.simulator?.x },
        firehose: { ...unlimited.firehose, ...options.simulator?.firehose }
      }
    })
    const servers = yield* Effect.forEach(
      Array.from({ length: options.servers }, (_, at) => at + 1),
      (number) => {
        const clockAhead = number === options.servers ? (options.lastClockAhead ?? 0) : 0
        return Effect.acquireRelease(
          Effect.promise(() =>
            makeServer({ name: `server-${number}`, clockAhead, simulator, database: options.database })
          ),
          (server) => Effect.promise(server.close)
        )
      }
    )
    const sql: Fleet["sql"] = async (statement) => {
      const client = new pg.Client({ connectionString: Redacted.value(options.database) })
      await client.connect()
      try {
        return (await client.query(statement)).rows
      } finally {
        await client.end()
      }
    }
    const serverOf = ({ platform, openedAt }: Connection) => {
      const lastBefore = (server: Server) => Math.max(...server.streamRequests(platform).filter((at) => at <= openedAt))
      return servers.reduce((best, server) => (lastBefore(server) > lastBefore(best) ? server : best))
    }
    const isSettled = () =>
      PLATFORM_IDS.every((platform) => {
        const [stream, ...others] = simulator.open(platform)
        return stream !== undefined && others.length === 0 && stream.seenAt - stream.openedAt > SETTLED_MILLIS
      })
    return {
      simulator,
      servers,
      startAll: async () => {
        const [first, ...others] = servers
        await first?.start()
        await Promise.all(others.map((server) => server.start()))
      },
      up: () => servers.filter(({ state }) => state() === "up"),
      serverOf,
      ownerOf: (platform) => {
        const newest = simulator.open(platform).at(-1)
        return newest === undefined ? undefined : serverOf(newest)
      },
      isWatching: () =>
        until("each platform has an open stream", () => PLATFORM_IDS.every((id) => simulator.open(id).length > 0)),
      isSettled: () =>
        until("each platform has one open stream, and it stays", isSettled).catch((cause: Error) => {
          const counts = PLATFORM_IDS.map((platform) => `${platform} has ${simulator.open(platform).length}`)
          throw new Error(`${cause.message}: ${counts.join(", ")}`)
        }),
      reopened: async (platform, since) => {
        const after = () => simulator.connections(platform).find(({ openedAt }) => openedAt > since)
        await until(`the stream of ${platform} is open again`, () => after() !== undefined)
        return (after()?.openedAt ?? Number.POSITIVE_INFINITY) - since
      },
      sql,
      endSessions: async () => {
        await sql(`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`)
      }
    }
  })

export interface Server {
  readonly name: string
  readonly state: () => "up" | "frozen" | "down"
  /** Why it ended without being told to. */
  readonly failures: ReadonlyArray<string>
  readonly start: () => Promise<void>
  readonly kill: () => Promise<void>
  /** SIGTERM; waits for the end. */
  readonly stop: () => Promise<void>
  readonly freeze: () => void
  readonly wake: () => void
  readonly postgres: TcpProxy
  readonly platforms: TcpProxy
  /** When it asked for the stream, in milliseconds. */
  readonly streamRequests: (platform: PlatformId) => ReadonlyArray<number>
  readonly post: <A>(path: string, body: unknown) => Promise<A>
  readonly get: <A>(path: string) => Promise<A>
  readonly close: () => Promise<void>
}

// ---- helpers ----

/** A stream that is younger may still be moved. */
const SETTLED_MILLIS = 2_000

/** Many reconnects must not meet the rate limits of the platforms. */
const unlimited = {
  x: { stream_limit: 100_000, connections_limit: 100_000, rules_get_limit: 100_000, rules_post_limit: 100_000 },
  firehose: { stream_limit: 100_000, rules_limit: 100_000 }
}

const streamPaths: Readonly<Record<PlatformId, RegExp>> = {
  x: /^\/2\/tweets\/search\/stream\?/,
  firehose: /^\/v1\/stream/
}

const makeServer = async (options: {
  readonly name: string
  readonly clockAhead: number
  readonly simulator: SimulatorProcess
  readonly database: Redacted.Redacted
}): Promise<Server> => {
  const { name, simulator } = options
  const database = new URL(Redacted.value(options.database))
  const postgres = await startProxy({ host: database.hostname, port: Number(database.port) })
  const platforms = await startProxy({ host: "127.0.0.1", port: simulator.port })
  database.host = `127.0.0.1:${postgres.port}`
  const upstream = `http://127.0.0.1:${platforms.port}`
  let running: Running | undefined
  let starting: Promise<void> | undefined
  let isFrozen = false
  let starts = 0
  const failures: Array<string> = []

  const launch = async () => {
    // Names the writer of a row to the database.
    database.searchParams.set("application_name", `${name}.${++starts}`)
    const started = await startService("node", {
      DATABASE_URL: database.href,
      X_BASE_URL: upstream,
      X_BEARER_TOKEN: simulator.settings.x.bearer_token,
      FIREHOSE_BASE_URL: upstream,
      FIREHOSE_TAP_TOKEN: simulator.settings.firehose.tap_token,
      ...(options.clockAhead > 0 && { NODE_OPTIONS: clockShift(options.clockAhead) })
    })
    running = started
    void started.ended.then(({ code, stderr }) => {
      if (running !== started) return
      running = undefined
      failures.push(`${name} ended with ${code}: ${stderr.slice(-1_000)}`)
    })
  }
  const end = async (signal: NodeJS.Signals) => {
    const ending = running
    running = undefined
    isFrozen = false
    ending?.signal(signal)
    await ending?.ended
  }
  const freeze = (signal: "SIGSTOP" | "SIGCONT") => {
    running?.signal(signal)
    isFrozen = running !== undefined && signal === "SIGSTOP"
  }

  const ask = async <A>(path: string, body?: unknown) => {
    const answer = await fetch(`${running?.url}${path}`, {
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000)
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${name} answered ${answer.status} to ${path}: ${text}`)
    // The API's own tests check its shape.
    return JSON.parse(text) as A
  }

  return {
    name,
    state: () => (running === undefined ? "down" : isFrozen ? "frozen" : "up"),
    failures,
    start: () => {
      starting = launch()
      return starting
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    freeze: () => freeze("SIGSTOP"),
    wake: () => freeze("SIGCONT"),
    postgres,
    platforms,
    streamRequests: (platform) =>
      platforms.requests.filter(({ path }) => streamPaths[platform].test(path)).map(({ at }) => at),
    post: <A>(path: string, body: unknown) => ask<A>(path, body),
    get: <A>(path: string) => ask<A>(path),
    close: async () => {
      await starting?.catch(() => {})
      await end("SIGKILL")
      await Promise.all([postgres.close(), platforms.close()])
    }
  }
}

/** Loads a module before the program that puts its clock ahead. */
const clockShift = (millis: number): string => {
  const module = `globalThis.Date = new Proxy(Date, {
    construct: (of, args, as) => args.length > 0 ? Reflect.construct(of, args, as) : new of(of.now() + ${millis}),
    get: (of, name) => name === "now" ? () => of.now() + ${millis} : Reflect.get(of, name)
  })`
  return `--import=data:text/javascript,${encodeURIComponent(module)}`
}
