/** The CPU time that a Postgres server used. */
import { readdirSync } from "node:fs"
import { cpuOf } from "../program.ts"

/** Of all processes of the server, also those that have ended, in microseconds. `backend`: one of them. */
export const postgresCpu = (backend: number): number => {
  const { parent: postmaster } = cpuOf(String(backend))
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const running = processes.flatMap((pid) => {
    try {
      const { own, parent } = cpuOf(pid)
      return parent === postmaster ? [own] : []
    } catch {
      // It has ended since the listing.
      return []
    }
  })
  const { own, ofEndedChildren } = cpuOf(postmaster)
  return running.reduce((sum, one) => sum + one, own + ofEndedChildren)
}
