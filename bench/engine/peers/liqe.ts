/** liqe of npm: its tree of each rule on each event. */
import liqe from "liqe"
import { type PlainEvent, readPlain } from "../workload/event.ts"
import { plainFile, readLines, readRules, type WorkloadName } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { heapBytes } from "./memory.ts"
import { rowOf, writePadded } from "./padded.ts"

export const load = (folder: string, name: WorkloadName, count: number): Loaded => {
  const rules = readRules(folder, name, count)
  const before = heapBytes()
  const started = process.cpuUsage()
  const trees = rules.map((rule) => liqe.parse(writePadded(rule)))
  const { user, system } = process.cpuUsage(started)
  const match = (plain: PlainEvent): ReadonlyArray<number> => {
    const row = rowOf(plain)
    const found: Array<number> = []
    for (const [index, tree] of trees.entries()) {
      if (liqe.test(tree, row)) found.push(index)
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
