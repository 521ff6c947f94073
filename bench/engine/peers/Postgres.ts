/** PostgreSQL with a RUM index over queries: a private cluster, measured inside the server. */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import pg from "pg"
import type { Contender, Round } from "../contender.ts"
import { readPlain } from "../workload/event.ts"
import { plainFile, readLines, readRules, type WorkloadName, workloads } from "../workload/workload.ts"
import { fieldLexeme, widened, writeTsquery } from "./tsquery.ts"

/** Undefined if it can run, else the command to install what is missing. */
export const postgresMissing = (): string | undefined => {
  const missing = [
    ...(existsSync(join(BINARIES, "initdb")) ? [] : ["postgresql-15"]),
    ...(existsSync(RUM) ? [] : ["postgresql-15-rum"])
  ]
  return missing.length === 0 ? undefined : `apt-get install ${missing.join(" ")}`
}

export class PostgresCluster {
  private readonly folder: string

  /** Creates the cluster in a subfolder of `parent`. */
  constructor(parent: string) {
    this.folder = join(parent, "postgres")
    mkdirSync(this.folder)
    if (isRoot) {
      // The server refuses to run as root, and its user needs access to the folder.
      chmodSync(parent, 0o755)
      execFileSync("chown", [USER, this.folder])
    }
    this.run("initdb", ["-D", this.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
    const settings = [
      "listen_addresses=''",
      `unix_socket_directories='${this.folder}'`,
      "fsync=off",
      "shared_buffers=2GB",
      "maintenance_work_mem=1GB",
      "max_wal_size=8GB",
      "autovacuum=off",
      "jit=off",
      "max_parallel_workers_per_gather=0"
    ].map((setting) => `-c ${setting}`)
    this.run("pg_ctl", ["-D", this.data, "-l", join(this.folder, "log"), "-w", "-o", settings.join(" "), "start"])
  }

  private get data(): string {
    return join(this.folder, "data")
  }

  stop(): void {
    this.run("pg_ctl", ["-D", this.data, "-m", "immediate", "stop"])
  }

  async load(source: string, name: WorkloadName, count: number): Promise<Contender> {
    const client = new pg.Client({ host: this.folder, user: USER, database: "postgres" })
    await client.connect()
    await client.query("create extension if not exists rum")
    await client.query("drop table if exists rules, events")
    await client.query("create table rules (id int, indexed tsquery, whole tsquery)")
    await client.query("create table events (id int primary key, content text, fields text[])")
    const rules = readRules(source, name, count)
    const { training } = workloads[name]
    const events = readLines(plainFile(source, name)).slice(training).map(readPlain)
    await this.copy(
      client,
      "events",
      events.map(({ text, fields }, id) => [
        id,
        text,
        `{${fields.map((field) => `"${fieldLexeme(field)}"`).join(",")}}`
      ])
    )

    const { rows } = await client.query("select pg_backend_pid() as pid")
    const cpuMicros = () => cpuMicrosOf(rows[0]?.pid)
    const start = cpuMicros()
    await this.copy(
      client,
      "rules",
      rules.map((rule, id) => [id, writeTsquery(widened(rule)), writeTsquery(rule)])
    )
    await client.query("create index on rules using rum (indexed rum_tsquery_ops)")
    const addMicros = (cpuMicros() - start) / count
    await client.query("analyze rules")
    await client.query("set enable_seqscan = off")
    await client.query(MATCH)
    const size = await client.query("select pg_total_relation_size('rules')::float8 as bytes")

    let next = 0
    let batch = 1
    const run = async (): Promise<Round> => {
      const before = cpuMicros()
      const found = await client.query("select matches($1, $2) as matches", [next, batch])
      const used = cpuMicros() - before
      const round = { events: Math.min(batch, events.length - next), cpuMicros: used, matches: rowNumber(found) }
      next = next + batch < events.length ? next + batch : 0
      if (used < 100_000 && batch < 2_048) batch *= 2
      return round
    }
    return {
      figures: { addMicros, bytesPerRule: size.rows[0]?.bytes / count },
      round: async (millis) => {
        let [total, used, matches] = [0, 0, 0]
        while (used < millis * 1_000) {
          const round = await run()
          total += round.events
          used += round.cpuMicros
          matches += round.matches
        }
        return { events: total, cpuMicros: used, matches }
      },
      sets: async (wanted) => {
        const sets: Array<string> = []
        for (let event = 0; event < wanted; event++) {
          const found = await client.query(SET, [event])
          sets.push(String(found.rows[0]?.ids ?? ""))
        }
        return sets
      },
      stop: () => client.end()
    }
  }

  private run(binary: string, options: ReadonlyArray<string>): void {
    const command = join(BINARIES, binary)
    const [file, all] = isRoot ? ["runuser", ["-u", USER, "--", command, ...options]] : [command, options]
    // The server would keep inherited standard streams open.
    execFileSync(file, all, { stdio: "ignore", cwd: "/" })
  }

  private async copy(
    client: pg.Client,
    table: string,
    rows: ReadonlyArray<ReadonlyArray<string | number>>
  ): Promise<void> {
    const file = join(this.folder, `${table}.tsv`)
    writeFileSync(file, rows.map((columns) => `${columns.join("\t")}\n`).join(""))
    await client.query(`copy ${table} from '${file}'`)
  }
}

// ---- helpers ----

const BINARIES = "/usr/lib/postgresql/15/bin"
const RUM = "/usr/share/postgresql/15/extension/rum.control"
const USER = "postgres"
const isRoot = process.getuid?.() === 0

/** Searches inside the server, so that no round trip is measured. Includes tokenizing the text. */
const CONTENT = "to_tsvector('simple', content) || array_to_tsvector(fields)"
const MATCH = `create or replace function matches(first int, count int) returns bigint language plpgsql as $$
  declare
    event record;
    found int[];
    total bigint := 0;
  begin
    for event in select ${CONTENT} as terms from events where id >= first and id < first + count order by id loop
      select array_agg(id) into found from rules where event.terms @@ indexed and event.terms @@ whole;
      total := total + coalesce(array_length(found, 1), 0);
    end loop;
    return total;
  end $$`
const SET = `select string_agg(rules.id::text, ',' order by rules.id) as ids from rules,
  (select ${CONTENT} as terms from events where id = $1) as event where terms @@ indexed and terms @@ whole`

const rowNumber = (result: pg.QueryResult): number => Number(result.rows[0]?.matches)

/** CPU time of the server process: the first number of the file, in nanoseconds. */
const cpuMicrosOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000
