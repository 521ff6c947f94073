/** The real program under attack, with figures on the work that requests cause. */
import { afterAll, beforeAll } from "@effect/vitest"
import type { Target } from "../gateway/client.ts"
import { KEY, type Running, START_MILLIS, startService } from "../program.ts"
import { parseMetrics, valueIn } from "../prometheus.ts"

export interface Attacked {
  readonly target: Target
  /** CPU seconds of the program while `work` runs. */
  readonly cpuOf: (work: () => Promise<unknown>) => Promise<number>
  /** Bytes. */
  readonly memory: () => Promise<number>
}

/** Starts before the tests of a file and stops after them. Has the embedded store. */
export const attackedProgram = (settings: () => Readonly<Record<string, string>> = () => ({})): (() => Attacked) => {
  let running: Running | undefined
  beforeAll(async () => {
    running = await startService("node", { LOG_LEVEL: "error", ...settings() })
  }, START_MILLIS)
  afterAll(() => running?.stop(), START_MILLIS)
  return () => {
    if (running === undefined) throw new Error("The program is not running")
    const { url, host, port } = running
    const metric = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
      valueIn(parseMetrics(await (await fetch(`${url}/metrics`)).text()), `earshot_process_${name}`, labels)
    const cpu = () => metric("cpu_seconds_total", { mode: "user" })
    return {
      target: { url, host, port, key: KEY },
      cpuOf: async (work) => {
        const before = await cpu()
        await work()
        return (await cpu()) - before
      },
      memory: () => metric("resident_memory_bytes")
    }
  }
}
