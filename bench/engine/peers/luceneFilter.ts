/** lucene-filter of npm over lucene's parser: a function for each rule on each event. */
import { createRequire } from "node:module"
import lucene from "lucene"
import type { WorkloadName } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { loadEveryRule, type Row } from "./padded.ts"

/** It is no dependency of ours: whoever wants its figures installs it. */
export const isInstalled = (): boolean => {
  try {
    require.resolve(PACKAGE)
    return true
  } catch {
    return false
  }
}

export const load = (folder: string, name: WorkloadName, count: number): Loaded => {
  // Its documented call; it has no types.
  const filterOf = (require(PACKAGE) as (parser: unknown) => (query: string) => (row: Row) => unknown)(lucene)
  return loadEveryRule(folder, name, count, filterOf)
}

// ---- helpers ----

const PACKAGE = "lucene-filter"
const require = createRequire(import.meta.url)
