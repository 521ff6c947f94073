/** The modules that each command loads at start, read from the bundle and its source maps. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ROOT } from "./program.ts"

const DIST = join(ROOT, "dist")

describe("the bundle", () => {
  it("loads nothing but its own file for --version", () => {
    assert.sameMembers([...sourcesOf("main.js")], ["main.ts", "app/version.ts"])
  })

  it("loads no CLI, simulator, tRPC or MCP code for serve", () => {
    const sources = [...sourcesOf(chunkOf("serve")), ...sourcesOf(chunkOf("run"))]
    assert.include(sources, "app/serve.ts")
    assert.include(sources, "adapters/sql/pglite.ts")
    for (const unwanted of [
      "simulator/",
      "cli/earshot.ts",
      "node_modules/@effect/cli/",
      "node_modules/@modelcontextprotocol/",
      "node_modules/@trpc/",
      "node_modules/trpc-to-openapi/",
      "node_modules/zod/"
    ]) {
      assert.deepStrictEqual(
        sources.filter((source) => source.startsWith(unwanted)),
        [],
        unwanted
      )
    }
  })

  it("loads no store, no gateway and no platform for check and syntax", () => {
    const sources = [...sourcesOf(chunkOf("commands")), ...sourcesOf(chunkOf("run"))]
    assert.include(sources, "cli/syntax.ts")
    for (const unwanted of ["adapters/sql/", "adapters/x/", "adapters/firehose/", "adapters/local/", "gateway/"]) {
      assert.deepStrictEqual(
        sources.filter((source) => source.startsWith(unwanted)),
        [],
        unwanted
      )
    }
  })

  it("contains the licences of bundled packages", () => {
    const text = readFileSync(join(DIST, "THIRD-PARTY-LICENSES.txt"), "utf8")
    for (const name of ["effect", "@effect/cli", "@trpc/server", "pg", "zod"]) {
      assert.match(text, new RegExp(`^${name.replace("/", "\\/")} \\d`, "m"))
    }
  })
})

// ---- helpers ----

/** The chunk of a lazily loaded module, such as `serve-ABCD1234.js`. */
const chunkOf = (name: string): string => {
  const found = readdirSync(DIST).filter((file) => new RegExp(`^${name}-[A-Z0-9]{8}\\.js$`).test(file))
  assert.lengthOf(found, 1, name)
  return found[0] ?? ""
}

/** All sources in the file and its static imports. */
const sourcesOf = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  const sources = new Set<string>()
  if (seen.has(file)) return sources
  seen.add(file)
  const map = join(DIST, `${file}.map`)
  if (existsSync(map)) {
    const { sources: mapped } = JSON.parse(readFileSync(map, "utf8")) as { readonly sources: ReadonlyArray<string> }
    for (const source of mapped) sources.add(source.replace(/^(\.\.\/)+/, ""))
  }
  const text = readFileSync(join(DIST, file), "utf8")
  for (const [, imported = ""] of text.matchAll(
    /(?:^|[;}\n])(?:import|export)\s*(?:[^"'();]*?from)?\s*"\.\/([\w-]+\.js)"/g
  )) {
    for (const source of sourcesOf(imported, seen)) sources.add(source)
  }
  return sources
}
