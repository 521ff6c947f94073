/** What takes longer than a change should wait for: `npm run check:long`. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"

/** The newest release with long-term support. */
const NEWEST_NODE = "26.12.0"

/** Tests that start the program and know nothing of its inside. */
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

/** Its program is in a package of its own for each platform. */
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
