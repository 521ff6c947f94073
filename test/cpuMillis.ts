/** CPU time that some work takes in this process: on a busy machine other processes run in between. */
import process from "node:process"

export const cpuMillisOf = (work: () => void): number => {
  const before = process.cpuUsage()
  work()
  return since(before)
}

export const cpuMillisOfAsync = async (work: () => Promise<void>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  return since(before)
}

// ---- helpers ----

const since = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
