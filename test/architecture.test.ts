/** The sources follow the import rules, and the check finds violations. */
import { readdirSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { areaOf, importsOf, type Source, violationsOf } from "./imports.ts"
import { ROOT } from "./program.ts"

const folders = ["core", "api", "gateway", "adapters", "cli", "simulator", "console"]

describe("the import rules", () => {
  it("hold for every source", () => {
    const sources = folders.flatMap(sourcesIn)
    assert.isAbove(sources.length, 30, "finds the sources")
    assert.deepStrictEqual(violationsOf(sources), [])
  })

  it("have no exception at the root other than main.ts", () => {
    const outside = readdirSync(ROOT).filter((name) => name.endsWith(".ts") && name !== "vitest.config.ts")
    assert.deepStrictEqual(outside, ["main.ts"])
  })

  it("keep tests and benchmarks apart: what both use is in fixtures", () => {
    const crossing = ["test", "bench", "fixtures"].flatMap(sourcesIn).flatMap(({ path, text }) =>
      importsOf(text)
        .filter((name) => name.startsWith("."))
        .map((name) => posix.join(posix.dirname(path), name))
        .filter((imported) => /^(?:test|bench)\//.test(imported) && areaOf(imported) !== areaOf(path))
        .map((imported) => `${path} imports ${imported}`)
    )
    assert.deepStrictEqual(crossing, [])
  })

  it("forbid meaningless file names, also in tests and benchmarks", () => {
    const sources = ["test", "bench", "fixtures", ...folders].flatMap(sourcesIn)
    assert.deepStrictEqual(
      violationsOf(sources).filter(({ message }) => message.includes("does not describe")),
      []
    )
  })
})

describe("violationsOf", () => {
  const forbidden: ReadonlyArray<readonly [path: string, text: string, message: RegExp]> = [
    ["core/A.ts", 'import { z } from "zod"', /core may not import the package "zod"/],
    ["core/A.ts", 'import type { z } from "zod"', /"zod"/],
    ["core/A.ts", 'import { type A,\n  B\n} from "zod"', /"zod"/],
    ["core/A.ts", 'import * as z from "zod"', /"zod"/],
    ["core/A.ts", 'import "zod"', /"zod"/],
    ["core/A.ts", 'export { z } from "zod"', /"zod"/],
    ["core/A.ts", 'export * from "zod"', /"zod"/],
    ["core/A.ts", 'export type { z } from "zod"', /"zod"/],
    ["core/A.ts", 'const load = () => import("zod")', /"zod"/],
    ["core/A.ts", 'type Z = import("zod").ZodType', /"zod"/],
    ["core/A.ts", 'import { readFile } from "node:fs/promises"', /"node:fs\/promises"/],
    ["core/A.ts", 'import { HttpClient } from "@effect/platform"', /"@effect\/platform"/],
    ["core/A.ts", 'import { Schema } from "effect/Schema"', /"effect\/Schema"/],
    ["core/A.ts", 'import { b } from "../gateway/b.ts"', /core may not import "gateway\/b.ts"/],
    ["core/A.ts", 'import { main } from "../main.ts"', /core may not import/],
    ["cli/a.ts", 'import { serve } from "../app/serve.ts"', /cli may not import/],
    ["core/deep/A.ts", 'import { b } from "../../adapters/x/b.ts"', /core may not import/],
    ["core/A.ts", 'import { b } from "./b.js"', /without \.ts/],
    ["gateway/a.ts", 'import { b } from "../adapters/local/b.ts"', /gateway may not import/],
    ["gateway/a.ts", 'import { b } from "../cli/b.ts"', /gateway may not import/],
    ["gateway/a.ts", 'import pg from "pg"', /"pg"/],
    ["gateway/a.ts", 'import type { RuleStore } from "../core/rules/RuleStore.ts"', /use cases only/],
    ["gateway/mcp/a.ts", 'import { Registrations } from "../../core/rules/Registrations.ts"', /use cases only/],
    ["cli/a.ts", 'import { StreamStore } from "../core/coverage/StreamStore.ts"', /use cases only/],
    ["cli/a.ts", 'import { EventLog } from "../core/backtests/EventLog.ts"', /use cases only/],
    ["cli/a.ts", 'import { RecentEvents } from "../core/backtests/RecentEvents.ts"', /use cases only/],
    ["cli/a.ts", 'import { b } from "../gateway/b.ts"', /cli may not import/],
    ["api/a.ts", 'import { b } from "../gateway/b.ts"', /api may not import/],
    ["api/a.ts", 'import { z } from "zod"', /"zod"/],
    ["core/A.ts", 'import { b } from "../api/b.ts"', /core may not import/],
    ["adapters/x/a.ts", 'import { b } from "../../api/b.ts"', /adapters may not import/],
    ["console/a.tsx", 'import { b } from "../core/rules/Rules.ts"', /console may not import/],
    ["console/a.tsx", 'import { b } from "../gateway/http/rest.ts"', /console may not import/],
    ["gateway/a.ts", 'import { b } from "../console/b.ts"', /gateway may not import/],
    ["cli/a.ts", 'import process from "node:process"', /"node:process"/],
    ["adapters/x/a.ts", 'import { b } from "../../gateway/b.ts"', /adapters may not import/],
    ["adapters/x/a.ts", 'import { b } from "../local/b.ts"', /adapters\/x may not import adapters\/local/],
    ["adapters/local/a.ts", 'import { b } from "../../simulator/b.ts"', /adapters may not import/],
    ["simulator/a.ts", 'import { b } from "../adapters/x/b.ts"', /simulator may not import/],
    ["adapters/x/a.ts", 'import { z } from "zod"', /"zod"/],
    ["adapters/x/a.ts", 'const port = Config.port("PORT")', /only app\/ reads Config/],
    ["adapters/x/a.ts", 'const port = process.env["PORT"]', /only app\/ reads the environment/],
    ["core/A.ts", "Effect.runSync(effect)", /only app\/ runs an effect/],
    ["gateway/auth.ts", "Runtime.runPromiseExit(runtime)(effect)", /only app\/ runs an effect/],
    ["gateway/http/handler.ts", "Effect.runPromise(effect)", /only app\/ runs an effect/],
    ["gateway/a.ts", "const runtime = ManagedRuntime.make(layer)", /only app\/ runs an effect/],
    ["core/index.ts", "", /does not describe/],
    ["core/utils/a.ts", "", /does not describe/],
    ["adapters/x/helpers.ts", "", /does not describe/],
    ["gateway/common.ts", "", /does not describe/],
    ["gateway/shared/a.ts", "", /does not describe/]
  ]
  for (const [path, text, message] of forbidden) {
    it(`finds ${JSON.stringify(text)} in ${path}`, () => {
      const [violation, ...others] = violationsOf([{ path, text }])
      assert.match(violation?.message ?? "no violation", message)
      assert.deepStrictEqual(others, [])
    })
  }

  const allowed: ReadonlyArray<readonly [path: string, text: string]> = [
    ["core/A.ts", 'import { Effect } from "effect"\nimport { B } from "./B.ts"'],
    ["core/A.ts", '/** Not import { z } from "zod". */\n// import "zod"'],
    ["gateway/a.ts", 'import { initTRPC } from "@trpc/server"\nimport { Rules } from "../core/rules/Rules.ts"'],
    ["gateway/a.ts", 'import { Platforms } from "../core/platforms/Platform.ts"'],
    ["cli/a.ts", 'import { DeadLetters } from "../core/ingest/DeadLetters.ts"'],
    ["cli/a.ts", 'import { rules } from "../api/rules.ts"'],
    ["adapters/sql/a.ts", 'import { RuleStore } from "../../core/rules/RuleStore.ts"'],
    ["gateway/http/handler.ts", "Runtime.runPromiseExit(runtime)(effect)"],
    ["simulator/a.ts", 'import { b } from "../adapters/local/b.ts"'],
    ["adapters/x/a.ts", 'import { b } from "./b.ts"\nimport { createHash } from "node:crypto"'],
    ["app/serve.ts", 'import { z } from "zod"\nEffect.runFork(program)\nConfig.port("PORT")'],
    ["core/indexing.ts", ""]
  ]
  for (const [path, text] of allowed) {
    it(`allows ${JSON.stringify(text)} in ${path}`, () => {
      assert.deepStrictEqual(violationsOf([{ path, text }]), [])
    })
  }
})

describe("importsOf", () => {
  it("finds every form of import", () => {
    const text = `/** Doc. */
import "a"
import b, { type B } from "b"
import type { C } from 'c'
import * as d from "d"
export { e } from "e"
export * as f from "f"
const text = "import nothing from here"
const g = await import("g")
type H = typeof import("h")`
    assert.deepStrictEqual(importsOf(text).toSorted(), ["a", "b", "c", "d", "e", "f", "g", "h"])
  })
})

// ---- helpers ----

const sourcesIn = (folder: string): ReadonlyArray<Source> => {
  try {
    return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
      .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }))
  } catch (error) {
    if (folder === "bench" && error instanceof Error && "code" in error && error.code === "ENOENT") return []
    throw error
  }
}
