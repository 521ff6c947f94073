/** Loaded into the server before its program: tells the benchmark the longest delay of the event loop. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import process from "node:process"

const histogram = monitorEventLoopDelay({ resolution: 5 })
histogram.enable()

process.on("message", () => {
  process.send?.(histogram.max / 1e6)
  histogram.reset()
})
process.channel?.unref()
