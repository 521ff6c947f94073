/** One server, in its own process. */
import process from "node:process"
import { answerCommands } from "../childProcess.ts"

export interface Broadcaster {
  readonly port: number
  /** Publishes one match, which contains the time it was stored. */
  readonly publish: () => Promise<void>
}

/** Dynamic imports: a server loads only its own code. */
const variants: Readonly<Record<string, () => Promise<Broadcaster>>> = {
  bare: async () => (await import("./bare.ts")).bare(),
  earshot: async () => (await import("./earshot.ts")).earshot()
}

const start = variants[process.argv[2] ?? ""]
if (start === undefined) throw new Error(`Unknown server: expected ${Object.keys(variants).join(", ")}`)
const broadcaster = await start()

await answerCommands({
  port: () => broadcaster.port,
  memory: async () => {
    // Some garbage is only freed by the second collection.
    for (let i = 0; i < 2; i++) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      globalThis.gc?.()
    }
    return process.memoryUsage.rss()
  },
  printMemory: () => {
    const { rss, heapTotal, heapUsed } = process.memoryUsage()
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
    console.error(`  ${megabytes(rss)} in all, ${megabytes(heapTotal)} heap, of which ${megabytes(heapUsed)} used`)
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
