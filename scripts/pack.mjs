/**
 * Around `npm pack`: `node scripts/pack.mjs before` builds and puts a package.json in place that names only what is not
 * in the bundle, `after` brings the repository's own back.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const MANIFEST = join(ROOT, "package.json")
const KEPT = join(ROOT, "package.json.kept")

/** The one package that is not bundled: it finds its files beside its code. */
const NOT_BUNDLED = ["@electric-sql/pglite"]

const [, , when] = process.argv
// A pack that was killed has left the repository's own aside.
if (existsSync(KEPT)) renameSync(KEPT, MANIFEST)
if (when === "before") before()

// ---- helpers ----

function before() {
  const { status } = spawnSync(process.execPath, [join(ROOT, "scripts", "build.mjs")], { stdio: ["ignore", 2, 2] })
  if (status !== 0) process.exit(1)
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8"))
  const { scripts, devDependencies, allowScripts, overrides, private: _, ...published } = manifest
  const dependencies = Object.fromEntries(NOT_BUNDLED.map((name) => [name, manifest.dependencies[name]]))
  // The types of the router stand on tRPC's; who uses them has its client.
  const peer = "@trpc/server"
  const peerDependencies = { [peer]: `^${manifest.dependencies[peer]}` }
  const packed = { ...published, dependencies, peerDependencies, peerDependenciesMeta: { [peer]: { optional: true } } }
  renameSync(MANIFEST, KEPT)
  writeFileSync(MANIFEST, `${JSON.stringify(packed, null, 2)}\n`)
}
