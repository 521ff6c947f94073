/** Builds the benchmarks that are asked for, and runs them one after the other. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { rmSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { build } from "esbuild"

/** Each with the processes that it starts, which are built beside it. */
const BENCHMARKS = {
  engine: ["runner"],
  gateway: ["server"],
  ingest: [],
  push: ["server", "clients"],
  syntax: []
}

/** What is built and run in the same way, but gives no figures. It takes arguments of its own. */
const TOOLS = ["engine/churn", "engine/fuzz", "syntax/fuzz"]

const HELP = `node bench/run.mjs [benchmark ...]

Builds the benchmarks, runs them one after the other, and judges their floors. Without a name all of them:
  engine    the matching engine beside its peers: an hour and more
  gateway   CPU per request beside node:http, Fastify and trpc-to-openapi, on Node and Deno
  ingest    durable matches per second beside the bare ways of writing, latency, and listing
  push      event streams beside a bare broadcaster on node:http
  syntax    reading rules beside the Lucene parsers of npm

  --quick   engine: up to 10,000 rules, about two minutes; the floors are for more and are not judged
  --large   ingest: lists 10,000,000 matches too: some minutes and 25 GB in the folder for temporary files
  --help    this text

Ends with 1 when a floor that was measured is missed, or a benchmark fails.`

const ROOT = fileURLToPath(new URL("..", import.meta.url))

let running
// An interruption at the terminal reaches the benchmark too, this does not.
process.once("SIGTERM", () => {
  running?.kill()
  process.exit(1)
})

const [first, ...rest] = process.argv.slice(2)
if (TOOLS.includes(first)) process.exitCode = await run(first, rest)
else await main()

// ---- helpers ----

async function main() {
  const asked = readArguments()
  if (asked === undefined) return
  for (const name of asked.names) {
    console.log(`\n# ${name}\n`)
    if ((await run(`${name}/bench`, asked.flags)) !== 0) process.exitCode = 1
  }
}

/** Nothing when there is nothing to run. */
function readArguments() {
  const flag = { type: "boolean" }
  const known = Object.keys(BENCHMARKS)
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { help: flag, quick: flag, large: flag }
    })
    const unknown = positionals.filter((name) => !known.includes(name))
    if (unknown.length > 0) throw new Error(`No benchmark "${unknown.join('", "')}"`)
    if (values.help) return void console.log(HELP)
    const names = positionals.length > 0 ? positionals : known
    return { names, flags: Object.keys(values).map((name) => `--${name}`) }
  } catch (error) {
    console.error(`${error.message.split(". ")[0]}\nKnown are ${[...known, ...TOOLS].join(", ")}; --help says more`)
    process.exitCode = 1
  }
}

/** Gives the code with which the program ended. */
async function run(program, args) {
  const [folder, name] = program.split("/")
  const built = `${ROOT}.bench/${folder}`
  rmSync(built, { recursive: true, force: true })
  await build({
    absWorkingDir: ROOT,
    entryPoints: [name, ...(name === "bench" ? BENCHMARKS[folder] : [])].map((part) => `bench/${folder}/${part}.ts`),
    // All in one folder: a process that it starts lies beside whatever starts it.
    outdir: built,
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning"
  })
  running = fork(`${built}/${name}.js`, args, { cwd: ROOT, execArgv: ["--expose-gc"] })
  const [code] = await once(running, "exit")
  return code ?? 1
}
