/** The documentation: its links, commands and settings exist, and the README stays short. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { allContracts, contractsOfPlatforms } from "../api/contracts.ts"
import { platformSchemas } from "../api/platformSchemas.ts"
import { rules } from "../api/rules.ts"
import { webhooks } from "../api/webhooks.ts"
import { builtIn } from "../app/platforms.ts"
import { toolbox } from "../gateway/mcp/tools.ts"
import { makeRouter } from "../gateway/trpc/router.ts"
import { ROOT } from "./program.ts"

const MAX_README_BYTES = 12_000

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8")

const pages: ReadonlyMap<string, string> = new Map(
  [
    ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"],
    ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name.replaceAll("\\", "/")}`)
  ].map((path) => [path, read(path)])
)

describe("the documentation", () => {
  it("has a short README", () => {
    assert.isAtMost(statSync(join(ROOT, "README.md")).size, MAX_README_BYTES)
  })

  it("has the two setup commands in the README", () => {
    assert.sameMembers(
      linesIn("README.md").filter((line) => line.startsWith("npm ci")),
      ["npm ci && npm start", "npm ci && npm run check"]
    )
  })

  it("links to files and headings that exist", () => {
    const links = [...pages].flatMap(([page, text]) => linksIn(text).map((link) => ({ page, link })))
    assert.isAbove(links.length, 50, "finds the links")
    assert.deepStrictEqual(
      links.filter(({ page, link }) => isBroken(page, link)).map(({ page, link }) => `${page}: ${link}`),
      []
    )
  })

  it("links only to files that are in the package", () => {
    const { files } = JSON.parse(read("package.json")) as { readonly files: ReadonlyArray<string> }
    const packed = [...files, "README.md", "LICENSE"]
    const targets = [...pages].flatMap(([page, text]) => linksIn(text).map((link) => fileOf(page, link)))
    assert.deepStrictEqual(
      targets.filter((target) => !packed.some((path) => target === path || target.startsWith(`${path}/`))),
      []
    )
  })

  it("uses npm scripts that exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
    const used = usesOf(/\bnpm run ([\w:-]+)/g)
    assert.isAbove(used.length, 5, "finds the scripts")
    assert.deepStrictEqual(
      used.filter(([name = ""]) => !(name in scripts)),
      []
    )
  })

  it("uses commands of earshot that exist", () => {
    const commands = commandsOfHelp({ EARSHOT_FEEDS: "on" }).map((name) => name.split(" "))
    const used = usesOf(/(?:npx earshot|dist\/main\.js|bin\/earshot(?:\.js)?) ([a-z-]+)(?: ([a-z-]+)\b)?/g)
    assert.isAbove(used.length, 15, "finds the commands")
    const isKnown = ([first, second]: ReadonlyArray<string | undefined>) =>
      first?.startsWith("--") ||
      commands.some(([name, subcommand]) => name === first && (subcommand === undefined || subcommand === second))
    assert.deepStrictEqual(
      used.filter((words) => !isKnown(words)),
      []
    )
  })

  it("lists the commands of earshot, and those only", () => {
    // `rules create`, `list` stands for rules create and rules list.
    const listed = rowsIn("docs/cli.md", "command").flatMap(([names = ""]) => {
      const [first = "", ...others] = codesIn(names)
      const [group] = first.split(" ")
      const isGroup = first !== group
      return [first, ...others.map((name) => (isGroup && !name.includes(" ") ? `${group} ${name}` : name))]
    })
    assert.sameMembers(listed, [...commandsOfHelp()])
  })

  it("lists the procedures of the router, and those only", () => {
    const listed = [...rowsIn("docs/typescript.md", "router")].flatMap(([router = "", procedures = ""]) =>
      codesIn(procedures).map((name) => `${codesIn(router)[0]}.${name}`)
    )
    assert.sameMembers(listed, [...procedures])
  })

  it("lists the operations of the API with their procedures, and those only", () => {
    const listed = rowsIn("docs/api.md", "operation")
    const paths = listed.flatMap(([operation = ""]) => codesIn(operation))
    // The page of a group lists its operations.
    const groups = paths.filter((path) => path.endsWith("…")).map((path) => path.slice(0, -1))
    const known = [...allContracts.map(({ method, path }) => `${method} ${path}`), ...OTHER_OPERATIONS]
    const isInGroup = (operation: string) => groups.some((group) => operation.split(" ")[1]?.startsWith(group))
    assert.sameMembers(
      paths.filter((path) => !path.endsWith("…")),
      known.filter((operation) => !isInGroup(operation))
    )
    const named = listed.flatMap(([, names = ""]) => codesIn(names))
    const unlisted = procedures.filter(
      (name) => !named.some((one) => one === name || one === name.replace(/\..*/, ".*"))
    )
    assert.deepStrictEqual(unlisted, ["matches.events"], "the stream has two procedures")
    assert.deepStrictEqual(
      named.filter((name) => !name.endsWith(".*") && !procedures.includes(name)),
      []
    )
  })

  it("lists the operations that change a rule, with their tools, and the operations on webhooks", () => {
    const operationsIn = (page: string, title: string) =>
      rowsIn(page, title).flatMap(([names = ""]) => codesIn(names).map((name) => name.replace(/\?.*/, "")))
    const wanted = (from: typeof allContracts) => from.map(({ method, path }) => `${method} ${path}`)
    const { create: _, list: __, delete: ___, check: ____, hits: _____, ...changes } = rules
    assert.sameMembers(operationsIn("docs/rules.md", "operation"), wanted(Object.values(changes)))
    assert.sameMembers(operationsIn("docs/webhooks.md", "path"), wanted(Object.values(webhooks)))
    assert.sameMembers(operationsIn("docs/feeds.md", "path"), wanted(Object.values(contractsOfPlatforms.feeds)))
    const tools = toolbox(builtIn).tools.map(({ name }) => name)
    const ofRules = rowsIn("docs/rules.md", "operation").flatMap(([, , names = ""]) => codesIn(names))
    assert.deepStrictEqual(
      ofRules.filter((name) => !tools.includes(name)),
      []
    )
    assert.sameMembers(
      rowsIn("docs/agents.md", "tool").flatMap(([names = ""]) => codesIn(names)),
      tools
    )
  })

  it("lists every folder of the product, every storage port and every dependency, and those only", () => {
    const architecture = pages.get("docs/architecture.md") ?? ""
    const firstCells = (title: string) =>
      rowsIn("docs/architecture.md", title).flatMap(([names = ""]) => codesIn(names))
    const areas = ["api", "app", "cli", "simulator", "console"]
    const parts = ["core", "gateway", "adapters"].flatMap((area) => foldersIn(area).map((name) => `${area}/${name}`))
    assert.sameMembers([...firstCells("folder")], ["main.ts", ...areas, ...parts])

    const [, ports = ""] = /^The storage ports are (.*?)\./m.exec(architecture) ?? []
    assert.sameMembers([...codesIn(ports)], [...storagePorts(), "core"])

    const { dependencies } = JSON.parse(read("package.json")) as { readonly dependencies: object }
    const used = rowsIn("docs/architecture.md", "package").flatMap((cells) => cells.flatMap(codesIn))
    assert.sameMembers(
      used.filter((name) => name !== "Schema"),
      Object.keys(dependencies)
    )
  })

  it("names settings that exist", () => {
    const known = new Set([...read("docs/settings.md").matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name))
    assert.isAbove(known.size, 15, "finds the settings")
    const named = [...pages.values()].flatMap(
      (text) => text.match(/\b(?:EARSHOT|X|FIREHOSE|OTEL|LOG)_[A-Z_]+\b/g) ?? []
    )
    assert.deepStrictEqual(
      named.filter((name) => !known.has(name)),
      []
    )
  })

  it("shows the example of a webhook receiver as it is", () => {
    const code = read("examples/webhook-receiver.mjs")
    assert.include(pages.get("docs/webhooks.md") ?? "", code.slice(code.indexOf("import ")))
  })
})

