/** Mutants: patches with a bug that tests must catch. Line 1 describes the bug, line 2 names the tests. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "../program.ts"

export interface Mutant {
  readonly name: string
  readonly path: string
  readonly bug: string
  /** A test file, and for a slow one the titles to run, after `-t`. */
  readonly tests: string
}

export const mutants = (): ReadonlyArray<Mutant> =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith(".patch"))
    .sort()
    .map((file) => {
      const path = join(FOLDER, file)
      const [bug = "", tests = ""] = readFileSync(path, "utf8").split("\n")
      return {
        name: file.slice(0, -".patch".length),
        path,
        bug: bug.replace(/^Bug: /, ""),
        tests: tests.replace(/^Tests: /, "")
      }
    })

// ---- helpers ----

const FOLDER = join(ROOT, "test/mutants")
