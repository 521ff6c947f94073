/** Generates docs/settings.md and the --allow-env list in deno.json from the table in app/settings.ts. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { settings } from "../app/settings.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))

/** The files with the content that they should have. */
export const settingsFiles = (): ReadonlyArray<{ readonly path: string; readonly text: string }> => [
  { path: join(ROOT, "docs", "settings.md"), text: page },
  { path: DENO, text: readFileSync(DENO, "utf8").replace(/--allow-env=\S+/, `--allow-env=${allowed.join(",")}`) }
]

// ---- helpers ----

const DENO = join(ROOT, "deno.json")

/** Variables that the packages read. */
const PACKAGES_READ = ["PG*", "USER", "NODE_PG_FORCE_NATIVE", "NODE_ENV", "NO_DEPRECATION", "TRACE_DEPRECATION"]

const allowed = [...settings.filter(({ group }) => group !== "client").map(({ name }) => name), ...PACKAGES_READ]

const titles: Readonly<Record<(typeof settings)[number]["group"], string>> = {
  service: "Service",
  store: "Store",
  output: "Output, for every command",
  client: "Client commands"
}

const page = `# Settings

Settings are environment variables. An empty value counts as not set.

<!-- Written by "npm run settings" from the table in app/settings.ts: change the table. -->
${Object.entries(titles).map(section).join("")}`

function section([group, title]: [string, string]): string {
  const rows = settings
    .filter((setting) => setting.group === group)
    .map(({ name, default: shown, description }) => `| \`${name}\` | ${shownDefault(shown)} | ${description} |\n`)
  return `\n## ${title}\n\n| Name | Default | Description |\n| --- | --- | --- |\n${rows.join("")}`
}

/** A default that is not a value, such as "none", is plain text. */
function shownDefault(text: string): string {
  return text === "none" || text.includes(" ") ? text : `\`${text}\``
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, text } of settingsFiles()) writeFileSync(path, text)
}
