/**
 * Runs one engine. Reads commands from standard input, one per line, and answers each with a line of JSON: `round <ms>`
 * (CPU time for some events), `sets <count>` (exact matches of the first events), `profile <ms>` (functions that take
 * most of a round).
 */
import process from "node:process"
import { createInterface } from "node:readline"
import { startProfile } from "../figures.ts"
import type { Loaded } from "./peers/loaded.ts"
import { type WorkloadName, workloads } from "./workload/workload.ts"

const loaders: Readonly<Record<string, () => Promise<Load>>> = {
  ours: async () => (await import("./peers/ours.ts")).load,
  records: async () => (await import("./peers/records.ts")).loadRecords,
  parse: async () => (await import("./peers/records.ts")).loadParse,
  naive: async () => (await import("./peers/naive.ts")).load,
  closures: async () => (await import("./peers/closures.ts")).load
}

type Load = (folder: string, name: WorkloadName, count: number) => Loaded | Promise<Loaded>

const [peer = "", folder = "", name = "", count = ""] = process.argv.slice(2)
if (name !== "posts" && name !== "pages") throw new Error(`Unknown workload "${name}"`)
const loader = await loaders[peer]?.()
if (loader === undefined) throw new Error(`Unknown engine "${peer}"`)
const { training } = workloads[name]
const loaded = await loader(folder, name, Number(count))
answer(loaded.figures)

/** Index of the next event. Wraps around to the first timed one. */
let next = training
/** Events per batch: few if each takes long. */
let batch = 1

for await (const line of createInterface(process.stdin)) {
  const [command, amount] = line.split(" ")
  if (command === "round") answer(round(Number(amount)))
  if (command === "sets") answer(sets(Number(amount)))
  if (command === "profile") answer(await profile(Number(amount)))
}

// ---- helpers ----

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

/** Fresh events each time, so that nothing is cached in them. */
function take(events: number): ReadonlyArray<() => ReadonlyArray<number>> {
  return Array.from({ length: events }, () => {
    const line = loaded.lines[next] ?? ""
    next = next + 1 < loaded.lines.length ? next + 1 : training
    return loaded.prepare(line)
  })
}

function round(millis: number): { readonly events: number; readonly cpuMicros: number; readonly matches: number } {
  let events = 0
  let cpuMicros = 0
  let matches = 0
  while (cpuMicros < millis * 1_000) {
    const prepared = take(batch)
    const start = process.cpuUsage()
    for (const match of prepared) matches += match().length
    const { user, system } = process.cpuUsage(start)
    cpuMicros += user + system
    events += prepared.length
    if (user + system < 10_000 && batch < 64) batch *= 2
  }
  return { events, cpuMicros, matches }
}

async function profile(millis: number): Promise<ReadonlyArray<string>> {
  const endProfile = await startProfile()
  round(millis)
  return endProfile()
}

function sets(events: number): ReadonlyArray<string> {
  return loaded.lines
    .slice(training, training + events)
    .map((line) => [...loaded.prepare(line)()].sort((a, b) => a - b).join(","))
}
