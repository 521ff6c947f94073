/** What the process holds, and when its garbage is collected. */
import process from "node:process"

/** Bytes on the heap and in buffers, after what is not needed has been collected. */
export const heapBytes = (): number => {
  const collect = collector()
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** So that what was made for a measurement is not collected in the middle of it. */
export const collectYoung = (): void => {
  collector()({ type: "minor" })
}

// ---- helpers ----

const collector = (): NonNullable<typeof globalThis.gc> => {
  if (globalThis.gc === undefined) throw new Error("The runner needs to be started with --expose-gc")
  return globalThis.gc
}
