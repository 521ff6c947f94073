/** `npm run check:long`: checks that take too long to run for every change. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"

/** Newest LTS release. */
const NEWEST_NODE = "26.12.0"

/** Black-box tests: they only start the program. */
const BLACK_BOX = [
  "test/cli",
  "test/gateway/http.test.ts",
  "test/adapters/local/DemoFeed.test.ts",
  "test/crash.test.ts",
  "test/tracing.test.ts"
]

const folder = mkdtempSync(join(tmpdir(), "earshot-long-"))
try {
  run("node", ["scripts/build.mjs", "--if-needed"])
  run("npx", ["vitest", "run"], { EARSHOT_LONG: "1" })
  run("npx", ["vitest", "run", ...BLACK_BOX], { EARSHOT_TEST_NODE: newestNode() })
  run("node", ["bench/run.mjs", "start"])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

// ---- helpers ----

/** Node's binaries are packages per platform. */
function newestNode() {
  const name = `node-${process.platform}-${process.arch}`
  run("npm", ["install", "--prefix", folder, "--no-save", `${name}@${NEWEST_NODE}`])
  return join(folder, "node_modules", name, "bin", "node")
}

function run(command, args, settings = {}) {
  console.log(`\n$ ${[command, ...args].join(" ")}`)
  const { status } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...settings } })
  if (status !== 0) throw new Error(`"${command} ${args.join(" ")}" ended with ${status}`)
}
