/** Files that the build puts beside the program. */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"

/** Scalar's browser build, for the page at `/docs`. */
export const docsScript: Effect.Effect<Uint8Array<ArrayBuffer>> = Effect.suspend(() => asset("scalar.js"))

/** What a new embedded store is filled from. */
export const storeImage: Effect.Effect<Uint8Array<ArrayBuffer>> = Effect.suspend(() => asset("store.tar.gz"))

// ---- helpers ----

/** The tests run the sources, which use what was built last. */
const FOLDER = new URL(import.meta.url.endsWith(".ts") ? "../../dist/assets/" : "./assets/", import.meta.url)

const asset = (name: string) => Effect.promise(async () => new Uint8Array(await readFile(new URL(name, FOLDER))))
