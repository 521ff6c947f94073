/** Every mutant still applies to the code. `npm run mutants` checks that the tests kill each of them. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ROOT } from "../program.ts"
import { mutants } from "./mutants.ts"

describe("mutants", () => {
  it("has at least twenty patches", () => {
    assert.isAtLeast(mutants().length, 20)
  })

  for (const { name, path, bug, tests } of mutants()) {
    it(`${name} has a description and applies`, () => {
      assert.isNotEmpty(bug)
      assert.isTrue(existsSync(join(ROOT, tests.split(" -t ")[0] ?? "")), tests)
      const { status, stderr } = spawnSync("git", ["apply", "--check", path], { cwd: ROOT, encoding: "utf8" })
      assert.strictEqual(status, 0, stderr)
    })
  }
})
