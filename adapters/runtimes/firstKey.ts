/** Where the first key of a new store is shown: never in a log. */
import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { Effect } from "effect"

/** Whether a person reads standard output. Otherwise it may be kept, for others to read. */
export const isTerminal: Effect.Effect<boolean> = Effect.sync(() => process.stdout.isTTY === true)

export const pathIn = (folder: string): string => join(folder, "first-key")

/** Writes the key to a file that only its owner may read, and returns the path. */
export const writeKey = (folder: string, secret: string): Effect.Effect<string> =>
  Effect.sync(() => {
    const path = resolve(pathIn(folder))
    writeFileSync(path, `${secret}\n`, { mode: 0o600 })
    return path
  })
