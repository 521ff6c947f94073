/** Builds dist/: the program, its assets, the image of an empty embedded store, the client types, and the web console. */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { buildConsole } from "./buildConsole.mjs"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const DIST = join(ROOT, "dist")
const ASSETS = join(DIST, "assets")
const SOURCES = [
  "main.ts",
  "app",
  "core",
  "api",
  "gateway",
  "adapters",
  "cli",
  "simulator",
  "console",
  "scripts",
  "package-lock.json"
]

/** Not bundled: PGlite reads its own files, pg-native is never used. */
const EXTERNAL = ["@electric-sql/pglite", "pg-native"]

/** CommonJS packages load Node's built-in modules with `require`. */
const BANNER =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'

if (process.argv.includes("--if-needed") && isFresh()) process.exit(0)
const esbuild = await import("esbuild").catch(() => undefined)
if (esbuild !== undefined) {
  await build(esbuild)
} else if (existsSync(join(DIST, "main.js"))) {
  console.warn("Using the existing dist/: it is older than the sources, but the development packages are not installed")
} else {
  console.error('Cannot build: the development packages are not installed. Run "npm ci" first')
  process.exit(1)
}

// ---- helpers ----

/** Whether the last build is newer than its sources. */
function isFresh() {
  const built = modified(join(DIST, "main.js"))
  const outputs = [join(ASSETS, "store.tar.gz"), join(DIST, "client.d.ts")]
  return outputs.every((path) => existsSync(path)) && SOURCES.every((name) => newestIn(join(ROOT, name)) <= built)
}

function newestIn(path) {
  if (!existsSync(path) || !statSync(path).isDirectory()) return modified(path)
  return Math.max(0, ...readdirSync(path).map((name) => newestIn(join(path, name))))
}

function modified(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0
}

async function build({ build }) {
  const started = performance.now()
  mkdirSync(ASSETS, { recursive: true })
  // Chunk names contain a hash, so old chunks would pile up.
  for (const name of readdirSync(DIST)) if (name !== "assets") rmSync(join(DIST, name), { recursive: true })
  // One bundle: the other entries share the chunks of the first and take almost no time.
  const entries = {
    main: join(ROOT, "main.ts"),
    feedParser: join(ROOT, "adapters", "feeds", "feedParser.ts"),
    clientTypes: join(ROOT, "app", "clientTypes.ts")
  }
  const { metafile } = await bundle(build, entries, DIST)
  await writeClientTypes(join(DIST, "clientTypes.js"))
  const consoleFiles = await buildConsole({ build }, ROOT)
  writeLicenses([...new Set([...packagesIn(metafile), ...packagesIn(consoleFiles)])])
  await makeStoreImage(build)
  console.log(`Built dist/ in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
}

function bundle(build, entryPoints, outdir) {
  return build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: EXTERNAL,
    banner: { js: BANNER },
    // Keeps names, so that stack traces are readable without the source map.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    sourcemap: "linked",
    sourcesContent: false,
    metafile: true,
    logLevel: "warning"
  })
}

/** Folders of the bundled packages. A package may carry the code of another one, without its `package.json`. */
function packagesIn({ inputs }) {
  const folders = Object.keys(inputs).map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
  return [...new Set(folders.filter((folder) => folder !== undefined))]
    .sort()
    .map((folder) => join(ROOT, folder))
    .filter((folder) => existsSync(join(folder, "package.json")))
}

/** The licences of bundled packages require their text to be included. */
function writeLicenses(folders) {
  const parts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), "utf8").trim()
    return `${name} ${version}\n\n${text}\n`
  })
  writeFileSync(join(DIST, "THIRD-PARTY-LICENSES.txt"), parts.join(`\n${"-".repeat(80)}\n\n`))
}

/** Removes the generator afterwards: users of the bundle do not need it. */
async function writeClientTypes(program) {
  const { clientTypes } = await import(pathToFileURL(program).href)
  writeFileSync(join(DIST, "client.d.ts"), clientTypes())
  for (const path of [program, `${program}.map`]) rmSync(path)
}

/** Takes ten seconds, so it only runs when its inputs have changed. */
async function makeStoreImage(build) {
  const image = join(ASSETS, "store.tar.gz")
  const keyFile = join(ASSETS, "store.key")
  const key = storeKey()
  if (existsSync(image) && existsSync(keyFile) && readFileSync(keyFile, "utf8") === key) return
  console.log("Preparing an empty store, so that starts are quick: takes up to a minute, once")
  const folder = mkdtempSync(join(tmpdir(), "earshot-build-"))
  try {
    // Below dist/, so that the packages that are not bundled are found.
    const program = join(DIST, "prepare")
    await bundle(build, { prepareStore: join(ROOT, "scripts", "prepareStore.ts") }, program)
    const { prepareStore } = await import(pathToFileURL(join(program, "prepareStore.js")).href)
    writeFileSync(image, await prepareStore(folder))
    writeFileSync(keyFile, key)
    rmSync(program, { recursive: true })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function storeKey() {
  const hash = createHash("sha256")
  const sources = [
    "adapters/sql/migrate.ts",
    "adapters/sql/migrations.ts",
    "adapters/sql/pglite.ts",
    "adapters/sql/storeImage.ts",
    "scripts/prepareStore.ts"
  ]
  for (const path of sources) hash.update(readFileSync(join(ROOT, path)))
  hash.update(readFileSync(join(ROOT, "node_modules/@electric-sql/pglite/package.json")))
  return hash.digest("hex")
}
