/** Files that the build puts next to the program. */
import { readdir, readFile } from "node:fs/promises"
import { Effect } from "effect"

/** The files of the web console by path, listed once and read when they are asked for. Empty if it is not built. */
export const consoleFiles: Effect.Effect<ReadonlyMap<string, Effect.Effect<Uint8Array<ArrayBuffer>>>> = Effect.gen(
  function* () {
    const names = yield* Effect.promise(() => readdir(consoleFolder, { recursive: true }).catch(() => []))
    const paths = names.map((name) => name.replaceAll("\\", "/"))
    const files = yield* Effect.forEach(paths, (path) =>
      Effect.map(Effect.cached(read(new URL(path, consoleFolder))), (file) => [path, file] as const)
    )
    return new Map(files)
  }
)

/** The prepared database that a new embedded store starts from. */
export const storeImage: Effect.Effect<Uint8Array<ArrayBuffer>> = Effect.suspend(() => asset("store.tar.gz"))

// ---- helpers ----

/** When run from sources (tests), read the files of the last build. */
const dist = new URL(import.meta.url.endsWith(".ts") ? "../../dist/" : "./", import.meta.url)

const consoleFolder = new URL("console/", dist)

const read = (file: URL) => Effect.promise(async () => new Uint8Array(await readFile(file)))

const asset = (name: string) => read(new URL(`assets/${name}`, dist))
