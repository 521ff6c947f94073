/** Evaluates every rule on every event: the reference for all others. */
import { Either } from "effect"
import { evaluate } from "../../../core/syntax/expression/evaluate.ts"
import { readEvent } from "../../../fixtures/languages.ts"
import { expressionOf } from "../workload/expression.ts"
import { readLines, readRules, recordsFile, type WorkloadName, workloads } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { heapBytes } from "./memory.ts"

export const load = (folder: string, name: WorkloadName, count: number): Loaded => {
  const { platform } = workloads[name]
  const rules = readRules(folder, name, count)
  const before = heapBytes()
  const expressions = rules.map((rule) => expressionOf(platform, rule))
  const match = (record: unknown): ReadonlyArray<number> => {
    const event = Either.getOrThrow(readEvent(platform, record, 0))
    const found: Array<number> = []
    for (const [index, expression] of expressions.entries()) {
      if (evaluate(expression, event)) found.push(index)
    }
    return found
  }
  return {
    figures: { bytesPerRule: (heapBytes() - before) / count },
    lines: readLines(recordsFile(folder, name)),
    prepare: (line) => {
      const record: unknown = JSON.parse(line)
      return () => match(record)
    }
  }
}
