/** Writes the workload's files, so that the engines' processes do not hold the generator's tables. */
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { Random } from "../../../fixtures/distributions.ts"
import { isSmoke } from "../../figures.ts"
import { type MadeEvent, writePlain } from "./event.ts"
import { makePage } from "./pages.ts"
import { makePost } from "./posts.ts"
import { writeRule } from "./rule.ts"
import { type FieldRules, makeRule, pageFields, postFields, type Selectivity } from "./rules.ts"
import { plainFile, recordsFile, rulesFile, SPARE_RULES, type WorkloadName, workloads } from "./workload.ts"

export const writeEvents = async (folder: string, name: WorkloadName): Promise<void> => {
  const { training, timed } = workloads[name]
  const random = new Random(23)
  const records = createWriteStream(recordsFile(folder, name))
  const plain = createWriteStream(plainFile(folder, name))
  for (let index = 0; index < training + timed; index++) {
    const event = makers[name].makeEvent(random, index)
    const isFull = !records.write(`${JSON.stringify(event.record)}\n`)
    plain.write(`${writePlain(event.plain)}\n`)
    if (isFull) await once(records, "drain")
  }
  await Promise.all([ended(records), ended(plain)])
}

export const writeRules = async (folder: string, name: WorkloadName, count: number): Promise<void> => {
  const random = new Random(37 + count)
  const lines = createWriteStream(rulesFile(folder, name, count))
  for (let index = 0; index < count + SPARE_RULES; index++) {
    const rule = makeRule(random, makers[name].fields, selectivityOf(count))
    if (!lines.write(`${writeRule(rule)}\n`)) await once(lines, "drain")
  }
  await ended(lines)
}

// ---- helpers ----

interface Maker {
  readonly makeEvent: (random: Random, index: number) => MadeEvent
  readonly fields: FieldRules
}

const makers: Readonly<Record<WorkloadName, Maker>> = {
  posts: { makeEvent: makePost, fields: postFields },
  pages: { makeEvent: makePage, fields: pageFields }
}

/** A post matches about 0.04, 0.19, 0.8 and 5.5 of 1,000, 10,000, 100,000 and 1,000,000 rules. */
const selectivityOf = (count: number): Selectivity => {
  // Few rules and events: broad rules produce matches to compare.
  if (isSmoke) return { rarity: 50, names: 0 }
  if (count <= 1_000) return { rarity: 2_500, names: 0.4 }
  if (count <= 10_000) return { rarity: 5_000, names: 0.6 }
  if (count <= 100_000) return { rarity: 10_000, names: 0.85 }
  return { rarity: 15_000, names: 0.9 }
}

const ended = (stream: ReturnType<typeof createWriteStream>): Promise<unknown> => {
  stream.end()
  return once(stream, "finish")
}
