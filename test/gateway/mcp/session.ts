/** A whole session of an agent with the tools, over any transport. */
import { assert } from "@effect/vitest"
import { Client, type ClientOptions, type Transport } from "@modelcontextprotocol/client"
import type { Json } from "../client.ts"

export interface Called {
  readonly isError: boolean
  /** The blocks, joined. */
  readonly text: string
  readonly blocks: ReadonlyArray<string>
  readonly structured: Json
}

export interface Agent {
  readonly client: Client
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<Called>
}

/** The client checks all structured content against the output schema of the tool. */
export const connect = async (transport: Transport, options: ClientOptions = {}): Promise<Agent> => {
  const client = new Client({ name: "test", version: "1" }, options)
  await client.connect(transport)
  await client.listTools()
  return {
    client,
    call: async (name, args = {}) => {
      const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args })
      const blocks = content.map((block) =>
        block.type === "text" ? block.text : assert.fail(`${block.type} in ${name}`)
      )
      return { isError, blocks, text: blocks.join("\n"), structured: structuredContent as unknown as Json }
    }
  }
}

/** Makes the client try the newest revision of the protocol. */
export const MODERN: ClientOptions = { versionNegotiation: { mode: "auto" } }

/** Calls every tool. The rule looks for `word`; `publish` publishes an event that matches it. */
export const session = async (
  { client, call }: Agent,
  { word, publish }: { readonly word: string; readonly publish: () => Promise<unknown> }
): Promise<void> => {
  const used = new Set<string>()
  const use: Agent["call"] = async (name, args) => {
    used.add(name)
    const answer = await call(name, args)
    assert.isFalse(answer.isError, answer.text)
    return answer
  }

  const { tools } = await client.listTools()
  for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
    assert.match(name, /^[a-z_]+$/)
    assert.isDefined(title)
    assert.isAbove(description?.length ?? 0, 100, name)
    assert.deepInclude(inputSchema, { type: "object", additionalProperties: false })
    assert.strictEqual(outputSchema?.["type"], name === "platform_syntax" ? undefined : "object", name)
    assert.notMatch(JSON.stringify([inputSchema, outputSchema]), /\$ref|\$defs|\$schema|\$id/, name)
    assert.hasAllKeys(annotations, ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"])
  }
  const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint === true)
  assert.deepStrictEqual(
    destructive.map(({ name }) => name),
    ["drop_shadow", "delete_rule", "delete_rules"]
  )

  const syntax = await use("platform_syntax", { platforms: ["x"] })
  assert.isUndefined(syntax.structured, "the text says it all")
  assert.include(syntax.text, "lang:")
  assert.notInclude(syntax.text, "page_category:")
  const full = await use("platform_syntax", { platforms: ["x"], detail: "full" })
  assert.include(full.text, "## Common mistakes")

  const wrong = await use("check_rule", { overrides: { x: `${word} lnag:en` } })
  const checked = wrong.structured["platforms"]?.["x"]
  assert.isFalse(checked?.["valid"] as unknown)
  assert.match(wrong.text, /not valid[\s\S]*characters[\s\S]*"lnag:en"[\s\S]*fix: [\s\S]*Next: fix the filter/)
  const [issue] = checked?.["issues"] ?? []
  assert.strictEqual(String(issue?.["fix"]?.["text"]), `${word} lang:en`)
  const right = await use("check_rule", { overrides: { x: word }, backtest: {} })
  assert.match(right.text, /valid; it would be registered as[\s\S]*Next: /)

  const overrides = { x: word, firehose: word }
  const draft = { name: "Session", intent: "Show that it works", platforms: ["x", "firehose"], overrides }
  const created = await use("create_rule", draft)
  const rule_id = String(created.structured["rule_id"])
  const { cursor } = created.structured
  assert.include(created.text, `wait_for_matches with {"rule_id": "${rule_id}", "cursor": "${cursor}"}`)
  const rules = [...((await use("list_rules")).structured["rules"] ?? [])]
  assert.include(
    rules.map((rule) => String(rule["id"])),
    rule_id
  )

  // The event may be published before or during the wait.
  const waiting = use("wait_for_matches", { rule_id, cursor, timeout_seconds: 55 })
  await publish()
  const waited = await waiting
  const [match] = waited.structured["matches"] ?? []
  assert.match(String(match?.["text"]), new RegExp(word, "i"), "the summary shows why it matched")
  assert.isFalse(waited.structured["timed_out"] as unknown)
  assert.include(
    waited.text,
    `wait_for_matches with {"rule_id": "${rule_id}", "cursor": "${waited.structured["cursor"]}"}`
  )
  const again = await use("wait_for_matches", { rule_id, cursor: waited.structured["cursor"], timeout_seconds: 1 })
  assert.notInclude(JSON.stringify(again.structured["matches"]), String(match?.["id"]), "no match is repeated")

  const listed = await use("list_matches", { rule_id, limit: 500 })
  assert.include(
    [...(listed.structured["matches"] ?? [])].map((one) => String(one["id"])),
    String(match?.["id"])
  )
  assert.match(listed.text, /begin untrusted content/)
  const got = await use("get_match", { match_id: match?.["id"] })
  assert.match(
    got.text,
    /begin untrusted content[\s\S]*"payload":\{[\s\S]*Next: why the rule matched it, explain_match with/
  )
  assert.strictEqual(String(got.structured["match"]?.["id"]), String(match?.["id"]))
  const histogram = await use("match_histogram", { rule_id, unit: "minute" })
  assert.match(histogram.text, /^[1-9]\d* match(es)? from [\s\S]*per minute[\s\S]*T\d\d:\d\dZ [1-9]/)

  assert.match(
    (await use("platform_status")).text,
    /^- x \(runs in this process\), live: .*Watched in the last 24 hours/m
  )
  const explained = await use("explain_match", { match_id: match?.["id"] })
  assert.match(explained.text, /matches this event on[\s\S]*Decided by: "[\s\S]*begin untrusted content/)
  assert.isTrue(explained.structured["matched"] as unknown)
  const hits = await use("rule_hits", { rule_id })
  assert.match(hits.text, new RegExp(`[1-9]\\d* of the newest \\d+ events? match(es)? "${word}"[\\s\\S]*Next: `))

  assert.match((await use("get_rule", { rule_id })).text, /version 1/)
  const narrower = { firehose: `${word} AND nowhere` }
  const comparison = await use("compare_filter", { rule_id, overrides: narrower })
  assert.match(comparison.text, /^- kept: 0[\s\S]*^- lost: \d+[\s\S]*^- gained: 0[\s\S]*Next: [\s\S]*update_rule with/m)
  await use("shadow_rule", { rule_id, overrides: { firehose: `${word} OR other` } })
  assert.match((await use("compare_rule", { rule_id })).text, /^- both: \d+$[\s\S]*promote_rule with/m)
  await use("drop_shadow", { rule_id })
  await use("shadow_rule", { rule_id, overrides: { firehose: `${word} OR another` } })
  assert.match((await use("promote_rule", { rule_id })).text, /version 2[\s\S]*Added 0 matches/)
  assert.match((await use("pause_rule", { rule_id })).text, /firehose, paused/)
  assert.match((await use("resume_rule", { rule_id })).text, /firehose, active/)
  assert.match((await use("update_rule", { rule_id, name: "Renamed" })).text, /"Renamed"[\s\S]*version 5/)
  const account = await use("get_account", {})
  assert.match(account.text, /^rules.firehose: 1 of no limit/m)
  const preview = await use("delete_rules", { rule_ids: [rule_id, "rule_unknown"], preview: true })
  assert.match(preview.text, /Nothing was deleted[\s\S]*"Renamed", [1-9]\d* match[\s\S]*No such rule: "rule_unknown"/)
  await use("delete_rule", { rule_id })
  const repeated = await call("delete_rule", { rule_id })
  assert.isTrue(repeated.isError)
  assert.match(repeated.text, /not_found[\s\S]*Next: call list_rules/)

  assert.sameMembers(
    tools.map(({ name }) => name),
    [...used],
    "every tool was called"
  )
}
