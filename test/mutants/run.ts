/**
 * Applies each mutant to a copy of HEAD and runs its tests. Fails when a mutant survives, when a patch does not apply, or
 * when the tests fail without a mutant. An argument selects the mutants whose name contains it.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { startPostgres } from "../../fixtures/postgres.ts"
import { ROOT } from "../program.ts"
import { type Mutant, mutants } from "./mutants.ts"

/** A mutant may make the tests hang. */
const TIMEOUT_MILLIS = 120_000

const namePart = process.argv[2] ?? ""
const selected = mutants().filter(({ name }) => name.includes(namePart))
const folder = mkdtempSync(join(tmpdir(), "earshot-mutants-"))
const copy = join(folder, "copy")
git(ROOT, "worktree", "add", "--quiet", "--detach", copy, "HEAD")
symlinkSync(realpathSync(join(ROOT, "node_modules")), join(copy, "node_modules"))
const postgres = await startPostgres()
let problems = 0
try {
  for (const tests of new Set(selected.map((mutant) => mutant.tests))) {
    const { outcome, seconds } = await run(tests)
    if (outcome !== "passed") problems++
    console.log(`no mutant  ${outcome.padEnd(8)} ${seconds} s  ${tests}`)
  }
  for (const [at, mutant] of selected.entries()) {
    const { verdict, seconds } = await verdictOf(mutant)
    if (verdict !== "killed") problems++
    console.log(
      `${`${at + 1}/${selected.length}`.padEnd(10)} ${verdict.padEnd(8)} ${seconds} s  ${mutant.name}: ${mutant.bug}`
    )
  }
} finally {
  await postgres.remove()
  git(ROOT, "worktree", "remove", "--force", copy)
  rmSync(folder, { recursive: true, force: true })
}
console.log(problems === 0 ? `All ${selected.length} mutants were killed` : `${problems} runs failed`)
process.exit(problems === 0 ? 0 : 1)

// ---- helpers ----

function git(cwd: string, ...args: ReadonlyArray<string>): void {
  execFileSync("git", args, { cwd, stdio: "pipe" })
}

async function verdictOf({ path, tests }: Mutant) {
  try {
    git(copy, "apply", path)
  } catch {
    return { verdict: "unfit", seconds: "0" }
  }
  const { outcome, seconds } = await run(tests)
  git(copy, "checkout", "--quiet", "--", ".")
  // A run that hangs or does not start kills no mutant.
  const verdict = outcome === "failed" ? "killed" : outcome === "passed" ? "survived" : outcome
  return { verdict, seconds }
}

/** failed: a test failed. broken: no test ran. hung: it timed out. */
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
  const timeout = setTimeout(() => {
    isHung = true
    child.kill("SIGKILL")
  }, TIMEOUT_MILLIS)
  await new Promise((resolve) => child.once("close", resolve))
  clearTimeout(timeout)
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
