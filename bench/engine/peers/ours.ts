/** The matching engine, fed as the service feeds it: records of the platform in, numbers of rules out. */
import process from "node:process"
import { setImmediate } from "node:timers/promises"
import { Either } from "effect"
import { Engine } from "../../../core/engine/Engine.ts"
import { readEvent } from "../../../core/syntax/event.ts"
import type { Expression } from "../../../core/syntax/expression.ts"
import { expressionOf } from "../workload/expression.ts"
import { Random } from "../workload/random.ts"
import { readRule } from "../workload/rule.ts"
import { readLines, recordsFile, rulesFile, SPARE_RULES, type WorkloadName, workloads } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { heapBytes } from "./memory.ts"
import { CallTimes, percentile } from "./pauses.ts"

export const load = async (folder: string, name: WorkloadName, count: number): Promise<Loaded> => {
  const { platform, training } = workloads[name]
  const records = readLines(recordsFile(folder, name))
  const rules = readLines(rulesFile(folder, name, count))
  const before = heapBytes()
  const engine = new Engine({ seed: 1 })
  /** Line of the rule by its number in the engine. */
  const lines: Array<number> = []

  const match = (record: unknown): ReadonlyArray<number> =>
    engine.match(Either.getOrThrow(readEvent(platform, record, 0)))
  const expressions = (from: number, to: number): ReadonlyArray<Expression> =>
    rules.slice(from, to).map((line) => expressionOf(platform, readRule(line)))

  const times = new CallTimes()
  let cpuMicros = 0
  for (let from = 0; from < count; from += CHUNK) {
    const chunk = expressions(from, Math.min(count, from + CHUNK))
    const cpu = process.cpuUsage()
    times.begin()
    for (const [index, expression] of chunk.entries()) {
      const start = performance.now()
      const rule = engine.add(expression)
      times.add(start, performance.now())
      lines[rule] = from + index
    }
    const { user, system } = process.cpuUsage(cpu)
    cpuMicros += user + system
    await setImmediate()
    // The engine learns from the stream while it has rules; most of them come when it has seen some of it.
    if (from === 0) for (const record of records.slice(0, training)) match(JSON.parse(record))
  }
  const pauses = await times.pauses()
  const { bytes, unindexed } = engine.stats

  const replace = async () => {
    const random = new Random(5)
    const replaced = new CallTimes()
    // Numbers of the rules that are in the engine.
    const present = [...lines.keys()]
    const spare = Math.min(SPARE_RULES, rules.length - count)
    for (let from = count; from < count + spare; from += CHUNK) {
      const chunk = expressions(from, Math.min(count + spare, from + CHUNK))
      const events = records
        .slice(training + (from % 1_000), training + (from % 1_000) + chunk.length)
        .map((record): unknown => JSON.parse(record))
      replaced.begin()
      for (const [index, expression] of chunk.entries()) {
        const place = random.below(present.length)
        const start = performance.now()
        engine.remove(present[place] ?? 0)
        const middle = performance.now()
        present[place] = engine.add(expression)
        const end = performance.now()
        replaced.millis.push(end - start)
        replaced.note(start, middle)
        replaced.note(middle, end)
        const event = events[index]
        if (event !== undefined) {
          const matchStart = performance.now()
          match(event)
          replaced.note(matchStart, performance.now())
        }
      }
      await setImmediate()
    }
    return {
      p50Micros: percentile(replaced.millis, 0.5) * 1_000,
      p99Micros: percentile(replaced.millis, 0.99) * 1_000,
      pauses: await replaced.pauses()
    }
  }

  return {
    figures: {
      addMicros: cpuMicros / count,
      bytesPerRule: bytes / count,
      processBytesPerRule: (heapBytes() - before) / count,
      unindexed,
      pauses
    },
    lines: records,
    prepare: (line) => {
      const record: unknown = JSON.parse(line)
      return () => match(record).map((rule) => lines[rule] ?? -1)
    },
    replace
  }
}

// ---- helpers ----

const CHUNK = 1_000
