/** For npm's evaluators, which match substrings: spaces around every word make them match whole words only. */
import process from "node:process"
import { type PlainEvent, readPlain } from "../workload/event.ts"
import type { Rule } from "../workload/rule.ts"
import { plainFile, readLines, readRules, type WorkloadName } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { heapBytes } from "./memory.ts"

export type Row = Readonly<Record<string, string | ReadonlyArray<string>>>

/** Tests every rule on every event. `testOf` compiles one rule. */
export const loadEveryRule = (
  folder: string,
  name: WorkloadName,
  count: number,
  testOf: (query: string) => (row: Row) => unknown
): Loaded => {
  const rules = readRules(folder, name, count)
  const before = heapBytes()
  const started = process.cpuUsage()
  const tests = rules.map((rule) => testOf(writePadded(rule)))
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

export const rowOf = ({ text, fields }: PlainEvent): Row => {
  const row: Record<string, string | Array<string>> = { text: ` ${text.toLowerCase().replaceAll(/[^a-z0-9]+/g, " ")} ` }
  for (const term of fields) {
    const equals = term.indexOf("=")
    const name = term.slice(0, equals)
    const known = row[name]
    const value = ` ${term.slice(equals + 1)} `
    if (Array.isArray(known)) known.push(value)
    else row[name] = [value]
  }
  return row
}

/** Writes Lucene syntax. */
export const writePadded = (rule: Rule): string => {
  switch (rule.op) {
    case "and":
      return nested(" AND ", rule.clauses)
    case "or":
      return nested(" OR ", rule.clauses)
    case "not":
      return `NOT ${writePadded(rule.clause)}`
    case "word":
      return `text:" ${rule.word} "`
    case "prefix":
      return `text:" ${rule.prefix}"`
    case "phrase":
      return `text:" ${rule.words.join(" ")} "`
    case "field":
      return `${rule.field}:" ${rule.value} "`
  }
}

// ---- helpers ----

/** Nested in pairs: operator precedence differs between the packages. */
const nested = (operator: string, clauses: ReadonlyArray<Rule>): string =>
  clauses.map(writePadded).reduce((left, right) => `(${left}${operator}${right})`)
