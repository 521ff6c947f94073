/** Builds the benchmarks and runs them one after the other: judges their floors, and compares with the last release. */
import { execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
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
  start: [],
  syntax: []
}

/** What is built and run in the same way, but gives no figures. It takes arguments of its own. */
const TOOLS = ["engine/churn", "engine/fuzz", "syntax/fuzz"]

const HELP = `node bench/run.mjs [benchmark ...] [option ...]

Builds the benchmarks, runs them one after the other, judges their floors, and compares their figures with those of
the last release in bench/results.md. Without a name all of them:
  engine    the matching engine beside its peers: an hour and more
  gateway   CPU per request beside node:http, Fastify and trpc-to-openapi, on Node and Deno
  ingest    durable matches per second beside the bare ways of writing, latency, and listing
  push      event streams beside a bare broadcaster on node:http
  start     CPU, memory and disk of a start, beside node -e 0
  syntax    reading rules beside the Lucene parsers of npm

  --smoke   everything once, in a few seconds each: shows that it runs and measures nothing; no floor is judged
  --quick   engine: up to 10,000 rules, about two minutes; the floors are for more and are not judged
  --large   ingest: lists 10,000,000 matches too: some minutes and 25 GB in the folder for temporary files
  --save    write the figures to bench/results.md, for a release
  --help    this text

Ends with 1 when a floor that was measured is missed, or a benchmark fails.`

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const RESULTS = `${ROOT}bench/results.md`

/** From here on worse than in the last release is said aloud, in percent. */
const NOTABLE = 10

/** Of the packages Effect alone is bundled: to load its many files takes most of the start of a process. */
const bundleEffectAlone = {
  name: "bundle Effect alone",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || /^(@effect\/|effect(\/|$))/.test(path) ? undefined : { path, external: true }
    )
}

let running
// An interruption at the terminal reaches the benchmark too, this does not.
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
  // Some start the program, and the embedded store is filled from what the build makes.
  execFileSync(process.execPath, [`${ROOT}scripts/build.mjs`, "--if-needed"], { stdio: "inherit" })
  const figures = []
  const failures = []
  for (const name of names) {
    console.log(`\n# ${name}\n`)
    const ended = await run(`${name}/bench`, flags)
    const unclear = ended.figures.filter(({ value }) => !Number.isFinite(value))
    if (ended.code !== 0) failures.push(`The benchmark of ${name} failed`)
    else if (ended.figures.length === 0) failures.push(`The benchmark of ${name} handed in no figures`)
    for (const figure of unclear) failures.push(`The benchmark of ${name} has no number for "${figure.name}"`)
    figures.push(...ended.figures.map((figure) => ({ benchmark: name, ...figure })))
  }

  console.log("\n# summary\n")
  if (smoke) {
    console.log(tableOf(["benchmark", "figure", "value", "unit"], figures.map(cellsOf)))
    console.log("\nA smoke run: everything was run once, nothing was measured well, no floor is judged")
  } else {
    console.log(comparisonOf(figures, names))
    const missed = figures.filter(isMissed)
    for (const { benchmark, name } of missed) failures.push(`The floor of ${benchmark}, "${name}", is missed`)
  }
  for (const failure of failures) console.log(failure)
  if (save) saveResults(figures.filter(({ value }) => Number.isFinite(value)))
  process.exitCode = failures.length === 0 ? 0 : 1
}

/** Nothing when there is nothing to run. */
function readArguments() {
  const flag = { type: "boolean", default: false }
  const known = Object.keys(BENCHMARKS)
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { smoke: flag, quick: flag, large: flag, save: flag, help: flag }
    })
    const unknown = positionals.filter((name) => !known.includes(name))
    if (unknown.length > 0) throw new Error(`No benchmark "${unknown.join('", "')}"`)
    if (values.smoke && values.save) throw new Error("The figures of a smoke run are not worth saving")
    if (values.help) return void console.log(HELP)
    const names = positionals.length > 0 ? positionals : known
    const flags = ["smoke", "quick", "large"].filter((name) => values[name]).map((name) => `--${name}`)
    return { names, flags, smoke: values.smoke, save: values.save }
  } catch (error) {
    console.error(`${error.message.split(". ")[0]}\nKnown are ${[...known, ...TOOLS].join(", ")}; --help says more`)
    process.exitCode = 1
  }
}

/** Gives the code with which the program ended, and the figures that it handed in: see figures.ts. */
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
    plugins: [bundleEffectAlone],
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning"
  })
  let figures = []
  running = fork(`${built}/${name}.js`, args, { cwd: ROOT, execArgv: ["--expose-gc"], serialization: "advanced" })
  running.on("message", (handedIn) => {
    figures = handedIn
  })
  const [code] = await once(running, "close")
  return { code: code ?? 1, figures }
}

function comparisonOf(figures, names) {
  const last = readResults().filter(({ benchmark }) => names.includes(benchmark))
  const measured = figures.map((figure) => {
    const before = last.find(isSame(figure))
    return [...cellsOf(figure), before ? shown(before.value) : "", changeOf(figure, before), ...floorOf(figure)]
  })
  const others = last
    .filter((figure) => !figures.some(isSame(figure)))
    .map((figure) => [figure.benchmark, figure.name, "", figure.unit, shown(figure.value), "not measured", "", ""])
  const headings = ["benchmark", "figure", "value", "unit", "last release", "change", "floor", ""]
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

function floorOf(figure) {
  if (figure.floor === undefined) return ["", ""]
  return [`${figure.better === "higher" ? "at least" : "at most"} ${figure.floor}`, isMissed(figure) ? "MISSED" : "met"]
}

function isMissed({ value, better, floor }) {
  return floor !== undefined && !(better === "higher" ? value >= floor : value <= floor)
}

/** The rows of the table there. */
function readResults() {
  return readFileSync(RESULTS, "utf8")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === 8 && Number.isFinite(Number.parseFloat(cells[3])))
    .map(([, benchmark, name, value, unit, better, floor]) => ({
      benchmark,
      name,
      value: Number(value),
      unit,
      better,
      floor: floor === "" ? undefined : Number(floor)
    }))
}

/** What was not measured this time stays, and so does the text before the table. */
function saveResults(figures) {
  const kept = readResults().filter((row) => !figures.some(isSame(row)))
  const rows = Object.keys(BENCHMARKS).flatMap((name) =>
    [...figures, ...kept].filter(({ benchmark }) => benchmark === name)
  )
  const text = readFileSync(RESULTS, "utf8")
  const table = tableOf(
    ["benchmark", "figure", "value", "unit", "better", "floor"],
    rows.map((row) => [...cellsOf(row), row.better, String(row.floor ?? "")])
  )
  writeFileSync(RESULTS, `${text.slice(0, text.indexOf("|"))}${table}\n`)
}

function cellsOf({ benchmark, name, value, unit }) {
  return [benchmark, name, shown(value), unit]
}

function shown(value) {
  return String(Number(value.toFixed(Math.abs(value) < 10 ? 3 : 1)))
}

/** As Markdown has it. */
function tableOf(headings, rows) {
  const widths = headings.map((_, column) => Math.max(...[headings, ...rows].map((row) => row[column].length)))
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`
  return [headings, widths.map((width) => "-".repeat(width)), ...rows].map(line).join("\n")
}
