/** What every interface says of the matches of a rule, so that a test can look for texts that must not be there. */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { createTRPCClient, httpLink } from "@trpc/client"
import { Effect } from "effect"
import type { AppRouter } from "../../../gateway/trpc/router.ts"
import { call, type Target } from "../../gateway/client.ts"
import { rpc } from "../../gateway/mcp/rpc.ts"
import { connect } from "../../gateway/mcp/session.ts"
import { openStream } from "../../gateway/sse.ts"
import { runInProcess } from "../../program.ts"

export interface Asked {
  readonly ruleId: string
  /** From before the matches. */
  readonly cursor: string
  /** How many matches the rule has. A resumed stream sends something of each. */
  readonly count: number
  /** A filter that matches them all. */
  readonly filter: string
}

/** The answer of each interface, by its name. */
export const doorsOf = (target: Target, asked: Asked): Effect.Effect<Readonly<Record<string, string>>> =>
  Effect.promise(async () => {
    const { ruleId: rule_id, cursor, filter } = asked
    const { body } = await call(target, "/matches", { rule_id })
    const matches = [...(body["matches"] ?? [])]
    const ids = matches.map(({ id }) => String(id))
    const posts = matches.map((match) => String(match["platform_post_id"]))
    const post = async (path: string, request: object) => JSON.stringify((await call(target, path, request)).body)
    const trpc = createTRPCClient<AppRouter>({
      links: [httpLink({ url: `${target.url}/trpc`, headers: { authorization: `Bearer ${target.key}` } })]
    })
    const { call: tool, client } = await connect(
      new StreamableHTTPClientTransport(new URL(`${target.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${target.key}` } }
      })
    )
    const agent = async (name: string, args: object) => JSON.stringify(await tool(name, { ...args }))
    const each = async (of: ReadonlyArray<string>, ask: (one: string) => Promise<string>) =>
      (await Promise.all(of.map(ask))).join("\n")
    const other = { rule_id, overrides: { bluesky: `${filter} nowhere` }, samples: 5 }
    const poll = { name: "match.created", arguments: { rule_id }, cursor }
    const answers = {
      "POST /matches": Promise.resolve(JSON.stringify(body)),
      "GET /matches/get": each(ids, async (id) =>
        JSON.stringify((await call(target, `/matches/get?match_id=${id}`)).body)
      ),
      "POST /matches/wait": post("/matches/wait", { rule_id, cursor, timeout_seconds: 1 }),
      "GET /matches/stream": resumed(target, asked),
      "POST /matches/explain by match": each(ids, (match_id) => post("/matches/explain", { match_id })),
      "POST /matches/explain by post": each(posts, (platform_post_id) =>
        post("/matches/explain", { rule_id, platform_post_id })
      ),
      "POST /rules/check": post("/rules/check", { overrides: { bluesky: filter }, backtest: { samples: 5 } }),
      "POST /rules/compare": post("/rules/compare", other),
      "POST /api.CompareRule": post("/api.CompareRule", { rule_id, samples: 5 }),
      "trpc matches.list": trpc.matches.list.query({ rule_id }).then((page) => JSON.stringify(page)),
      "tool list_matches": agent("list_matches", { rule_id, full: true }),
      "tool get_match": each(ids, (match_id) => agent("get_match", { match_id })),
      "tool wait_for_matches": agent("wait_for_matches", { rule_id, cursor, timeout_seconds: 1 }),
      "tool explain_match": each(ids, (match_id) => agent("explain_match", { match_id })),
      "tool check_rule": agent("check_rule", { overrides: { bluesky: filter }, backtest: { samples: 5 } }),
      "tool compare_filter": agent("compare_filter", other),
      "events/poll": rpc(target, "events/poll", poll).then((answer) => JSON.stringify(answer)),
      "earshot matches": runInProcess(["matches", "--rule", rule_id], {
        EARSHOT_URL: target.url,
        EARSHOT_API_KEY: target.key,
        EARSHOT_BLUESKY: "on"
      }).then(({ stdout }) => stdout)
    }
    const texts = await Promise.all(Object.values(answers))
    await client.close()
    return Object.fromEntries(Object.keys(answers).map((door, index) => [door, texts[index] ?? ""]))
  })

/** The interfaces whose answer has one of the texts. */
export const showing = (answers: Readonly<Record<string, string>>, ...texts: ReadonlyArray<string>) =>
  Object.entries(answers).flatMap(([door, answer]) => (texts.some((text) => answer.includes(text)) ? [door] : []))

// ---- helpers ----

/** What a stream that goes on after the cursor sends first. */
const resumed = async (target: Target, { ruleId, cursor, count }: Asked): Promise<string> => {
  const stream = await openStream(`${target.url}/matches/stream?rule_id=${ruleId}`, {
    key: target.key,
    lastId: cursor
  })
  const blocks: Array<string> = []
  let about = 0
  while (about < count) {
    const block = await stream.next()
    if (block === undefined) break
    blocks.push(JSON.stringify(block))
    if (block.event?.startsWith("match") === true) about++
  }
  stream.leave()
  return blocks.join("\n")
}
