/** Our engine on the platform's records, as published events come in: from their JSON text to the matching rules. */
import { createHash } from "node:crypto"
import { Either } from "effect"
import { eventReader } from "../../../adapters/local/events.ts"
import { Engine } from "../../../core/engine/Engine.ts"
import { coarseFields } from "../../../core/syntax/expression/FieldNames.ts"
import { LANGUAGES, languageOf } from "../../../fixtures/languages.ts"
import { expressionOf } from "../workload/expression.ts"
import { readRule } from "../workload/rule.ts"
import { readLines, recordsFile, rulesFile, type WorkloadName, workloads } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { checkNumber } from "./ours.ts"

export const loadRecords = (folder: string, name: WorkloadName, count: number): Loaded => {
  const { platform, training } = workloads[name]
  const lines = readLines(recordsFile(folder, name))
  const engine = new Engine({
    seed: 1,
    largeCapacity: true,
    coarseFields: coarseFields(languageOf(platform).fieldNames)
  })
  const reader = eventReader(LANGUAGES, (text) => createHash("sha256").update(text).digest("hex"))
  const match = (line: string) => engine.match(Either.getOrThrow(reader.decode(JSON.parse(line), 0)).fields)
  const rules = readLines(rulesFile(folder, name, count)).slice(0, count)
  for (const [line, rule] of rules.entries()) {
    checkNumber(engine.add(expressionOf(platform, readRule(rule))), line)
    if (line === Math.min(RULES_BEFORE_TRAINING, count - 1)) for (const event of lines.slice(0, training)) match(event)
  }
  return { figures: {}, lines, prepare: (line) => () => match(line) }
}

/** The least that reading a record costs: `JSON.parse` and nothing else. */
export const loadParse = (folder: string, name: WorkloadName): Loaded => ({
  figures: {},
  lines: readLines(recordsFile(folder, name)),
  prepare: (line) => () => {
    JSON.parse(line)
    return []
  }
})

// ---- helpers ----

const RULES_BEFORE_TRAINING = 1_000
