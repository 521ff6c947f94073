/** Our engine, on events in the peers' format. */
import { setImmediate } from "node:timers/promises"
import { Engine } from "../../../core/engine/Engine.ts"
import type { PlatformEvent } from "../../../core/syntax/expression/eventFields.ts"
import type { Expression } from "../../../core/syntax/expression/expression.ts"
import { coarseFields } from "../../../core/syntax/expression/FieldNames.ts"
import { Random } from "../../../fixtures/distributions.ts"
import { languageOf } from "../../../fixtures/languages.ts"
import { cpuMicros, isSmoke } from "../../figures.ts"
import { expressionOf } from "../workload/expression.ts"
import { PlainEvent } from "../workload/plainEvent.ts"
import { readRule } from "../workload/rule.ts"
import { plainFile, readLines, rulesFile, SPARE_RULES, type WorkloadName, workloads } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { collectYoung, heapBytes } from "./memory.ts"
import { GcPauses, RepeatedCalls } from "./pauses.ts"

export const load = async (folder: string, name: WorkloadName, count: number): Promise<Loaded> => {
  const { platform, training } = workloads[name]
  const events = readLines(plainFile(folder, name))
  const rules = readLines(rulesFile(folder, name, count))
  const gcPauses = new GcPauses()
  const growth = new RepeatedCalls()
  const replacing = new RepeatedCalls()
  const matching = new RepeatedCalls()

  /** A new engine with all rules. It learns from the training events after the first chunk. */
  const grow = async () => {
    const engine = new Engine({
      seed: 1,
      largeCapacity: true,
      coarseFields: coarseFields(languageOf(platform).fieldNames)
    })
    const millis: Array<number> = []
    let used = 0
    for (let from = 0; from < count; from += CHUNK) {
      const chunk = rules.slice(from, Math.min(count, from + CHUNK)).map(read)
      collectYoung()
      const cpu = cpuMicros()
      for (const [index, expression] of chunk.entries()) {
        const start = performance.now()
        const rule = engine.add(expression)
        // Skip the first chunk: JIT compilation runs on the same thread.
        if (from > 0) millis.push(performance.now() - start)
        checkNumber(rule, from + index)
      }
      used += cpuMicros() - cpu
      await setImmediate()
      if (from === 0) for (const line of events.slice(0, training)) engine.match(new PlainEvent(platform, line))
    }
    growth.add(millis)
    return { engine, addMicros: used / count }
  }

  const read = (line: string): Expression => expressionOf(platform, readRule(line))

  const replaceRules = async (engine: Engine) => {
    const random = new Random(5)
    const replaced: Array<number> = []
    const matched: Array<number> = []
    const present = Array.from({ length: count }, (_, rule) => rule)
    for (let from = count; from < count + SPARE_RULES; from += CHUNK) {
      const chunk = rules.slice(from, from + CHUNK).map(read)
      collectYoung()
      for (const [index, expression] of chunk.entries()) {
        const replacedIndex = random.below(present.length)
        const event = new PlainEvent(platform, events[training + index] ?? "")
        const start = performance.now()
        engine.remove(present[replacedIndex] ?? 0)
        present[replacedIndex] = engine.add(expression)
        replaced.push(performance.now() - start)
        const next = performance.now()
        engine.match(event)
        matched.push(performance.now() - next)
      }
      await setImmediate()
    }
    replacing.add(replaced)
    matching.add(matched)
  }

  // Repeats the same calls several times, for the cost of single calls. The last engine stays.
  for (let run = 1; run < RUNS; run++) await replaceRules((await grow()).engine)
  const before = heapBytes()
  const { engine, addMicros } = await grow()
  const { bytes, reserved, unindexed } = engine.stats
  const processBytes = heapBytes() - before - reserved

  return {
    figures: {
      addMicros,
      bytesPerRule: bytes / count,
      processBytesPerRule: processBytes / count,
      unindexed,
      calls: {
        longestAdd: growth.longest,
        longestReplace: replacing.longest,
        longestMatch: matching.longest,
        replaceP50: replacing.percentile(0.5),
        replaceP99: replacing.percentile(0.99),
        longestCollection: await gcPauses.longest()
      }
    },
    lines: events,
    prepare: (line) => prepared(engine, new PlainEvent(platform, line))
  }
}

/** A new engine numbers its rules in order, so numbers equal lines, as with the peers. */
export const checkNumber = (rule: number, line: number): void => {
  if (rule !== line) throw new Error(`The engine gave rule ${line} the number ${rule}`)
}

// ---- helpers ----

const CHUNK = isSmoke ? 50 : 1_000
const RUNS = 3

const prepared = (engine: Engine, event: PlatformEvent) => () => engine.match(event)
