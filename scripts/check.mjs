/** `npm run check`: every check that a change must pass. Steps of one group run in parallel. */
import { spawn } from "node:child_process"
import process from "node:process"

const STEPS = [["build", "format:check", "lint", "types", "dead"], ["bench:smoke", "test:deno"], ["test:node"]]

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

// ---- helpers ----

/** Prints the output at the end, so that parallel steps do not mix. */
function collected(name) {
  const child = spawn("npm", ["run", "--silent", name], { stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text
    })
  }
  return new Promise((resolve) => child.once("close", (code) => resolve({ name, code, output })))
}

function watched(name) {
  const child = spawn("npm", ["run", "--silent", name], { stdio: "inherit" })
  return new Promise((resolve) => child.once("close", (code) => resolve({ name, code, output: "" })))
}
