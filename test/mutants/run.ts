/**
 * Plants each bug of this folder in a copy of what is committed and runs the tests that should notice. Fails when one is
 * not noticed, when a patch does not fit any more, and when the tests fail without a bug. A word from the name of a patch
 * as argument runs those alone.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { startPostgres } from "../postgres.ts"
import { ROOT } from "../program.ts"
import { type Mutant, mutants } from "./mutants.ts"

/** A bug may make the tests wait for ever. */
const LIMIT_MILLIS = 120_000

const wanted = process.argv[2] ?? ""
const chosen = mutants().filter(({ name }) => name.includes(wanted))
const folder = mkdtempSync(join(tmpdir(), "earshot-mutants-"))
const copy = join(folder, "copy")
git(ROOT, "worktree", "add", "--quiet", "--detach", copy, "HEAD")
symlinkSync(realpathSync(join(ROOT, "node_modules")), join(copy, "node_modules"))
const postgres = await startPostgres()
let wrong = 0
try {
  for (const tests of new Set(chosen.map((mutant) => mutant.tests))) {
    const { outcome, seconds } = await run(tests)
    if (outcome !== "passed") wrong++
    console.log(`no bug     ${outcome.padEnd(8)} ${seconds} s  ${tests}`)
  }
  for (const [at, mutant] of chosen.entries()) {
    const { word, seconds } = await verdictOf(mutant)
    if (word !== "killed") wrong++
    console.log(
      `${`${at + 1}/${chosen.length}`.padEnd(10)} ${word.padEnd(8)} ${seconds} s  ${mutant.name}: ${mutant.bug}`
    )
  }
} finally {
  await postgres.remove()
  git(ROOT, "worktree", "remove", "--force", copy)
  rmSync(folder, { recursive: true, force: true })
}
console.log(wrong === 0 ? `All ${chosen.length} bugs were noticed` : `${wrong} are not as they should be`)
process.exit(wrong === 0 ? 0 : 1)

// ---- helpers ----

function git(cwd: string, ...args: ReadonlyArray<string>): void {
  execFileSync("git", args, { cwd, stdio: "pipe" })
}

async function verdictOf({ path, tests }: Mutant) {
  try {
    git(copy, "apply", path)
  } catch {
    return { word: "unfit", seconds: "0" }
  }
  const { outcome, seconds } = await run(tests)
  git(copy, "checkout", "--quiet", "--", ".")
  // One that hangs or does not start is not noticed for what it is.
  const word = outcome === "failed" ? "killed" : outcome === "passed" ? "survived" : outcome
  return { word, seconds }
}

/** Failed: a test has; broken: the tests did not come to run. */
async function run(tests: string) {
  const [file = "", title] = tests.split(" -t ")
  const report = join(folder, "report.json")
  rmSync(report, { force: true })
  const started = Date.now()
  const child = spawn(
    "node_modules/.bin/vitest",
    [
      "run",
      file,
      ...(title === undefined ? [] : ["-t", title]),
      "--testTimeout=60000",
      "--reporter=json",
      `--outputFile=${report}`
    ],
    {
      cwd: copy,
      stdio: "ignore",
      env: { ...process.env, TEST_DATABASE_URL: postgres.url }
    }
  )
  let isHung = false
  const limit = setTimeout(() => {
    isHung = true
    child.kill("SIGKILL")
  }, LIMIT_MILLIS)
  await new Promise((resolve) => child.once("close", resolve))
  clearTimeout(limit)
  const seconds = ((Date.now() - started) / 1_000).toFixed(0)
  return { outcome: isHung ? ("hung" as const) : outcomeIn(report), seconds }
}

function outcomeIn(report: string) {
  try {
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, "utf8"))
    return numFailedTests > 0 ? "failed" : numPassedTests > 0 ? "passed" : "broken"
  } catch {
    return "broken"
  }
}
