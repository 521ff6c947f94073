/** The planted bugs still fit the code; `npm run mutants` shows that the tests notice each. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ROOT } from "../program.ts"
import { mutants } from "./mutants.ts"

describe("mutants", () => {
  it("are at least twenty", () => {
    assert.isAtLeast(mutants().length, 20)
  })

  for (const { name, path, bug, tests } of mutants()) {
    it(`${name} says what it is, and can be planted`, () => {
      assert.isNotEmpty(bug)
      assert.isTrue(existsSync(join(ROOT, tests.split(" -t ")[0] ?? "")), tests)
      const { status, stderr } = spawnSync("git", ["apply", "--check", path], { cwd: ROOT, encoding: "utf8" })
      assert.strictEqual(status, 0, stderr)
    })
  }
})
