/** One server of the benchmark, in a process of its own. */
import process from "node:process"
import { answer } from "./process.ts"

export interface Broadcaster {
  readonly port: number
  /** Hands out one match, which carries the time at which it was stored. */
  readonly publish: () => Promise<void>
}

/** Imported when chosen: a server carries nothing of the other. */
const variants: Readonly<Record<string, () => Promise<Broadcaster>>> = {
  bare: async () => (await import("./bare.ts")).bare(),
  earshot: async () => (await import("./earshot.ts")).earshot()
}

const start = variants[process.argv[2] ?? ""]
if (start === undefined) throw new Error(`Name one of ${Object.keys(variants).join(", ")}`)
const broadcaster = await start()

answer({
  port: () => broadcaster.port,
  memory: async () => {
    // What is garbage after the first time is let go of by the second.
    for (let i = 0; i < 2; i++) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      globalThis.gc?.()
    }
    return process.memoryUsage.rss()
  },
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  publish: async (count = 0, perSecond = 1) => {
    const startedAt = performance.now()
    for (let i = 0; i < count; i++) {
      await new Promise((resolve) => setTimeout(resolve, startedAt + (i * 1_000) / perSecond - performance.now()))
      await broadcaster.publish()
    }
    return count
  }
})
