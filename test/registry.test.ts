/** `server.json`, the entry in the MCP registry: it agrees with the package, the program and its settings. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { VERSION } from "../app/version.ts"
import { ROOT } from "./program.ts"

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"))

describe("server.json", () => {
  const server = read("server.json")
  const [npm, ...others] = server.packages

  it("has the name and version of the package, and fits the registry", () => {
    const { name, version, mcpName, bin } = read("package.json")
    assert.match(server.$schema, /\/schemas\/2025-12-11\/server\.schema\.json$/)
    assert.deepStrictEqual(others, [])
    assert.strictEqual(server.name, mcpName)
    assert.match(mcpName, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    assert.deepStrictEqual([server.version, npm.version], [version, version])
    assert.strictEqual(version, VERSION)
    assert.deepStrictEqual([npm.registryType, npm.identifier, npm.transport], ["npm", name, { type: "stdio" }])
    assert.deepStrictEqual(Object.keys(bin), [name], "npx runs the command of the package")
    assert.isAtMost(server.description.length, 100)
  })

  it("starts the command that docs/agents.md describes, with settings that exist", () => {
    const agents = readFileSync(join(ROOT, "docs/agents.md"), "utf8")
    assert.deepStrictEqual(npm.packageArguments, [{ type: "positional", value: "mcp" }])
    for (const { name } of npm.environmentVariables) assert.include(agents, `"${name}"`)
  })
})
