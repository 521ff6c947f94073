/** `npm run check`: every check that a change must pass. Steps of one group run in parallel. */
import { spawn } from "node:child_process"
import { performance } from "node:perf_hooks"
import process from "node:process"

const STEPS = [["build", "format:check", "lint", "types", "dead"], ["bench:smoke", "test:deno"], ["test:node"]]

/** Machines differ, so more than this is no failure. */
const MAX_CPU_MINUTES = 18

/** CPU seconds of the steps that have ended. */
let cpuSeconds = 0

for (const names of STEPS) {
  const ended = await Promise.all(names.map(names.length === 1 ? watched : collected))
  for (const { name, code, output } of ended)
    process.stdout.write(`\n> ${name}${code === 0 ? "" : " FAILED"}\n${output}`)
  const failed = ended.filter(({ code }) => code !== 0).map(({ name }) => name)
  if (failed.length > 0) {
    console.error(`\nFailed: ${failed.join(", ")}`)
    process.exit(1)
  }
}
const cpuMinutes = cpuSeconds / 60
console.log(`\nAll checks passed in ${(performance.now() / 60_000).toFixed(1)} min, ${cpuMinutes.toFixed(1)} CPU min`)
if (cpuMinutes > MAX_CPU_MINUTES) console.log(`Warning: more than ${MAX_CPU_MINUTES} CPU min`)

// ---- helpers ----

/** Prints the output at the end, so that parallel steps do not mix. */
function collected(name) {
  const { child, ended } = start(name, "pipe")
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text
    })
  }
  return ended.then((code) => ({ name, code, output }))
}

async function watched(name) {
  return { name, code: await start(name, "inherit").ended, output: "" }
}

/** Through a shell: its `times` has the CPU time of all processes that it waited for. */
function start(name, output) {
  const script = `npm run --silent ${name}; code=$?; times >&3; exit $code`
  const child = spawn("sh", ["-c", script], { stdio: ["ignore", output, output, "pipe"] })
  let times = ""
  child.stdio[3].setEncoding("utf8").on("data", (text) => {
    times += text
  })
  const ended = new Promise((resolve) =>
    child.once("close", (code) => {
      for (const [, minutes, seconds] of times.matchAll(/(\d+)m([\d.,]+)s/g)) {
        cpuSeconds += 60 * Number(minutes) + Number(seconds.replace(",", "."))
      }
      resolve(code)
    })
  )
  return { child, ended }
}
