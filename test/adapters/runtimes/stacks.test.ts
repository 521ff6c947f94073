/** Stack traces of a bundle, mapped to the sources. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { withSources } from "../../../adapters/runtimes/stacks.ts"
import { temporaryFolder } from "../../stores.ts"

describe("withSources", () => {
  it.scopedLive("maps a location in the bundle to file, line and column of the source", () =>
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

  it("leaves locations without a map and other text unchanged", () => {
    const text = "Error: no\n    at run (file:///nowhere/run.js:1:2)\n    at node:internal/main:3:4"
    assert.strictEqual(withSources(text), text)
  })
})

// ---- helpers ----

/** Column of `new Error` in `var fails=()=>{throw new Error("no")};`. */
const bundledColumn = "var fails=()=>{throw ".length + 1
