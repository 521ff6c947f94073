/** The straightforward solution: a Map from each rule's rarest required terms, and a closure per rule. */
import { cpuMicros } from "../../figures.ts"
import { fieldTerm, type PlainEvent, readPlain } from "../workload/event.ts"
import type { Rule } from "../workload/rule.ts"
import { plainFile, readLines, readRules, type WorkloadName, workloads } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { heapBytes } from "./memory.ts"

export const load = (folder: string, name: WorkloadName, count: number): Loaded => {
  const frequencies = new Map<string, number>()
  for (const line of readLines(plainFile(folder, name)).slice(0, workloads[name].training)) {
    for (const term of read(readPlain(line)).terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  }
  const rules = readRules(folder, name, count)

  const before = heapBytes()
  const started = cpuMicros()
  const tests: Array<Test> = []
  const byTerm = new Map<string, Array<number>>()
  const frequency = (term: string) => frequencies.get(term) ?? 0
  for (const [index, rule] of rules.entries()) {
    tests.push(compile(rule, frequency))
    for (const term of anchorsOf(rule, frequency).terms) {
      const found = byTerm.get(term)
      if (found === undefined) byTerm.set(term, [index])
      else found.push(index)
    }
  }
  const addMicros = (cpuMicros() - started) / count
  const bytes = heapBytes() - before

  /** The last event that each rule was tested on: a rule may have several terms. */
  const tried = new Int32Array(count)
  let event = 0
  const match = (plain: PlainEvent): ReadonlyArray<number> => {
    event++
    const content = read(plain)
    const found: Array<number> = []
    for (const term of content.terms) {
      const candidates = byTerm.get(term)
      if (candidates === undefined) continue
      for (const rule of candidates) {
        if (tried[rule] === event) continue
        tried[rule] = event
        if (tests[rule]?.(content)) found.push(rule)
      }
    }
    return found
  }
  return {
    figures: { addMicros, bytesPerRule: bytes / count },
    lines: readLines(plainFile(folder, name)),
    prepare: (line) => {
      const plain = readPlain(line)
      return () => match(plain)
    }
  }
}

// ---- helpers ----

interface Content {
  readonly words: ReadonlyArray<string>
  readonly terms: ReadonlySet<string>
}

type Test = (content: Content) => boolean

type Frequency = (term: string) => number

const read = ({ text, fields }: PlainEvent): Content => {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const terms = new Set(words)
  for (const term of fields) terms.add(term)
  return { words, terms }
}

interface Anchors {
  readonly terms: ReadonlyArray<string>
  /** Number of training events that contain one of them. */
  readonly cost: number
}

/** Every matching event has at least one of these terms. */
const anchorsOf = (rule: Rule, frequency: Frequency): Anchors => {
  switch (rule.op) {
    case "and":
      return rule.clauses
        .map((clause) => anchorsOf(clause, frequency))
        .reduce((one, other) => (other.cost < one.cost ? other : one), none)
    case "or": {
      const all = rule.clauses.map((clause) => anchorsOf(clause, frequency))
      return { terms: all.flatMap(({ terms }) => terms), cost: all.reduce((sum, { cost }) => sum + cost, 0) }
    }
    case "phrase":
      return anchorsOf({ op: "and", clauses: rule.words.map((word) => ({ op: "word", word })) }, frequency)
    case "word":
      return { terms: [rule.word], cost: frequency(rule.word) }
    case "field": {
      const term = fieldTerm(rule.field, rule.value)
      return { terms: [term], cost: frequency(term) }
    }
    case "not":
    case "prefix":
      return none
  }
}

const none: Anchors = { terms: [], cost: Number.POSITIVE_INFINITY }

const compile = (rule: Rule, frequency: Frequency): Test => {
  switch (rule.op) {
    case "and": {
      // Rarest first.
      const tests = rule.clauses
        .map((clause) => ({ test: compile(clause, frequency), cost: anchorsOf(clause, frequency).cost }))
        .sort((one, other) => one.cost - other.cost)
        .map(({ test }) => test)
      return (content) => {
        for (const test of tests) if (!test(content)) return false
        return true
      }
    }
    case "or": {
      const tests = rule.clauses.map((clause) => compile(clause, frequency))
      return (content) => {
        for (const test of tests) if (test(content)) return true
        return false
      }
    }
    case "not": {
      const test = compile(rule.clause, frequency)
      return (content) => !test(content)
    }
    case "word": {
      const { word } = rule
      return ({ terms }) => terms.has(word)
    }
    case "field": {
      const term = fieldTerm(rule.field, rule.value)
      return ({ terms }) => terms.has(term)
    }
    case "prefix": {
      const { prefix } = rule
      return ({ words }) => {
        for (const word of words) if (word.startsWith(prefix)) return true
        return false
      }
    }
    case "phrase": {
      const { words: row } = rule
      const [first = ""] = row
      return ({ words, terms }) => {
        for (const word of row) if (!terms.has(word)) return false
        for (let at = words.indexOf(first); at >= 0; at = words.indexOf(first, at + 1)) {
          let length = 1
          while (length < row.length && words[at + length] === row[length]) length++
          if (length === row.length) return true
        }
        return false
      }
    }
  }
}
