/** The two workloads, and the files that all engines read. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { PlatformId } from "../../../fixtures/languages.ts"
import { isSmoke } from "../../figures.ts"
import { type Rule, readRule } from "./rule.ts"

export type WorkloadName = "posts" | "pages"

export interface Workload {
  readonly platform: PlatformId
  /** The first events train frequencies and are not timed. */
  readonly training: number
  readonly timed: number
}

export const workloads: Readonly<Record<WorkloadName, Workload>> = isSmoke
  ? { posts: { platform: "x", training: 50, timed: 200 }, pages: { platform: "firehose", training: 20, timed: 100 } }
  : {
      posts: { platform: "x", training: 20_000, timed: 30_000 },
      pages: { platform: "firehose", training: 1_000, timed: 3_000 }
    }

/** Additional rules, for replacing others. */
export const SPARE_RULES = isSmoke ? 100 : 20_000

export const recordsFile = (folder: string, name: WorkloadName): string => join(folder, `${name}.ndjson`)
export const plainFile = (folder: string, name: WorkloadName): string => join(folder, `${name}.tsv`)
export const rulesFile = (folder: string, name: WorkloadName, count: number): string =>
  join(folder, `${name}-${count}.rules`)

export const readLines = (file: string): ReadonlyArray<string> => readFileSync(file, "utf8").trimEnd().split("\n")

/** The initial rules. */
export const readRules = (folder: string, name: WorkloadName, count: number): ReadonlyArray<Rule> =>
  readLines(rulesFile(folder, name, count))
    .slice(0, count)
    .map(readRule)
