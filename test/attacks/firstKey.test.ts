/** The first key is shown to a person, and never kept in a log. */
import { readFileSync, statSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { START_MILLIS, startService } from "../program.ts"

describe("the first key", { timeout: START_MILLIS }, () => {
  it("is in a file for its owner if standard output is no terminal", async () => {
    const running = await startService("node", { EARSHOT_BOOTSTRAP_KEY: undefined, LOG_LEVEL: "debug" })
    const path = await running.printed(/^Your first API key is in (\S+): /m)
    assert.strictEqual((statSync(path).mode & 0o777).toString(8), "600")
    const key = readFileSync(path, "utf8").trim()
    assert.match(key, /^es_\w{38}$/)
    const answer = await fetch(`${running.url}/api.ListRules`, { headers: { authorization: `Bearer ${key}` } })
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    await running.printed(/^Console: \S+\/console\n/m)
    const { stdout, stderr } = await running.stop()
    assert.notInclude(stdout + stderr, key)
  })
})
