/** Checks sources against the import rules: what each folder may import, and what only `app/` may do. */

export interface Source {
  /** Relative to the repository root, with slashes: `core/rules/Rules.ts`. */
  readonly path: string
  readonly text: string
}

export interface Violation {
  readonly path: string
  readonly message: string
}

export const violationsOf = (sources: ReadonlyArray<Source>): ReadonlyArray<Violation> =>
  sources.flatMap((source) =>
    [...importViolations(source), ...appOnlyViolations(source), ...nameViolations(source)].map((message) => ({
      path: source.path,
      message
    }))
  )

/** The imports of a source: static, `export from`, dynamic and in types. */
export const importsOf = (text: string): ReadonlyArray<string> => {
  const code = withoutComments(text)
  const forms = [
    /(?:^|[;\n}])\s*import\s+(?:type\s+)?(?:[\w*\s{},$]+?\s+from\s*)?["']([^"']+)["']/g,
    /(?:^|[;\n}])\s*export\s+(?:type\s+)?[\w*\s{},$]+?\s+from\s*["']([^"']+)["']/g,
    /\bimport\s*\(\s*["'`]([^"'`]+)["'`]/g,
    /\b(?:require|import\.meta\.resolve)\s*\(\s*["'`]([^"'`]+)["'`]/g
  ]
  return [...new Set(forms.flatMap((form) => [...code.matchAll(form)].map((match) => match[1] ?? "")))]
}

/** The top-level folder. */
export const areaOf = (path: string): string => path.slice(0, path.indexOf("/"))

// ---- helpers ----

type Area = "core" | "api" | "gateway" | "adapters" | "cli" | "simulator" | "console"

/** Packages that each folder may use. A final slash or colon allows everything with that prefix. */
const allowedPackages: Readonly<Record<Area, ReadonlyArray<string>>> = {
  core: ["effect"],
  api: ["effect"],
  gateway: [
    "effect",
    "@trpc/server",
    "@trpc/server/",
    "trpc-to-openapi",
    "zod",
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/server/"
  ],
  adapters: [
    "effect",
    "@effect/platform/",
    "@effect/experimental/",
    "@effect/cluster/",
    "@effect/sql",
    "@effect/sql/",
    "@effect/sql-pg",
    "@effect/sql-pg/",
    "@electric-sql/pglite",
    "@electric-sql/pglite/",
    "@hono/node-server",
    "@hono/node-server/",
    "pg",
    "feedsmith",
    "uuid",
    "ws",
    "node:"
  ],
  cli: ["effect", "@effect/cli", "@effect/cli/"],
  simulator: ["effect", "ws", "node:"],
  console: [
    "preact",
    "preact/",
    "wouter-preact",
    "wouter-preact/",
    "@tanstack/react-query",
    "@tanstack/react-virtual",
    "@trpc/client",
    "@trpc/server",
    "@trpc/tanstack-react-query",
    "eventsource",
    "uplot",
    "@codemirror/"
  ]
}

/** Adapters that may import another adapter. */
const allowedAdapters: Readonly<Record<string, ReadonlyArray<string>>> = {
  local: ["demo"],
  sql: ["runtimes"],
  x: ["http", "demo"],
  firehose: ["http", "demo"],
  bluesky: ["http", "local", "demo"],
  runtimes: ["http"],
  wikimedia: ["http", "demo", "local"],
  feeds: ["http", "demo", "local"],
  telemetry: ["http"],
  remote: ["http"],
  webhooks: ["http"]
}

/** Files outside of `app/` that may run effects as promises, for web handlers, tRPC and MCP. */
const promiseBoundary = [
  "gateway/http/handler.ts",
  "gateway/operations/pages.ts",
  "gateway/http/puller.ts",
  "gateway/trpc/errors.ts",
  "gateway/mcp/server.ts",
  "gateway/mcp/stdio.ts"
]

/** Storage ports and other parts of core that only use cases may call. */
const belowUseCases = /^core\/.*(?:Store|\/Registrations|\/RuleChanges|\/EventLog|\/RecentEvents)\.ts$/

const isArea = (name: string): name is Area => name in allowedPackages

const importViolations = ({ path, text }: Source): ReadonlyArray<string> => {
  const area = areaOf(path)
  if (!isArea(area)) return []
  return importsOf(text).flatMap((name) => {
    const problem = name.startsWith(".")
      ? ownImportProblem(path, area, resolve(path, name))
      : packageProblem(area, name)
    return problem === undefined ? [] : [problem]
  })
}

const packageProblem = (area: Area, name: string): string | undefined =>
  allowedPackages[area].some((allowed) => name === allowed || (/[/:]$/.test(allowed) && name.startsWith(allowed)))
    ? undefined
    : `${area} may not import the package "${name}"`

const ownImportProblem = (path: string, area: Area, imported: string): string | undefined => {
  if (!/\.(?:tsx?|json)$/.test(imported)) return `"${imported}" is imported without .ts`
  const to = areaOf(imported)
  if (area === "console" && to !== area) return consoleProblem(imported)
  if (area === "simulator" && /^adapters\/(?:local|demo)\//.test(imported)) return undefined
  if (to === "api" && (area === "gateway" || area === "cli" || path.startsWith("adapters/remote/"))) return undefined
  if (to !== "core" && to !== area) return `${area} may not import "${imported}"`
  if ((area === "api" || area === "gateway" || area === "cli") && belowUseCases.test(imported)) {
    return `${area} may call use cases only, and not import "${imported}"`
  }
  if (area !== "adapters" || to !== "adapters") return undefined
  const [from, other] = [path.split("/")[1] ?? "", imported.split("/")[1] ?? ""]
  return from === other || allowedAdapters[from]?.includes(other)
    ? undefined
    : `adapters/${from} may not import adapters/${other}`
}

/** The console knows the service by the type of its router, and the languages by their code. */
const consoleProblem = (imported: string): string | undefined =>
  imported === "gateway/trpc/router.ts" || /^core\/(?:syntax|languages|text)\//.test(imported)
    ? undefined
    : `console may not import "${imported}"`

const appOnlyViolations = ({ path, text }: Source): ReadonlyArray<string> => {
  if (!isArea(areaOf(path))) return []
  const code = withoutComments(text)
  const patterns: ReadonlyArray<readonly [RegExp, string]> = [
    [/\bConfig\.\w/, "only app/ reads Config"],
    [/\bConfigProvider\b/, "only app/ reads Config"],
    [/\bprocess\.env\b|\bDeno\.env\b|\bimport\.meta\.env\b/, "only app/ reads the environment"],
    [/\bEffect\.run[A-Z]\w*/, "only app/ runs an effect"],
    [/\bManagedRuntime\b/, "only app/ runs an effect"],
    ...(promiseBoundary.includes(path) ? [] : [[/\bRuntime\.run[A-Z]\w*/, "only app/ runs an effect"] as const])
  ]
  return patterns.flatMap(([pattern, message]) => (pattern.test(code) ? [message] : []))
}

const nameViolations = ({ path }: Source): ReadonlyArray<string> =>
  path
    .split("/")
    .filter((part) => /^(index|mod|utils?|helpers?|common|shared|misc)(\.|$)/i.test(part))
    .map((part) => `The name "${part}" does not describe its content`)

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[\s;{}(,])\/\/[^\n]*/g, "$1")

/** `../core/model/Ids.ts` in `gateway/auth.ts` is `core/model/Ids.ts`. */
const resolve = (from: string, relative: string): string => {
  const parts = from.split("/").slice(0, -1)
  for (const part of relative.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  return parts.join("/")
}
