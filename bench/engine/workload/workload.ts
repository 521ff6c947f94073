/** The two streams that are measured, and the files that hand them to all engines alike. */

import { once } from "node:events"
import { createWriteStream, readFileSync } from "node:fs"
import { join } from "node:path"
import type { PlatformId } from "../../../core/PlatformId.ts"
import { type MadeEvent, writePlain } from "./event.ts"
import { makePage } from "./pages.ts"
import { makePost } from "./posts.ts"
import { Random } from "./random.ts"
import { type Rule, readRule, writeRule } from "./rule.ts"
import { type FieldRules, makeRule, type Narrowness, pageFields, postFields } from "./rules.ts"

export type WorkloadName = "posts" | "pages"

export interface Workload {
  readonly platform: PlatformId
  readonly makeEvent: (random: Random, index: number) => MadeEvent
  readonly fields: FieldRules
  /** The first events teach frequencies and are not timed. */
  readonly training: number
  readonly timed: number
}

export const workloads: Readonly<Record<WorkloadName, Workload>> = {
  posts: { platform: "x", makeEvent: makePost, fields: postFields, training: 20_000, timed: 30_000 },
  pages: { platform: "firehose", makeEvent: makePage, fields: pageFields, training: 1_000, timed: 3_000 }
}

/** Rules beyond those that an engine begins with, to replace others. */
export const SPARE_RULES = 20_000

export const writeEvents = async (folder: string, name: WorkloadName): Promise<void> => {
  const { makeEvent, training, timed } = workloads[name]
  const random = new Random(23)
  const records = createWriteStream(recordsFile(folder, name))
  const plain = createWriteStream(plainFile(folder, name))
  for (let index = 0; index < training + timed; index++) {
    const event = makeEvent(random, index)
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
    const rule = makeRule(random, workloads[name].fields, narrownessOf(count))
    if (!lines.write(`${writeRule(rule)}\n`)) await once(lines, "drain")
  }
  await ended(lines)
}

export const recordsFile = (folder: string, name: WorkloadName): string => join(folder, `${name}.ndjson`)
export const plainFile = (folder: string, name: WorkloadName): string => join(folder, `${name}.tsv`)
export const rulesFile = (folder: string, name: WorkloadName, count: number): string =>
  join(folder, `${name}-${count}.rules`)

export const readLines = (file: string): ReadonlyArray<string> => readFileSync(file, "utf8").trimEnd().split("\n")

/** The rules an engine begins with. */
export const readRules = (folder: string, name: WorkloadName, count: number): ReadonlyArray<Rule> =>
  readLines(rulesFile(folder, name, count))
    .slice(0, count)
    .map(readRule)

// ---- helpers ----

/** Chosen so that a post meets about 0.04, 0.19, 0.8 and 5.5 of 1,000, 10,000, 100,000 and 1,000,000 rules. */
const narrownessOf = (count: number): Narrowness => {
  if (count <= 1_000) return { rarity: 2_500, names: 0.4 }
  if (count <= 10_000) return { rarity: 5_000, names: 0.6 }
  if (count <= 100_000) return { rarity: 10_000, names: 0.85 }
  return { rarity: 15_000, names: 0.9 }
}

const ended = (stream: ReturnType<typeof createWriteStream>): Promise<unknown> => {
  stream.end()
  return once(stream, "finish")
}
