/** Files of installed packages that the gateway serves to browsers. */
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

/** Scalar's browser build, read when first asked for. */
export const scalar: Effect.Effect<Uint8Array<ArrayBuffer>> = Effect.promise(async () => {
  const entry = fileURLToPath(import.meta.resolve("@scalar/api-reference"))
  return new Uint8Array(await readFile(`${entry.slice(0, entry.lastIndexOf("dist"))}dist/browser/standalone.js`))
})
