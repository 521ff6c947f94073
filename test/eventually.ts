import { setTimeout as sleep } from "node:timers/promises"

/** Retries the check for 15 seconds. */
export const eventually = async (check: () => void | Promise<void>): Promise<void> => {
  for (let left = 150; ; left--) {
    try {
      return await check()
    } catch (cause) {
      if (left === 0) throw cause
      await sleep(100)
    }
  }
}
