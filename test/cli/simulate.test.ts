/** `earshot simulate` end to end, on both runtimes. */
import { assert, describe, it } from "@effect/vitest"
import { settingLines } from "../../simulator/settings.ts"
import { RUNTIMES, runInProcess, START_MILLIS, startCommand } from "../program.ts"

describe("earshot simulate", { timeout: 2 * START_MILLIS }, () => {
  for (const runtime of RUNTIMES) {
    it(`prints settings for Earshot, serves both platforms, drops connections and shuts down cleanly on ${runtime}`, async () => {
      const running = startCommand(runtime, ["simulate", "--port", "0", "--seed", "7", "--rate", "20", "--tier", "pro"])
      const [url, bearer] = (await running.printed(/X_BASE_URL=(\S+ X_BEARER_TOKEN=\S+)/)).split(" X_BEARER_TOKEN=")
      const [other, tap] = (await running.printed(/FIREHOSE_BASE_URL=(\S+ FIREHOSE_TAP_TOKEN=\S+)/)).split(
        " FIREHOSE_TAP_TOKEN="
      )
      assert.strictEqual(url, other)
      const call = (path: string, token = "", body?: unknown) =>
        fetch(`${url}${path}`, {
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          ...(body !== undefined && { method: "POST", body: JSON.stringify(body) })
        })
      const added = await call("/2/tweets/search/stream/rules", bearer, { add: [{ value: "nasa OR bitcoin" }] })
      assert.strictEqual(added.status, 201)
      assert.strictEqual((await call("/v1/rules", tap, { value: "title:*" })).status, 201)
      const updates = await (await call("/v1/stream?limit=3", tap)).text()
      assert.lengthOf(updates.match(/^event: update$/gm) ?? [], 3)

      await call("/control/faults", "", { kind: "refuse", platform: "x" })
      const refused = await call("/2/tweets/search/stream/rules", bearer).catch(() => "dropped")
      assert.strictEqual(refused, "dropped")

      const stream = await call("/2/tweets/search/stream", bearer)
      const read = stream.text().catch(() => "dropped")
      running.signal("SIGTERM")
      const { code, stderr } = await running.ended
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.notStrictEqual(await read, "dropped")
    })
  }

  it("names the platforms that it serves", async () => {
    const running = startCommand("node", ["simulate", "--port", "0", "--rate", "0", "--bluesky", "--feeds"])
    assert.strictEqual(await running.printed(/serves (.*) on http/), "X, Firehose, Bluesky and feeds")
    running.signal("SIGTERM")
    await running.ended
  })

  it("lists every setting in its help, with choices and default", async () => {
    const { code, stdout } = await runInProcess(["simulate", "--help"])
    assert.strictEqual(code, 0)
    const lines = stdout.split("\n").map((line) => line.trim())
    for (const { name } of settingLines()) assert.include(lines, name)
    const flat = lines.join(" ")
    assert.include(flat, 'in ("utf-16", "code-points"; default: "utf-16")')
    assert.include(flat, "null: by the tier (null, a number; default: null)")
    assert.notMatch(flat, /\(A?\d+\)/, "no internal footnote marks")
  })

  const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: RegExp]> = [
    [["--port", "70000"], /Expected --port to be a whole number from 0 to 65535/],
    [["--rate", "-1"], /--rate/],
    [["--seed", "x"], /Expected --seed to be a whole number from 0 to 4294967295/],
    [["--tier", "gold"], /--tier: expected free, basic, pro, pay-per-use or enterprise, not "gold"/]
  ]
  for (const [args, message] of wrong) {
    it(`rejects ${args.join(" ")} with one line`, async () => {
      const { code, stdout, stderr } = await runInProcess(["simulate", ...args])
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, message)
      assert.lengthOf(stderr.trim().split("\n"), 1)
    })
  }
})
