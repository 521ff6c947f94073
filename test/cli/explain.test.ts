/** `earshot explain` on a running server: a match, a miss, and the hits of a rule. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { call, draft, xPost } from "../gateway/client.ts"
import { KEY, runInProcess, type Served, START_MILLIS, serveInProcess } from "../program.ts"

describe("earshot explain", { timeout: START_MILLIS * 2 }, () => {
  let server: Served
  let rule = ""
  let match = ""
  beforeAll(async () => {
    server = await serveInProcess()
    const target = { ...server, key: KEY }
    rule = String((await call(target, "/api.CreateRule", draft("storm -is:retweet", ["x"]))).body["rule_id"])
    await call(target, "/local/events", [xPost("1", "A storm is coming"), xPost("2", "A calm\u001b[31m evening")])
    const [found] = (await call(target, "/matches", {})).body["matches"] ?? []
    match = String(found?.["id"])
  }, START_MILLIS)
  afterAll(() => server.stop())

  const earshot = (...args: ReadonlyArray<string>) =>
    runInProcess(["explain", ...args], { EARSHOT_URL: server.url, EARSHOT_API_KEY: KEY })

  it("explains a match", async () => {
    const { code, stdout } = await earshot(match)
    assert.strictEqual(code, 0)
    assert.strictEqual(
      stdout,
      [
        "The filter on x matches: storm -is:retweet",
        "",
        '  yes  storm  in x.text at 2 to 7: "storm"',
        "  no   is:retweet (excluded)",
        "",
        "Decided by: storm, is:retweet",
        ""
      ].join("\n")
    )
  })

  it("explains a miss, by the id of the event and by the event", async () => {
    const event = JSON.stringify(xPost("2", "A calm\u001b[31m evening"))
    for (const options of [
      ["--post", "2"],
      ["--event", event]
    ]) {
      const { code, stdout } = await earshot(rule, ...options)
      assert.strictEqual(code, 0)
      assert.match(stdout, /^The filter on x does not match: storm -is:retweet\n/)
      assert.match(stdout, /\n {2}no {3}storm {2}x\.text is "A calm␛\[31m evening"\n/)
      assert.match(stdout, /\nNo small change makes the filter match this event without changing what it looks for\n/)
    }
  })

  it("counts the hits of each clause", async () => {
    const { code, stdout } = await earshot(rule)
    assert.strictEqual(code, 0)
    assert.strictEqual(
      stdout,
      [
        "On x, 1 of the newest 2 events matches storm -is:retweet",
        "- storm: 1 of 2; without it, 1 more event would match",
        "- -is:retweet: 2 of 2",
        ""
      ].join("\n")
    )
  })

  it("names the option that chooses the platform if the rule watches several", async () => {
    const created = await call({ ...server, key: KEY }, "/api.CreateRule", draft("calm", ["x", "firehose"]))
    const both = String(created.body["rule_id"])
    const { code, stderr } = await earshot(both, "--post", "2")
    assert.strictEqual(code, 2)
    assert.match(
      stderr,
      /^earshot: The rule watches (x and firehose: add --platform x or --platform firehose|firehose and x: add --platform firehose or --platform x)\n$/
    )
    assert.match((await earshot(both, "--post", "2", "--platform", "x")).stdout, /^The filter on x matches: calm\n/)
  })

  it("names options, not fields of the request, in errors of the server", async () => {
    const errorOf = async (...args: ReadonlyArray<string>) => (await earshot(rule, ...args)).stderr
    assert.match(
      await errorOf("--platform", "firehose"),
      /^earshot: --platform: does not apply: the rule watches "x"\n$/
    )
    assert.match(await errorOf("--platform", "firehose", "--post", "2"), /^earshot: --platform: does not apply: /)
    assert.match(await errorOf("--event", '{"data":{}}'), /^earshot: --event: /)
    assert.include(await errorOf("--event", '{"data":{}}', "--json"), '"path":"event"')
  })

  it("prints JSON, and refuses options that do not fit", async () => {
    assert.deepInclude(JSON.parse((await earshot(match, "--json")).stdout), {
      matched: true,
      filter: "storm -is:retweet"
    })
    assert.deepInclude(JSON.parse((await earshot(rule, "--json")).stdout), { rule_id: rule })
    assert.strictEqual((await earshot(match, "--post", "2")).code, 2)
    assert.strictEqual((await earshot(rule, "--event", "{")).code, 2)
    const noJson = await earshot(rule, "--event", "bad")
    assert.match(noJson.stderr, /^earshot: --event: expected an event as JSON: Unexpected token 'b'/)
    const neither = await earshot("foo")
    assert.deepStrictEqual(
      [neither.code, neither.stderr],
      [2, 'earshot: "earshot explain" needs the id of a match (match_…) or of a rule (rule_…), not "foo"\n']
    )
    const unknown = await earshot("rule_unknown")
    assert.deepStrictEqual([unknown.code, unknown.stdout], [1, ""])
    assert.include(unknown.stderr, 'Cannot find rule "rule_unknown"')
  })
})
