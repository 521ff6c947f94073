/** Work that takes long: every piece of work seems to take this many milliseconds, until the scope ends. */
import { Effect } from "effect"
import { vi } from "vitest"

/** The clock moves each time that it is read: a piece of work reads it before and after. */
export const workTaking = (millis: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      let reads = 0
      return vi.spyOn(performance, "now").mockImplementation(() => ++reads * millis)
    }),
    (spy) => Effect.sync(() => spy.mockRestore())
  )
