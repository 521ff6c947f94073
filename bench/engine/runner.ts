/** Runs one engine. Commands: `round <ms>` (CPU time for some events), `sets <count>` (exact matches of the first ones). */
import process from "node:process"
import { answerCommands, printJson } from "../childProcess.ts"
import { cpuMicros } from "../figures.ts"
import type { Round } from "./contender.ts"
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
printJson(loaded.figures)

/** Index of the next event. Wraps around to the first timed one. */
let next = training
/** Events per batch: few if each takes long. */
let batch = 1

await answerCommands({ round, sets })

// ---- helpers ----

/** Fresh events each time, so that nothing is cached in them. */
function take(events: number): ReadonlyArray<() => ReadonlyArray<number>> {
  return Array.from({ length: events }, () => {
    const line = loaded.lines[next] ?? ""
    next = next + 1 < loaded.lines.length ? next + 1 : training
    return loaded.prepare(line)
  })
}

function round(millis = 0): Round {
  let events = 0
  let used = 0
  let matches = 0
  while (used < millis * 1_000) {
    const prepared = take(batch)
    const start = cpuMicros()
    for (const match of prepared) matches += match().length
    const taken = cpuMicros() - start
    used += taken
    events += prepared.length
    if (taken < 10_000 && batch < 64) batch *= 2
  }
  return { events, cpuMicros: used, matches }
}

function sets(events = 0): ReadonlyArray<string> {
  return loaded.lines
    .slice(training, training + events)
    .map((line) => [...loaded.prepare(line)()].sort((a, b) => a - b).join(","))
}
