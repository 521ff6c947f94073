/**
 * Measures what one account can do to the others, on both stores: the longest delay of the server's event loop under
 * attack, its memory, and how long another account's requests take while one floods the server.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { type Figure, isSmoke, lower, quantile, reportFigures } from "../figures.ts"
import { attacks, costlyRules, eventFlood, pages } from "./attacks.ts"
import { type Client, client } from "./client.ts"
import { ATTACKER, beside, embedded, onPostgres, type Server } from "./server.ts"

const IDLE_MILLIS = isSmoke ? 500 : 20_000
const ATTACK_MILLIS = isSmoke ? 1 : 120_000
const REQUESTS = isSmoke ? 20 : 1_000
const PAGES = isSmoke ? 5 : 100

const figures: Array<Figure> = []
for (const open of isSmoke ? [embedded] : [embedded, onPostgres]) {
  const server = await open()
  try {
    console.log(`\n## ${server.store}\n`)
    figures.push(...(await measure(server)))
  } finally {
    await server.stop()
  }
}
reportFigures(figures)

// ---- helpers ----

async function measure(server: Server): Promise<ReadonlyArray<Figure>> {
  const { store, url, command } = server
  const victim = client(url, await command(["keys", "create", "--account", "victim"]))
  for (const limit of ["requests", "events"]) await command(["accounts", "limit", "victim", limit, "0"])
  for (const [platform, filter] of Object.entries({ x: "cat", firehose: "title:cat" })) {
    await victim.post("/api.CreateRule", {
      name: "Cats",
      intent: "Cats",
      platforms: [platform],
      overrides: { [platform]: filter }
    })
  }
  await victim.post(
    "/local/events",
    Array.from({ length: 50 }, (_, i) => ({ data: { id: String(i + 1), text: "a cat" } }))
  )

  await listing(victim)
  const quiet = await listing(victim)
  const requests = await floodOfRequests(url, victim)
  await sleep(1_000)
  await server.longestDelay()
  await sleep(IDLE_MILLIS)
  const idle = await server.longestDelay()
  console.log(`longest delay of the event loop, idle: ${idle.toFixed(0)} ms`)

  // The limits on requests and work are off for the rest: without them every attack is carried out each time.
  for (const limit of ["requests", "checks", "events", "matching"])
    await command(["accounts", "limit", "default", limit, "0"])
  const attacker = client(url, ATTACKER)
  const foreignRules = await costOfForeignRules(server, attacker, victim)
  await attacks.prepare(attacker)
  await server.longestDelay()
  const events = await floodOfEvents(attacker, victim)
  const eventsDelay = await server.longestDelay()
  console.log(`longest delay, ${eventFlood.count} events in one request: ${eventsDelay.toFixed(0)} ms`)
  const { longest, wait, memory } = await carryOut(server, attacker, victim)
  console.log(`POST /matches of another account, p99: ${quiet.toFixed(1)} ms, while one sends`)
  console.log(`  requests on 50 connections: ${requests.toFixed(1)} ms`)
  console.log(`  ${eventFlood.count} events in one request: ${events.toFixed(1)} ms`)

  const figure = (name: string, of: number, unit: string, target?: number) =>
    lower({ name: `${name}, ${store}`, of, unit, target })
  return [
    figure("p99 of another account under a flood of requests, relative to quiet", requests / quiet, "×", 3),
    figure("p99 of another account under a flood of events, relative to quiet", events / quiet, "×", 3),
    figure("CPU of another account's events beside costly rules, relative to none", foreignRules, "×", 2),
    figure("longest event loop delay under attack, beyond idle", Math.max(0, longest, eventsDelay) - idle, "ms", 50),
    figure("longest request of another account under attack", wait, "ms"),
    figure("largest memory under attack", memory, "MB")
  ]
}

/** The 99th percentile, in milliseconds. */
async function listing(account: Client, isDone?: () => boolean): Promise<number> {
  return quantile(await timesOfListing(account, isDone), 0.99)
}

/** In milliseconds. */
async function timesOfListing(account: Client, isDone?: () => boolean): Promise<ReadonlyArray<number>> {
  const millis: Array<number> = []
  do {
    const startedAt = performance.now()
    await account.post("/matches", {})
    millis.push(performance.now() - startedAt)
  } while (isDone === undefined ? millis.length < REQUESTS : !isDone())
  return millis
}

async function floodOfRequests(url: string, victim: Client): Promise<number> {
  const flood = fork(beside("flood.js"), [url, ATTACKER])
  await sleep(1_000)
  const flooded = await listing(victim)
  flood.kill()
  await once(flood, "exit")
  return flooded
}

async function floodOfEvents(attacker: Client, victim: Client): Promise<number> {
  let isDone = false
  const startedAt = performance.now()
  const flood = eventFlood.send(attacker).finally(() => {
    isDone = true
  })
  const flooded = await listing(victim, () => isDone)
  const { status, text } = await flood
  if (status !== 200) throw new Error(`The flood of events was refused: ${text}`)
  const seconds = (performance.now() - startedAt) / 1_000
  console.log(`${eventFlood.count} events in one request took ${seconds.toFixed(1)} s`)
  return flooded
}

/** CPU of the server for another account's events, with and without rules of this one. */
async function costOfForeignRules(server: Server, attacker: Client, victim: Client): Promise<number> {
  const cost = async () => {
    const before = server.cpuSeconds()
    await victim.post("/local/events", pages(PAGES))
    return server.cpuSeconds() - before
  }
  for (let round = 0; round < 5; round++) await cost()
  const alone = Math.min(...[await cost(), await cost(), await cost()])
  await costlyRules(attacker)
  await cost()
  const beside = Math.min(...[await cost(), await cost(), await cost()])
  const millis = (seconds: number) => (seconds * 1_000).toFixed(0)
  console.log(
    `CPU for ${PAGES} pages of another account: ${millis(alone)} ms, beside costly rules ${millis(beside)} ms`
  )
  return beside / alone
}

async function carryOut(server: Server, attacker: Client, victim: Client) {
  const delays = new Map<string, number>()
  const waits = new Map<string, number>()
  let memory = server.residentMemory()
  const end = performance.now() + ATTACK_MILLIS
  do {
    for (const [name, attack] of Object.entries(attacks.all)) {
      await server.longestDelay()
      let isDone = false
      const attacked = attack(attacker).finally(() => {
        isDone = true
      })
      const times = await timesOfListing(victim, () => isDone)
      await attacked
      const delay = await server.longestDelay()
      delays.set(name, Math.max(delays.get(name) ?? 0, delay))
      waits.set(name, Math.max(waits.get(name) ?? 0, ...times))
      memory = Math.max(memory, server.residentMemory())
    }
  } while (performance.now() < end)
  const shown = (millis = 0) => `${millis.toFixed(0).padStart(5)} ms`
  for (const [name, delay] of delays)
    console.log(
      `longest delay, ${name.padEnd(60)} ${shown(delay)}, request of another account ${shown(waits.get(name))}`
    )
  console.log(`largest memory: ${memory.toFixed(0)} MB, at the end ${server.residentMemory().toFixed(0)} MB`)
  return { longest: Math.max(...delays.values()), wait: Math.max(...waits.values()), memory }
}
