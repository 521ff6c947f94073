/** The npm package liqe: tests every rule on every event. */
import liqe from "liqe"
import type { WorkloadName } from "../workload/workload.ts"
import type { Loaded } from "./loaded.ts"
import { loadEveryRule } from "./padded.ts"

export const load = (folder: string, name: WorkloadName, count: number): Loaded =>
  loadEveryRule(folder, name, count, (query) => {
    const tree = liqe.parse(query)
    return (row) => liqe.test(tree, row)
  })
