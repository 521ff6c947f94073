/** `earshot check` and `earshot syntax`: drawings, exit codes, help. */
import { assert, describe, it } from "@effect/vitest"
import { RUNTIMES, runCommand, runInProcess, startCommand } from "../program.ts"

describe("earshot check", () => {
  it("draws what is wrong, with its fix, and ends with 1", async () => {
    const { code, stdout, stderr } = await runInProcess(["check", "--platform", "x", "storm AND (flood"])
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr, "")
    assert.include(stdout, "  | storm AND (flood\n  |       ^^^\n")
    assert.include(stdout, "  |   storm (flood\n")
  })

  it("ends with 0 for a valid rule and shows it canonically and on the other platform", async () => {
    for (const runtime of RUNTIMES) {
      const { code, stdout } = await runCommand(runtime, ["check", "-p", "x", "(Storm) from:nasa"])
      assert.strictEqual(code, 0)
      assert.include(stdout, "The rule is valid on x: storm from:nasa")
      assert.include(stdout, "On firehose (wider): storm")
      assert.include(stdout, "impossible: from:nasa")
    }
  })

  it("reads a filter from standard input, and gives what it finds as JSON", async () => {
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

  it("lets a warning pass", async () => {
    const { code, stdout } = await runInProcess(["check", "-p", "firehose", "storm AND flood OR rain"])
    assert.strictEqual(code, 0)
    assert.include(stdout, "warning: ")
  })
})

describe("earshot syntax", () => {
  it("prints the help of a platform as Markdown", async () => {
    const { code, stdout } = await runCommand("deno", ["syntax", "firehose"])
    assert.strictEqual(code, 0)
    assert.match(stdout, /^# Rules on Firehose/)
  })

  it("gives it as data, too", async () => {
    const { code, stdout } = await runInProcess(["syntax", "x", "--json"])
    assert.strictEqual(code, 0)
    const { platform, operators } = JSON.parse(stdout) as { platform: string; operators: ReadonlyArray<unknown> }
    assert.strictEqual(platform, "x")
    assert.isAbove(operators.length, 10)
  })

  it("refuses a platform that there is none of", async () => {
    const { code, stderr } = await runInProcess(["syntax", "y"])
    assert.strictEqual(code, 2)
    assert.include(stderr, "expected x or firehose")
  })
})
