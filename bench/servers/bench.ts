/** Measures two servers on one Postgres: events accepted and matches delivered. */
import pg from "pg"
import { startPostgres } from "../../fixtures/postgres.ts"
import { type Figure, higher, isSmoke, lower, median, reportFigures, tableRow } from "../figures.ts"
import { command, cpuOf, type Program, serve } from "../program.ts"
import { type Account, createRules, sendEvents, subscribe } from "./load.ts"
import { postgresCpu } from "./postgresCpu.ts"

const ROUNDS = isSmoke ? 1 : 5
const EVENTS = isSmoke ? 400 : 20_000
const PER_REQUEST = isSmoke ? 50 : 250
const WARM_UP = isSmoke ? 80 : 20_000
/** One event of this many matches a rule. */
const ONE_IN = 4
const SUBSCRIBERS = isSmoke ? 8 : 200
const LIVE_MATCHES = isSmoke ? 16 : 400
const LIVE_PER_REQUEST = 10
const ACCOUNTS = isSmoke ? ["first", "second"] : ["first", "second", "third", "fourth"]
const WORDS = ["earthquake", "volcano", "tsunami", "avalanche"]

type Urls = ReadonlyArray<string>

/** Rates per second, CPU time in microseconds. A delivery is a match for one subscriber. */
interface Costs {
  readonly events: number
  readonly serversPerEvent: number
  readonly postgresPerEvent: number
  readonly deliveries: number
  readonly serversPerDelivery: number
}

const postgres = await startPostgres(["fsync=on", "shared_buffers=512MB", "max_wal_size=4GB"])
const client = new pg.Client({ connectionString: postgres.url })
await client.connect()
const servers: Array<Program> = []
const store = { DATABASE_URL: postgres.url }
/** Both platforms run in process, and accounts have no limits. */
const settings = {
  ...store,
  EARSHOT_DEMO_FEED: "off",
  EARSHOT_LIMIT_REQUESTS: "0",
  EARSHOT_LIMIT_EVENTS: "0",
  EARSHOT_LIMIT_STREAMS: "0",
  LOG_LEVEL: "error"
}
const accounts: Array<Account> = []
try {
  for (let count = 0; count < 2; count++) servers.push(await serve(settings))
  reportFigures(await measureAll(servers.map(({ url }) => url)))
} finally {
  for (const server of servers) await server.stop()
  await client.end()
  await postgres.remove()
}

// ---- helpers ----

async function measureAll(both: Urls): Promise<ReadonlyArray<Figure>> {
  const first = both.slice(0, 1)
  for (const name of ACCOUNTS) {
    const account = { key: await command(store, ["keys", "create", "--account", name]), words: WORDS }
    for (const url of first) await createRules(url, account)
    accounts.push(account)
  }
  await send(both, WARM_UP)

  const one: Array<Costs> = []
  const two: Array<Costs> = []
  for (let round = 0; round < ROUNDS; round++) {
    const steps = [async () => void one.push(await measure(first)), async () => void two.push(await measure(both))]
    // The order changes, so that neither is always the second one.
    for (const step of round % 2 === 0 ? steps : steps.reverse()) await step()
  }
  return report(one, two)
}

async function measure(urls: Urls): Promise<Costs> {
  const before = await cpuTimes()
  const events = await send(urls, EVENTS)
  const sent = await cpuTimes()
  const { count, perSecond } = await deliver(urls)
  const delivered = await cpuTimes()
  return {
    events,
    serversPerEvent: (sent.servers - before.servers) / EVENTS,
    postgresPerEvent: (sent.postgres - before.postgres) / EVENTS,
    deliveries: perSecond,
    serversPerDelivery: (delivered.servers - sent.servers) / count
  }
}

async function cpuTimes() {
  const { rows } = await client.query<{ readonly pid: number }>("select pg_backend_pid() as pid")
  return {
    servers: servers.reduce((sum, server) => sum + cpuOf(server.pid).own, 0),
    postgres: postgresCpu(rows[0]?.pid ?? 0)
  }
}

/** Returns the events per second. */
async function send(urls: Urls, events: number): Promise<number> {
  const startedAt = performance.now()
  await sendEvents({ urls, accounts, events, perRequest: PER_REQUEST, oneIn: ONE_IN })
  return (events / (performance.now() - startedAt)) * 1_000
}

/** Each account has the same number of subscribers and of matches. */
async function deliver(urls: Urls) {
  const subscribers = await subscribe(urls, accounts, SUBSCRIBERS)
  const count = (LIVE_MATCHES * SUBSCRIBERS) / accounts.length
  try {
    const startedAt = performance.now()
    await Promise.all([
      sendEvents({ urls, accounts, events: LIVE_MATCHES, perRequest: LIVE_PER_REQUEST, oneIn: 1 }),
      subscribers.received(count)
    ])
    return { count, perSecond: (count / (performance.now() - startedAt)) * 1_000 }
  } finally {
    subscribers.close()
  }
}

function report(one: ReadonlyArray<Costs>, two: ReadonlyArray<Costs>): ReadonlyArray<Figure> {
  const of = (key: keyof Costs, costs: ReadonlyArray<Costs>) => median(costs.map((each) => each[key]))
  const ratio = (key: keyof Costs) => median(two.map((each, round) => each[key] / (one[round]?.[key] ?? Number.NaN)))
  console.log(
    `${EVENTS} events of ${ACCOUNTS.length} accounts, ${SUBSCRIBERS} live streams, median of ${ROUNDS} rounds`
  )
  console.log(row(["", "one server", "two servers", "two / one"]))
  const titles: Readonly<Record<keyof Costs, string>> = {
    events: "events per second",
    serversPerEvent: "µs of the servers per event",
    postgresPerEvent: "µs of Postgres per event",
    deliveries: "deliveries per second",
    serversPerDelivery: "µs of the servers per delivery"
  }
  for (const key of Object.keys(titles) as ReadonlyArray<keyof Costs>) {
    console.log(row([titles[key], of(key, one).toFixed(0), of(key, two).toFixed(0), ratio(key).toFixed(2)]))
  }
  return [
    higher({ name: "events, two servers relative to one", of: ratio("events"), unit: "×" }),
    higher({ name: "deliveries, two servers relative to one", of: ratio("deliveries"), unit: "×" }),
    lower({ name: "CPU per event, two servers relative to one", of: ratio("serversPerEvent"), unit: "×" }),
    higher({ name: "events, one server", of: of("events", one), unit: "/s" }),
    higher({ name: "deliveries, one server", of: of("deliveries", one), unit: "/s" }),
    lower({ name: "CPU of a server per event", of: of("serversPerEvent", one), unit: "µs" }),
    lower({ name: "CPU of Postgres per event", of: of("postgresPerEvent", one), unit: "µs" })
  ]
}

function row(cells: ReadonlyArray<string>): string {
  return tableRow(cells, { first: 32, other: 14 })
}
