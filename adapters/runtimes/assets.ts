/** Files that the build puts next to the program. */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"

/** Scalar's browser build, for the page at `/docs`. */
export const docsScript: Effect.Effect<Uint8Array<ArrayBuffer>> = Effect.suspend(() => asset("scalar.js"))

/** The prepared database that a new embedded store starts from. */
export const storeImage: Effect.Effect<Uint8Array<ArrayBuffer>> = Effect.suspend(() => asset("store.tar.gz"))

// ---- helpers ----

/** When run from sources (tests), read the assets of the last build. */
const folder = new URL(import.meta.url.endsWith(".ts") ? "../../dist/assets/" : "./assets/", import.meta.url)

const asset = (name: string) => Effect.promise(async () => new Uint8Array(await readFile(new URL(name, folder))))
