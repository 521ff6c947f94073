/** The types that a client compiles with: the same as the router's own, and in need of nothing but tRPC. */
import { execFile } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { clientTypes } from "../../gateway/clientTypes.ts"
import { ROOT } from "../program.ts"
import { temporaryFolder } from "../stores.ts"

describe("clientTypes", () => {
  /** One change each, and what is to be found of it. */
  const drifts: ReadonlyArray<readonly [from: string, to: string, found: string]> = [
    [
      "readonly intent: string\n        /** Where",
      "readonly intent?: string\n        /** Where",
      "input of rules.create"
    ],
    [
      "readonly created_at: string\n  readonly platform:",
      "created_at: string\n  readonly platform:",
      "output of matches.list"
    ],
    ["readonly timed_out: boolean", "readonly timed_out: unknown", "output of matches.wait"],
    ["syntax: TRPCQueryProcedure", "syntax: TRPCMutationProcedure", "type of platforms.syntax"],
    ["rotateSecret:", "rotate:", "webhooks.rotateSecret"],
    ['"unavailable" | ', "", "errors"],
    ["transformer: false", "transformer: true", "transformer"]
  ]

  it.scopedLive("gives the inputs, outputs and errors of every procedure exactly, and a drift does not compile", () =>
    Effect.gen(function* () {
      const types = clientTypes()
      const drifted = drifts.map(([from, to, found], index) => {
        assert.lengthOf(types.split(from), 2, `"${from}" is there once`)
        return { name: `drift${index}.d.ts`, text: types.replace(from, to), found }
      })
      const output = yield* compiled({
        "package.json": '{ "type": "module" }',
        "tsconfig.json": JSON.stringify({
          extends: join(ROOT, "tsconfig.json"),
          compilerOptions: { rewriteRelativeImportExtensions: false },
          // The second completes the types of zod, which the router is made with.
          files: ["same.ts", join(ROOT, "gateway/openapi.ts")],
          include: []
        }),
        "same.ts": `
          import type { AppRouter as Real } from "${join(ROOT, "gateway/trpc.ts")}"
          import type { Differences } from "${join(ROOT, "test/gateway/routerTypes.ts")}"
          import type { AppRouter } from "./client.d.ts"
          ${drifted.map(({ name }, index) => `import type { AppRouter as Drift${index} } from "./${name}"`).join("\n")}
          declare const differences: Differences<Real, AppRouter>
          export const none: never = differences
          ${drifted
            .map(({ found }, index) => `export const found${index}: Differences<Real, Drift${index}> = "${found}"`)
            .join("\n")}
        `,
        "client.d.ts": types,
        ...Object.fromEntries(drifted.map(({ name, text }) => [name, text])),
        node_modules: { link: join(ROOT, "node_modules") }
      })
      assert.strictEqual(output, "")
    })
  )

  it("says of procedures, fields and types what the API's documentation says", () => {
    const types = clientTypes()
    assert.include(
      types,
      "/** List the rules. All rules of the account, newest first. */\n    list: TRPCQueryProcedure<"
    )
    assert.include(types, "/** True when no match came in time */\n        readonly timed_out: boolean")
    assert.include(types, "\n/** Identifier of a platform */\nexport type PlatformId = ")
    assert.include(types, " * How many matches to give at most\n         * @default 20\n")
  })
})

// ---- helpers ----

/** What the compiler says of a project with these files; nothing when all is well. */
const compiled = (files: Readonly<Record<string, string | { readonly link: string }>>) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    for (const [path, content] of Object.entries(files)) {
      const target = join(folder, path)
      mkdirSync(dirname(target), { recursive: true })
      if (typeof content === "string") writeFileSync(target, content)
      else symlinkSync(content.link, target)
    }
    const tsc = join(ROOT, "node_modules/.bin/tsc")
    return yield* Effect.promise(() =>
      promisify(execFile)(tsc, ["--project", folder]).then(
        ({ stdout }) => stdout,
        (failure: Error & { readonly stdout: string }) => failure.stdout || String(failure)
      )
    )
  })
