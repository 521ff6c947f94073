/** Starts a real service on a simulated Firehose, and publishes pages there. */
import { Effect } from "effect"
import type { MatchList } from "../../core/matches/Matches.ts"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import { KEY, type Served, startService } from "../program.ts"

/** With one rule that matches every page. */
export const startWithFirehose = (settings: Parameters<typeof startService>[1]) =>
  Effect.gen(function* () {
    const simulator = yield* Simulator.make({ seed: 1 })
    const url = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
    const service = yield* Effect.acquireRelease(
      Effect.promise(() =>
        startService("node", {
          FIREHOSE_BASE_URL: url,
          FIREHOSE_TAP_TOKEN: simulator.control.settings.firehose.tap_token,
          ...settings
        })
      ),
      (running) => Effect.promise(() => running.stop())
    )
    const rule = { name: "n", intent: "i", platforms: ["firehose"], overrides: { firehose: "storm" } }
    const { status } = yield* ask(service, "/api.CreateRule", rule)
    if (status !== 200) return yield* Effect.dieMessage(`Cannot create the rule: status ${status}`)
    const publish = (pages: ReadonlyArray<ReturnType<typeof page>>) => Effect.orDie(simulator.control.publish(pages))
    return { service, publish }
  })

/** A page that matches the rule. */
export const page = (number: number, more = "") => ({
  document: {
    url: `https://news.example.com/${number}`,
    title: `storm ${number}`,
    publish_time: new Date().toISOString().slice(0, 19),
    diff: { chunks: [{ typ: "ins", text: `storm ${number} ${more}` }] }
  }
})

export const ask = (service: Served, path: string, body: unknown) =>
  Effect.promise(async () => {
    const answer = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const json = (await answer.json()) as Readonly<Record<string, unknown>>
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), body: json }
  })

/** The titles of all stored matches; empty while the store is down. */
export const allTitles = (service: Served) =>
  Effect.gen(function* () {
    const titles: Array<string> = []
    let cursor: string | undefined
    do {
      const { status, body } = yield* ask(service, "/matches", { limit: 500, ...(cursor !== undefined && { cursor }) })
      if (status !== 200) return []
      const { matches, next_cursor } = body as unknown as typeof MatchList.Encoded
      titles.push(...matches.map(({ payload }) => String((payload["document"] as { title: string }).title)))
      cursor = next_cursor
    } while (cursor !== undefined)
    return titles
  })
