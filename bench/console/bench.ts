/** Sizes of the web console as they travel: what a page needs on its first load, and what is loaded later. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Figure, lower, reportFigures } from "../figures.ts"

const FOLDER = join("dist", "console")
const ASSETS = join(FOLDER, "assets")
const KILOBYTE = 1_000

/** In kB with gzip. */
const MAX_FIRST_LOAD = 70
const MAX_EDITOR = 130

const names = readdirSync(ASSETS).filter((name) => /\.(js|css)$/.test(name))

const page = readFileSync(join(FOLDER, "index.html"), "utf8")
const first = withImports(names.filter((name) => page.includes(name)))

const figures: Array<Figure> = []
report("first load, gzip", sizeOf(first, "gz") + statSync(join(FOLDER, "index.html.gz")).size, MAX_FIRST_LOAD)
report("first load, brotli", sizeOf(first, "br") + statSync(join(FOLDER, "index.html.br")).size)
const parts = [
  ["rule editor", "EditorPage", MAX_EDITOR],
  ["matches page", "MatchesPage"],
  ["marks in matches", "findPlaces"],
  ["coverage page", "CoveragePage"],
  ["chart", "VolumeChart"],
  ["webhooks page", "WebhooksPage"],
  ["keys page", "KeysPage"]
] as const
for (const [label, chunk, target] of parts) {
  const files = withImports(names.filter((name) => name.startsWith(`${chunk}-`))).filter(
    (name) => !first.includes(name)
  )
  if (files.length === 0) throw new Error(`There is no chunk "${chunk}"`)
  report(`${label}, on top of it, gzip`, sizeOf(files, "gz"), target)
}
reportFigures(figures)

// ---- helpers ----

/** The files with all that they import at once. */
function withImports(files: ReadonlyArray<string>): ReadonlyArray<string> {
  const found = new Set(files)
  for (const name of found) {
    const text = readFileSync(join(ASSETS, name), "utf8")
    for (const other of names) {
      // Not `import(...)`, which loads it later.
      if (new RegExp(`(?:from|import)"[^"]*/${other.replaceAll(".", "\\.")}"`).test(text)) found.add(other)
    }
  }
  return [...found]
}

function sizeOf(files: ReadonlyArray<string>, encoding: "gz" | "br"): number {
  return files.reduce((sum, name) => sum + statSync(join(ASSETS, `${name}.${encoding}`)).size, 0)
}

function report(name: string, bytes: number, target?: number): void {
  const value = bytes / KILOBYTE
  console.log(
    `${name.padEnd(40)} ${value.toFixed(1).padStart(8)} kB${target === undefined ? "" : ` (at most ${target})`}`
  )
  figures.push(lower({ name, of: value, unit: "kB", target }))
}
