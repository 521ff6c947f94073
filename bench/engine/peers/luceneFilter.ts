/** The npm package lucene-filter, with lucene's parser: runs every rule on every event. */
import { createRequire } from "node:module"
import lucene from "lucene"
import type { WorkloadName } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { loadEveryRule, type Row } from "./padded.ts"

/** Not a dependency: install it to get its figures. */
export const isInstalled = (): boolean => {
  try {
    require.resolve(PACKAGE)
    return true
  } catch {
    return false
  }
}

export const load = (folder: string, name: WorkloadName, count: number): Loaded => {
  // The documented call. The package has no types.
  const filterOf = (require(PACKAGE) as (parser: unknown) => (query: string) => (row: Row) => unknown)(lucene)
  return loadEveryRule(folder, name, count, filterOf)
}

// ---- helpers ----

const PACKAGE = "lucene-filter"
const require = createRequire(import.meta.url)
