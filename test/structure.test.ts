/** The module graph has no cycles, and only a platform's own files name it. */
import { readdirSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { importsOf } from "./imports.ts"
import { ROOT } from "./program.ts"

const sources = ["core", "api", "gateway", "adapters", "cli", "app", "console"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => posix.join(folder, name))
)

const texts = new Map(sources.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]))

/** From each file to the files that it imports. */
const files: Graph = new Map(
  [...texts].map(([path, text]) => [
    path,
    new Set(
      importsOf(text)
        .map((name) => posix.join(posix.dirname(path), name))
        .filter((imported) => texts.has(imported))
    )
  ])
)

describe("the module graph", () => {
  it("has no cycle of files", () => {
    assert.isAbove(files.size, 300, "the sources are found")
    assert.deepStrictEqual(cyclesIn(files), [])
  })

  it("has no cycle of folders in core or gateway", () => {
    for (const area of ["core", "gateway"]) assert.deepStrictEqual(cyclesIn(foldersOf(files, area)), [])
  })

  it("finds a cycle of folders whose files have none", () => {
    const graph = new Map([
      ["gateway/a/1.ts", new Set(["gateway/b/1.ts"])],
      ["gateway/b/2.ts", new Set(["gateway/c.ts"])],
      ["gateway/c.ts", new Set(["gateway/a/2.ts"])]
    ])
    assert.deepStrictEqual(cyclesIn(graph), [])
    assert.deepStrictEqual(cyclesIn(foldersOf(graph, "gateway")), [["gateway/a", "gateway/b", "gateway/c.ts"]])
  })

  it("is searched for cycles of any length", () => {
    const graph = new Map([
      ["a", new Set(["b"])],
      ["b", new Set(["c"])],
      ["c", new Set(["a", "d"])],
      ["d", new Set<string>()]
    ])
    assert.deepStrictEqual(cyclesIn(graph), [["a", "b", "c"]])
  })
})

describe("a platform", () => {
  it("is named in its own files, in the list of platforms and in examples only", () => {
    const named = [...texts].flatMap(([path, text]) =>
      OWN.some((own) => path.startsWith(own)) ||
      !/["'`](x|firehose|bluesky)["'`]|["'](x|firehose|bluesky)\./.test(codeOf(text))
        ? []
        : [path]
    )
    // Their examples show requests on x.
    assert.deepStrictEqual(
      named,
      [
        "api/examples.ts",
        "api/matches.ts",
        "api/platforms.ts",
        "api/rules.ts",
        "gateway/openapi/document.ts",
        "gateway/openapi/webhookMessages.ts"
      ].filter((path) => named.includes(path))
    )
  })
})

// ---- helpers ----

type Graph = ReadonlyMap<string, ReadonlySet<string>>

const OWN = [
  "core/syntax/x/",
  "core/syntax/bluesky/",
  "core/syntax/firehose/",
  "core/syntax/translation/",
  "core/syntax/wikimedia/",
  "core/syntax/feeds/",
  "core/languages/",
  "adapters/x/",
  "adapters/firehose/",
  "adapters/bluesky/",
  "adapters/wikimedia/",
  "adapters/feeds/",
  "simulator/",
  "adapters/demo/",
  "app/platforms.ts",
  "cli/simulate.ts",
  "app/settings.ts",
  // The x axis of a chart.
  "console/coverage/VolumeChart.tsx",
  "console/editor/languages.ts",
  "console/matches/content.ts",
  "console/matches/findPlaces.ts"
]

/** Without comments, object keys of examples and text that an agent reads. */
const codeOf = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "").replace(/'[^'\n]{40,}'/g, "")

/** From each folder of an area to those that its files import. A file beside the folders stands for itself. */
const foldersOf = (graph: Graph, area: string): Graph => {
  const folderOf = (path: string) => (posix.dirname(path) === area ? path : posix.dirname(path))
  const folders = new Map<string, Set<string>>()
  for (const [path, imported] of graph) {
    if (!path.startsWith(`${area}/`)) continue
    const from = folderOf(path)
    const to = folders.get(from) ?? new Set()
    folders.set(from, to)
    for (const other of imported) if (folderOf(other) !== from) to.add(folderOf(other))
  }
  return folders
}

/** Strongly connected components with more than one member (Tarjan's algorithm). */
function cyclesIn(graph: Graph): ReadonlyArray<ReadonlyArray<string>> {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: Array<string> = []
  const cycles: Array<ReadonlyArray<string>> = []
  const visit = (node: string): number => {
    const index = order.size
    order.set(node, index)
    low.set(node, index)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      const reached = order.has(next) ? (stack.includes(next) ? (order.get(next) ?? 0) : index) : visit(next)
      low.set(node, Math.min(low.get(node) ?? 0, reached))
    }
    const lowest = low.get(node) ?? 0
    if (lowest === index) {
      const members = stack.splice(stack.indexOf(node))
      if (members.length > 1) cycles.push(members.sort())
    }
    return lowest
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return cycles
}
