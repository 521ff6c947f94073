/** The generated client types are equal to the router's own types and need only tRPC. */
import { execFile } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect, identity } from "effect"
import { clientTypes as builtTypes } from "../../app/clientTypes.ts"
import { clientTypes } from "../../gateway/openapi/clientTypes.ts"
import { ROOT } from "../program.ts"
import { temporaryFolder } from "../stores.ts"

const TRPC_SERVER = join(ROOT, "node_modules/@trpc/server")
const BUILT = readFileSync(join(ROOT, "dist/client.d.ts"), "utf8")

describe("clientTypes", () => {
  /** One change each, with the expected difference. */
  const drifts: ReadonlyArray<readonly [from: string, to: string, found: string]> = [
    ["readonly intent: string\n        /**", "readonly intent?: string\n        /**", "input of rules.create"],
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

  it.scopedLive("writes the exact inputs, outputs and errors of every procedure; a drift does not compile", () =>
    Effect.gen(function* () {
      // With any platform id, as in the sources. The build lists the installed platforms.
      const types = clientTypes(identity)
      const drifted = drifts.map(([from, to, found], index) => {
        assert.lengthOf(types.split(from), 2, `"${from}" occurs once`)
        return { name: `drift${index}.d.ts`, text: types.replace(from, to), found }
      })
      const output = yield* compiled({
        "package.json": '{ "type": "module" }',
        "tsconfig.json": JSON.stringify({
          extends: join(ROOT, "tsconfig.json"),
          compilerOptions: { rewriteRelativeImportExtensions: false },
          // The second file augments the types of zod, which the router uses.
          files: ["same.ts", join(ROOT, "gateway/openapi/document.ts")],
          include: []
        }),
        "same.ts": `
          import type { AppRouter as Real } from "${join(ROOT, "gateway/trpc/router.ts")}"
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

  it("documents procedures, fields and types as the OpenAPI document does", () => {
    const types = builtTypes()
    assert.include(
      types,
      "/** Delete a rule. Removes the rule from its platforms and deletes its matches. */\n    delete: TRPCMutationProcedure<"
    )
    assert.include(
      types,
      "/** True if fewer matches than at_least came in time */\n        readonly timed_out: boolean"
    )
    assert.include(types, "\n/** Identifier of a platform */\nexport type PlatformId = ")
    assert.include(
      types,
      " * The maximum number of matches. The default is at_least if that is more\n         * @default 20\n"
    )
  })

  it("equals the file that the build wrote", () => {
    assert.strictEqual(BUILT, builtTypes())
  })
})

describe("the package", () => {
  const client = `
    import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink, TRPCClientError } from "@trpc/client"
    import type { inferRouterOutputs } from "@trpc/server"
    import type { AppRouter, ErrorCode, Match, PlatformId } from "earshot"
    // @ts-expect-error effect is not installed here
    import type { Effect } from "effect"

    const url = "http://127.0.0.1:8787/trpc"
    const client = createTRPCClient<AppRouter>({
      links: [
        splitLink({
          condition: ({ type }) => type === "subscription",
          true: httpSubscriptionLink({ url, connectionParams: { authorization: "" } }),
          false: httpBatchLink({ url })
        })
      ]
    })

    export const use = async () => {
      const { rule_id } = await client.rules.create.mutate({
        name: "Earthquakes",
        intent: "Learn of earthquakes",
        platforms: ["x"],
        overrides: { x: "earthquake" }
      })
      const page = await client.matches.list.query({ rule_id, limit: 5 })
      const matches: ReadonlyArray<Match> = page.matches
      const platform: PlatformId | undefined = matches[0]?.platform
      const cursor: string | undefined = page.next_cursor
      for (const match of matches) {
        const text: string | undefined = match.platform === "x" ? match.payload.data?.text : match.payload.document?.url
        // @ts-expect-error a post has text, not a number
        const wrong: number | undefined = match.platform === "x" ? match.payload.data?.text : undefined
        console.log(text, wrong, match.payload["any other field"])
      }
      const { rules }: inferRouterOutputs<AppRouter>["rules"]["list"] = await client.rules.list.query()
      client.matches.watch.subscribe({ platform: "x" }, { onData: ({ data }) => console.log(data.id, data.payload["data"]) })
      // @ts-expect-error a limit is a number
      await client.matches.list.query({ limit: "5" })
      // @ts-expect-error unknown procedure
      await client.rules.rename.mutate({ rule_id })
      // @ts-expect-error unknown field
      return [platform, cursor, rules[0]?.title]
    }

    export const codeOf = (error: unknown): ErrorCode | undefined =>
      error instanceof TRPCClientError ? (error as TRPCClientError<AppRouter>).data?.code : undefined
  `

  const strict = { strict: true, noEmit: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
  const onNode = { ...strict, target: "ES2022", module: "nodenext", types: ["node"], lib: ["ES2022", "DOM"] }
  const bundled = { ...strict, target: "ES2022", module: "esnext", moduleResolution: "bundler" }
  const inBrowsers = { ...bundled, types: ["node"], lib: ["ES2022", "DOM", "DOM.Iterable"] }
  const typesOnly = { ...bundled, types: [], lib: ["ES2022", "ESNext.Disposable", "DOM"] }

  // Required by tRPC's declarations.
  const ws = { "ws.d.ts": blockOf("docs/typescript.md", 'declare module "ws"') }
  const packages = ["@trpc/client", "@types/node", "undici-types"]

  compiles("a client on Node and the example of docs/typescript.md", {
    options: onNode,
    packages: [...packages, "eventsource", "eventsource-parser"],
    files: {
      ...ws,
      "client.ts": client,
      "main.ts": blockOf("docs/typescript.md", 'import type { AppRouter } from "earshot"')
    }
  })
  compiles("a client bundled for browsers", {
    options: inBrowsers,
    packages,
    files: { ...ws, "client.ts": client }
  })
  compiles("a program that uses only the types", {
    options: typesOnly,
    packages: [],
    files: {
      "main.ts": `
        import type { AppRouter, Rule } from "earshot"
        import type { inferRouterInputs } from "@trpc/server"
        export const nameOf = ({ name }: Rule): string => name
        export const query: inferRouterInputs<AppRouter>["matches"]["wait"] = { timeout_seconds: 5 }
      `
    }
  })

  compiles("a client of a newer tRPC, whose routers have one more setting", {
    options: onNode,
    packages,
    files: { ...ws, "client.ts": client },
    newerServer: ["isDev: boolean;", "isDev: boolean; pathSeparator: '.' | '_' | '~' | '-';"]
  })

  it("fails at run time, because it exports types only", async () => {
    const name = "earshot"
    const error = await import(name).then(
      () => assert.fail("The import succeeded"),
      (failure: Error) => failure
    )
    assert.match(error.message, /exports only types: use import type/)
  })
})

// ---- helpers ----

function compiles(
  name: string,
  {
    options,
    packages,
    files,
    newerServer
  }: {
    options: object
    packages: ReadonlyArray<string>
    files: Readonly<Record<string, string>>
    /** A change of tRPC's declarations for the client. Those of Earshot stay as installed. */
    newerServer?: readonly [from: string, to: string]
  }
) {
  it.scopedLive(`has types that compile in ${name}, without effect and without skipLibCheck`, () =>
    Effect.gen(function* () {
      const output = yield* compiled({
        "package.json": '{ "type": "module" }',
        "tsconfig.json": JSON.stringify({
          // Resolves only the linked packages.
          compilerOptions: { ...options, preserveSymlinks: true },
          files: Object.keys(files)
        }),
        ...files,
        "node_modules/earshot/package.json": readFileSync(join(ROOT, "package.json"), "utf8"),
        "node_modules/earshot/dist/client.d.ts": BUILT,
        ...(newerServer === undefined
          ? { "node_modules/@trpc/server": { link: TRPC_SERVER } }
          : {
              "node_modules/earshot/node_modules/@trpc/server": { link: TRPC_SERVER },
              ...changedDeclarations(...newerServer)
            }),
        ...Object.fromEntries(
          packages.map((name) => [`node_modules/${name}`, { link: join(ROOT, "node_modules", name) }])
        )
      })
      assert.strictEqual(output, "")
    })
  )
}

/** A copy of the declarations of `@trpc/server` with a change. */
function changedDeclarations(from: string, to: string): Readonly<Record<string, string>> {
  const names = readdirSync(join(TRPC_SERVER, "dist"), { recursive: true, encoding: "utf8" })
  const texts = names
    .filter((name) => name.endsWith(".d.mts"))
    .map((name) => [`dist/${name}`, readFileSync(join(TRPC_SERVER, "dist", name), "utf8")] as const)
  assert.isTrue(
    texts.some(([, text]) => text.includes(from)),
    `tRPC declares ${from}`
  )
  return Object.fromEntries(
    [["package.json", readFileSync(join(TRPC_SERVER, "package.json"), "utf8")] as const, ...texts].map(
      ([name, text]) => [`node_modules/@trpc/server/${name}`, text.replace(from, to)]
    )
  )
}

/** The code block that contains the text. */
function blockOf(path: string, text: string): string {
  const blocks = readFileSync(join(ROOT, path), "utf8").matchAll(/^```ts\n(.*?)^```/gms)
  const block = [...blocks].map(([, code = ""]) => code).find((code) => code.includes(text))
  assert.isDefined(block, `${path} has a code block with ${text}`)
  return block ?? ""
}

/** The compiler's output for a project with these files; empty on success. */
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