// ---- helpers ----

const procedures: ReadonlyArray<string> = Object.keys(makeRouter(platformSchemas(builtIn))._def.procedures)

/** Operations without an endpoint of the table. */
const OTHER_OPERATIONS = ["GET /matches/stream", "POST /matches/redact", "POST /local/events", "POST /mcp", "/trpc/*"]

/** With the name of their group: `rules create`. */
const commandsOfHelp = (settings = {}): ReadonlyArray<string> => {
  const options = { encoding: "utf8", env: { ...process.env, ...settings } } as const
  const help = execFileSync(process.execPath, [join(ROOT, "dist/main.js"), "--help"], options)
  return [...help.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?) {2,}\S/gm)].map(([, name = ""]) => name)
}

const foldersIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

/** The services of core whose file says so in its first line, and those that `adapters/sql` implements. */
const storagePorts = (): ReadonlyArray<string> =>
  readdirSync(join(ROOT, "core"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => {
      const text = read(`core/${name}`)
      const services = [...text.matchAll(/^export class (\w+) extends Context\.(?:Tag|Reference)\b/gm)]
      return services
        .map(([, service = ""]) => service)
        .filter((one) => text.startsWith("/** Storage port") || existsSync(join(ROOT, `adapters/sql/Sql${one}.ts`)))
    })

/** The cells of the rows of the first table of a page whose first column has this title. */
const rowsIn = (page: string, title: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, rows = ""] =
    new RegExp(`^\\| ${title} \\|.*\n\\|[ -|]*\n((?:\\|.*\n)*)`, "m").exec(pages.get(page) ?? "") ?? []
  assert.isNotEmpty(rows, `${page} has a table of "${title}"`)
  return rows
    .trimEnd()
    .split("\n")
    .map((row) =>
      row
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim())
    )
}

const codesIn = (text: string): ReadonlyArray<string> => [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)

/** Targets of relative links, outside of code blocks. */
const linksIn = (text: string): ReadonlyArray<string> =>
  [...text.replace(/^```.*?^```/gms, "").matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))

/** The file that a link leads to, relative to the root. */
const fileOf = (page: string, link: string): string => {
  const [path = ""] = link.split("#")
  return path === "" ? page : relative(ROOT, join(ROOT, dirname(page), path))
}

const isBroken = (page: string, link: string): boolean => {
  const file = fileOf(page, link)
  const [, heading] = link.split("#")
  return !existsSync(join(ROOT, file)) || (heading !== undefined && !anchorsIn(read(file)).includes(heading))
}

/** Anchors of the headings, by GitHub's rules. */
const anchorsIn = (text: string): ReadonlyArray<string> =>
  [...text.replace(/^```.*?^```/gms, "").matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-")
  )

/** Lines of the `sh` blocks. */
const linesIn = (page: string): ReadonlyArray<string> =>
  [...(pages.get(page) ?? "").matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = ""]) => block.split("\n"))

/** The groups of each match in an `sh` block. */
const usesOf = (pattern: RegExp): ReadonlyArray<ReadonlyArray<string | undefined>> =>
  [...pages.keys()].flatMap(linesIn).flatMap((line) => [...line.matchAll(pattern)].map(([, ...groups]) => groups))
