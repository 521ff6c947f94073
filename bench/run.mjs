/** Builds and runs the benchmarks, checks their targets, and compares with the last release. */
import { execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { build } from "esbuild"

/** Each with the scripts of its child processes, which are built with it. */
const BENCHMARKS = {
  console: [],
  engine: ["runner"],
  gateway: ["server"],
  ingest: [],
  isolation: ["probe", "flood"],
  push: ["server", "clients"],
  servers: [],
  start: [],
  syntax: []
}

/** Built and run the same way, with their own arguments and without figures. */
const TOOLS = ["engine/churn", "engine/worst", "syntax/fuzz", "syntax/worst"]

const HELP = `node bench/run.mjs [benchmark ...] [option ...]

Builds and runs the benchmarks one after the other, checks their targets, and compares their figures with those of
the last release in bench/results.md. Runs all of them if none is named:
  console   the sizes of the web console, as they travel
  engine    the matching engine and its peers: more than an hour
  gateway   CPU per request compared with Fastify, on Postgres and on PGlite
  ingest    durable matches per second compared with bare ways of writing, latency, and listing
  isolation what one account can do to others: delays under attack, memory and floods, on both stores
  push      event streams compared with a bare broadcaster on node:http
  servers   two servers on one Postgres compared with one: events accepted and matches delivered
  start     CPU, memory and disk of a start, compared with node -e 0
  syntax    CPU of parsing and checking a filter

  --smoke   run everything once, a few seconds each, to show that it works; targets are not checked
  --quick   engine: up to 10,000 rules, about two minutes; targets are for more rules and are not checked
  --large   ingest: also list 10,000,000 matches: takes minutes and 25 GB in the temporary folder
  --save    write the figures to bench/results.md, for a release
  --help    show this text

Exits with 1 if a target is missed or a benchmark fails.`

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const RESULTS = `${ROOT}bench/results.md`

/** Changes for the worse from this percentage on are shown in capitals. */
const NOTABLE = 10

/** Bundles Effect but no other package: loading its many files dominates the start of a process. */
const bundleOnlyEffect = {
  name: "bundle only Effect",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || /^(@effect\/|effect(\/|$))/.test(path) ? undefined : { path, external: true }
    )
}

let running
// The terminal sends SIGINT to the benchmark too, but not SIGTERM.
process.once("SIGTERM", () => {
  running?.kill()
  process.exit(1)
})

const [first, ...rest] = process.argv.slice(2)
if (TOOLS.includes(first)) process.exitCode = (await run(first, rest)).code
else await main()

// ---- helpers ----

async function main() {
  const asked = readArguments()
  if (asked === undefined) return
  const { names, smoke, save, flags } = asked
  // Some benchmarks start the program, and the embedded store needs the image from the build.
  execFileSync(process.execPath, [`${ROOT}scripts/build.mjs`, "--if-needed"], { stdio: "inherit" })
  const figures = []
  const failures = []
  for (const name of names) {
    console.log(`\n# ${name}\n`)
    const ended = await run(`${name}/bench`, flags)
    const unclear = ended.figures.filter(({ value }) => !Number.isFinite(value))
    if (ended.code !== 0) failures.push(`Benchmark "${name}" failed`)
    else if (ended.figures.length === 0) failures.push(`Benchmark "${name}" reported no figures`)
    for (const figure of unclear) failures.push(`Benchmark "${name}" has no number for "${figure.name}"`)
    figures.push(...ended.figures.map((figure) => ({ benchmark: name, ...figure })))
  }

  console.log("\n# summary\n")
  if (smoke) {
    console.log(tableOf(["benchmark", "figure", "value", "unit"], figures.map(cellsOf)))
    console.log("\nSmoke run: the figures are not meaningful, and targets are not checked")
  } else {
    console.log(comparisonOf(figures, names))
    const missed = figures.filter(isMissed)
    for (const { benchmark, name } of missed) failures.push(`Benchmark "${benchmark}" missed the target of "${name}"`)
  }
  for (const failure of failures) console.log(failure)
  if (save) saveResults(figures.filter(({ value }) => Number.isFinite(value)))
  process.exitCode = failures.length === 0 ? 0 : 1
}

