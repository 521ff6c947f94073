/** Bytes that the process holds on its heap and in buffers, after what is not needed has been collected. */
import process from "node:process"

export const heapBytes = (): number => {
  if (globalThis.gc === undefined) throw new Error("The runner needs to be started with --expose-gc")
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
