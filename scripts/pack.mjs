/** For `npm pack`: `before` builds and drops bundled dependencies from package.json, `after` restores it. */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const MANIFEST = join(ROOT, "package.json")
const KEPT = join(ROOT, "package.json.kept")

/** Not bundled: it finds its files relative to its code. */
const NOT_BUNDLED = ["@electric-sql/pglite"]

const [, , when] = process.argv
// A killed pack leaves the original renamed.
if (existsSync(KEPT)) renameSync(KEPT, MANIFEST)
if (when === "before") before()

// ---- helpers ----

function before() {
  const { status } = spawnSync(process.execPath, [join(ROOT, "scripts", "build.mjs")], { stdio: ["ignore", 2, 2] })
  if (status !== 0) process.exit(1)
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8"))
  const { scripts, devDependencies, allowScripts, overrides, private: _, ...published } = manifest
  const dependencies = Object.fromEntries(NOT_BUNDLED.map((name) => [name, manifest.dependencies[name]]))
  // The router's types refer to tRPC's, which users of the client have installed.
  const peer = "@trpc/server"
  const peerDependencies = { [peer]: `^${manifest.dependencies[peer]}` }
  const packed = { ...published, dependencies, peerDependencies, peerDependenciesMeta: { [peer]: { optional: true } } }
  renameSync(MANIFEST, KEPT)
  writeFileSync(MANIFEST, `${JSON.stringify(packed, null, 2)}\n`)
}
