/** lucene-filter of npm over lucene's parser: a function for each rule on each event. */
import { createRequire } from "node:module"
import process from "node:process"
import lucene from "lucene"
import { type PlainEvent, readPlain } from "../workload/event.ts"
import { plainFile, readLines, readRules, type WorkloadName } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { heapBytes } from "./memory.ts"
import { type Row, rowOf, writePadded } from "./padded.ts"

/** It is no dependency of ours: whoever wants its figures installs it. */
export const isInstalled = (): boolean => {
  try {
    require.resolve(PACKAGE)
    return true
  } catch {
    return false
  }
}

export const load = (folder: string, name: WorkloadName, count: number): Loaded => {
  // Its documented call; it has no types.
  const filterOf = (require(PACKAGE) as (parser: unknown) => (query: string) => (row: Row) => unknown)(lucene)
  const rules = readRules(folder, name, count)
  const before = heapBytes()
  const started = process.cpuUsage()
  const tests = rules.map((rule) => filterOf(writePadded(rule)))
  const { user, system } = process.cpuUsage(started)
  const match = (plain: PlainEvent): ReadonlyArray<number> => {
    const row = rowOf(plain)
    const found: Array<number> = []
    for (const [index, test] of tests.entries()) {
      if (test(row)) found.push(index)
    }
    return found
  }
  return {
    figures: { addMicros: (user + system) / count, bytesPerRule: (heapBytes() - before) / count },
    lines: readLines(plainFile(folder, name)),
    prepare: (line) => {
      const plain = readPlain(line)
      return () => match(plain)
    }
  }
}

// ---- helpers ----

const PACKAGE = "lucene-filter"
const require = createRequire(import.meta.url)
