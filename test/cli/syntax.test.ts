/** `earshot check` and `earshot syntax`: drawings, exit codes, Markdown. */
import { assert, describe, it } from "@effect/vitest"
import { OTHER_RUNTIME, RUNTIMES, runCommand, runInProcess, startCommand } from "../program.ts"

describe("earshot check", () => {
  it("draws issues with their fixes and exits with 1", async () => {
    const { code, stdout, stderr } = await runInProcess(["check", "--platform", "x", "storm AND (flood"])
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr, "")
    assert.include(stdout, "  | storm AND (flood\n  |       ^^^\n")
    assert.include(stdout, "  |   storm (flood\n")
  })

  it("exits with 0 for a valid filter and shows its canonical form and translation", async () => {
    for (const runtime of RUNTIMES) {
      const { code, stdout } = await runCommand(runtime, ["check", "-p", "x", "(Storm) from:nasa"])
      assert.strictEqual(code, 0)
      assert.include(stdout, "The filter is valid on x: storm from:nasa")
      assert.include(stdout, "On firehose (wider): storm")
      assert.include(stdout, "impossible: from:nasa")
      assert.include(stdout, 'the translation also matches: text "Storm", username "someone"')
    }
  })

  it("reads a filter from standard input and prints the result as JSON", async () => {
    const wrong = startCommand("node", ["check", "-p", "x", "--json", "-"])
    wrong.stdin.end("storm AND (flood\n")
    const { code, stdout, stderr } = await wrong.ended
    assert.deepStrictEqual([code, stderr], [1, ""])
    const { valid, issues } = JSON.parse(stdout) as { valid: boolean; issues: ReadonlyArray<{ span: object }> }
    assert.deepStrictEqual([valid, issues[0]?.span], [false, { start: 6, end: 9 }])

    const right = await runInProcess(["check", "-p", "x", "--json", "-is:retweet nasa"])
    assert.strictEqual(right.code, 0)
    assert.deepInclude(JSON.parse(right.stdout), { valid: true, canonical: "-is:retweet nasa" })
  })

  it("exits with 0 for a filter with a warning", async () => {
    const { code, stdout } = await runInProcess(["check", "-p", "firehose", "storm AND flood OR rain"])
    assert.strictEqual(code, 0)
    assert.include(stdout, "warning: ")
  })
})

describe("earshot syntax", () => {
  it("prints the syntax of a platform as Markdown", async () => {
    const { code, stdout } = await runCommand(OTHER_RUNTIME, ["syntax", "firehose"])
    assert.strictEqual(code, 0)
    assert.match(stdout, /^# Filters on Firehose/)
  })

  it("prints operators as JSON", async () => {
    const { code, stdout } = await runInProcess(["syntax", "x", "--json"])
    assert.strictEqual(code, 0)
    const { platform, operators } = JSON.parse(stdout) as { platform: string; operators: ReadonlyArray<unknown> }
    assert.strictEqual(platform, "x")
    assert.isAbove(operators.length, 10)
  })

  it("rejects an unknown platform", async () => {
    const { code, stderr } = await runInProcess(["syntax", "y"])
    assert.strictEqual(code, 2)
    assert.include(stderr, "expected x or firehose")
  })
})
