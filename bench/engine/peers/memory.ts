/** Memory use and garbage collection of this process. */
import process from "node:process"

/** Bytes on the heap and in buffers, after garbage collection. */
export const heapBytes = (): number => {
  const collect = collector()
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Keeps garbage of the preparation out of a measurement. */
export const collectYoung = (): void => {
  collector()({ type: "minor" })
}

// ---- helpers ----

const collector = (): NonNullable<typeof globalThis.gc> => {
  if (globalThis.gc === undefined) throw new Error("Cannot collect garbage without --expose-gc")
  return globalThis.gc
}
