/** Stack traces of a bundle, in terms of the sources. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { withSources } from "../../../adapters/runtimes/stacks.ts"
import { temporaryFolder } from "../../stores.ts"

describe("withSources", () => {
  it.scopedLive("names the file, line and column that a bundled place was made of", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "core"))
      writeFileSync(
        join(folder, "core", "fails.ts"),
        '/** Doc. */\nexport const fails = () => {\n  throw new Error("no")\n}\n'
      )
      const outfile = join(folder, "dist", "main.js")
      const entryPoints = [join(folder, "core", "fails.ts")]
      yield* Effect.promise(() =>
        build({ entryPoints, outfile, bundle: true, format: "esm", minifyWhitespace: true, sourcemap: true })
      )
      const bundled = `Error: no\n    at fails (${pathToFileURL(outfile).href}:1:${bundledColumn})`
      assert.strictEqual(withSources(bundled), "Error: no\n    at fails (core/fails.ts:3:9)")
    })
  )

  it("leaves places alone that have no map, and text without places", () => {
    const text = "Error: no\n    at run (file:///nowhere/run.js:1:2)\n    at node:internal/main:3:4"
    assert.strictEqual(withSources(text), text)
  })
})

// ---- helpers ----

/** Where `new Error` stands in `var fails=()=>{throw new Error("no")};`. */
const bundledColumn = "var fails=()=>{throw ".length + 1