/** Undefined if there is nothing to run. */
function readArguments() {
  const flag = { type: "boolean", default: false }
  const known = Object.keys(BENCHMARKS)
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { smoke: flag, quick: flag, large: flag, save: flag, help: flag }
    })
    const unknown = positionals.filter((name) => !known.includes(name))
    if (unknown.length > 0) throw new Error(`Unknown benchmark "${unknown.join('", "')}"`)
    if (values.smoke && values.save) throw new Error("Cannot save the figures of a smoke run")
    if (values.help) return void console.log(HELP)
    const names = positionals.length > 0 ? positionals : known
    const flags = ["smoke", "quick", "large"].filter((name) => values[name]).map((name) => `--${name}`)
    return { names, flags, smoke: values.smoke, save: values.save }
  } catch (error) {
    console.error(`${error.message.split(". ")[0]}\nKnown: ${[...known, ...TOOLS].join(", ")}. See --help`)
    process.exitCode = 1
  }
}

/** Returns the exit code and the reported figures: see figures.ts. */
async function run(program, args) {
  const [folder, name] = program.split("/")
  const built = `${ROOT}.bench/${folder}`
  rmSync(built, { recursive: true, force: true })
  await build({
    absWorkingDir: ROOT,
    entryPoints: [name, ...(name === "bench" ? BENCHMARKS[folder] : [])].map((part) => `bench/${folder}/${part}.ts`),
    // In one folder, because benchmarks look for their child scripts beside themselves.
    outdir: built,
    bundle: true,
    splitting: true,
    plugins: [bundleOnlyEffect],
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning"
  })
  let figures = []
  running = fork(`${built}/${name}.js`, args, { cwd: ROOT, execArgv: ["--expose-gc"], serialization: "advanced" })
  running.on("message", (reported) => {
    figures = reported
  })
  const [code] = await once(running, "close")
  return { code: code ?? 1, figures }
}

function comparisonOf(figures, names) {
  const last = readResults().filter(({ benchmark }) => names.includes(benchmark))
  const measured = figures.map((figure) => {
    const before = last.find(isSame(figure))
    return [
      ...cellsOf(figure),
      spreadOf(figure),
      before ? format(before.value) : "",
      changeOf(figure, before),
      ...targetOf(figure)
    ]
  })
  const others = last
    .filter((figure) => !figures.some(isSame(figure)))
    .map((figure) => [figure.benchmark, figure.name, "", figure.unit, "", format(figure.value), "not measured", "", ""])
  const headings = ["benchmark", "figure", "value", "unit", "lowest–highest", "last release", "change", "target", ""]
  return tableOf(headings, [...measured, ...others])
}

function isSame({ benchmark, name }) {
  return (other) => other.benchmark === benchmark && other.name === name
}

function changeOf({ value, better }, before) {
  if (before === undefined) return "new"
  const gain = (better === "higher" ? value / before.value - 1 : 1 - value / before.value) * 100
  const percent = `${Math.abs(gain).toFixed(0)} %`
  if (percent === "0 %") return "the same"
  return gain > 0 ? `${percent} better` : `${percent} ${gain > -NOTABLE ? "worse" : "WORSE"}`
}

function targetOf(figure) {
  if (figure.target === undefined) return ["", ""]
  return [
    `${figure.better === "higher" ? "at least" : "at most"} ${figure.target}`,
    isMissed(figure) ? "MISSED" : "met"
  ]
}

function spreadOf({ spread }) {
  return spread === undefined ? "" : spread.map(format).join("–")
}

function isMissed({ value, better, target }) {
  return target !== undefined && !(better === "higher" ? value >= target : value <= target)
}

function readResults() {
  return readFileSync(RESULTS, "utf8")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === 8 && Number.isFinite(Number.parseFloat(cells[3])))
    .map(([, benchmark, name, value, unit, better, target]) => ({
      benchmark,
      name,
      value: Number(value),
      unit,
      better,
      target: target === "" ? undefined : Number(target)
    }))
}

/** Keeps rows that were not measured this time, and the text before the table. */
function saveResults(figures) {
  const kept = readResults().filter((row) => !figures.some(isSame(row)))
  const rows = Object.keys(BENCHMARKS).flatMap((name) =>
    [...figures, ...kept].filter(({ benchmark }) => benchmark === name)
  )
  const text = readFileSync(RESULTS, "utf8")
  const table = tableOf(
    ["benchmark", "figure", "value", "unit", "better", "target"],
    rows.map((row) => [...cellsOf(row), row.better, String(row.target ?? "")])
  )
  writeFileSync(RESULTS, `${text.slice(0, text.indexOf("|"))}${table}\n`)
}

function cellsOf({ benchmark, name, value, unit }) {
  return [benchmark, name, format(value), unit]
}

function format(value) {
  return String(Number(value.toFixed(Math.abs(value) < 10 ? 3 : 1)))
}

function tableOf(headings, rows) {
  const widths = headings.map((_, column) => Math.max(...[headings, ...rows].map((row) => row[column].length)))
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`
  return [headings, widths.map((width) => "-".repeat(width)), ...rows].map(line).join("\n")
}
