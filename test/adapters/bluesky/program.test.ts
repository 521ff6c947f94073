/** The program with and without `EARSHOT_BLUESKY=on`. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import * as Simulator from "../../../simulator/Simulator.ts"
import { serve as serveSimulator } from "../../../simulator/server.ts"
import { untilTrue } from "../../eventually.ts"
import { KEY, RUNTIMES, type Served, START_MILLIS, serveInProcess, startService } from "../../program.ts"

const RULE = {
  name: "Storms",
  intent: "Learn of storms",
  platforms: ["bluesky"],
  overrides: { bluesky: "storm" }
}

const serving = (start: Promise<Served>) =>
  Effect.acquireRelease(
    Effect.promise(() => start),
    (served) => Effect.promise(() => served.stop())
  ).pipe(
    Effect.map(
      ({ url }) =>
        (path: string, body?: unknown) =>
          Effect.promise(async () => {
            const answer = await fetch(`${url}${path}`, {
              headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
              ...(body !== undefined && { method: "POST", body: JSON.stringify(body) })
            })
            return { status: answer.status, text: await answer.text() }
          })
    )
  )

describe("the program", () => {
  it.scopedLive(
    "does not show bluesky anywhere unless it is on",
    () =>
      Effect.gen(function* () {
        const ask = yield* serving(serveInProcess())
        const answers = yield* Effect.all([
          ask("/openapi.json"),
          ask("/platforms/syntax", {}),
          ask("/platforms/status"),
          ask("/matches", { platform: "tremors" }),
          ask("/local/events", [{ did: "did:plc:a", commit: { rkey: "1", record: { text: "storm" } } }]),
          ask("/rules/check", { overrides: { x: "storm" }, events: { x: {} } })
        ])
        for (const { text } of answers) assert.notMatch(text, /bluesky|jetstream/i)
        const refused = yield* ask("/api.CreateRule", RULE)
        assert.include(refused.text, 'Expected one of \\"x\\", \\"firehose\\"')
      }),
    START_MILLIS
  )

  for (const runtime of RUNTIMES) {
    it.scopedLive(
      `shows and watches it while it is on, on ${runtime}, and resumes after a restart`,
      () =>
        Effect.gen(function* () {
          const { jetstream, ...simulator } = yield* Simulator.make({ seed: 1 })
          const port = yield* serveSimulator({ jetstream, ...simulator }, { host: "127.0.0.1", port: 0 })
          const ask = yield* serving(
            startService(runtime, { EARSHOT_BLUESKY: "on", BLUESKY_BASE_URL: `http://127.0.0.1:${port}` })
          )
          assert.include((yield* ask("/openapi.json")).text, '"enum":["x","firehose","bluesky"]')
          assert.include((yield* ask("/platforms/syntax", {})).text, "# Filters on Bluesky")
          assert.strictEqual((yield* ask("/api.CreateRule", RULE)).status, 200)
          yield* untilTrue(
            "the stream is open",
            Effect.sync(() => jetstream.connected > 0)
          )
          const post = (rkey: string) =>
            Effect.map(Clock.currentTimeMillis, (now) =>
              jetstream.publish({ did: "did:plc:a", commit: { rkey, record: { text: "A storm" } } }, now)
            )
          const hasMatch = (rkey: string) =>
            untilTrue(
              rkey,
              Effect.map(ask("/matches", { platform: "bluesky" }), ({ text }) =>
                text.includes(`at://did:plc:a/app.bsky.feed.post/${rkey}`)
              )
            )
          yield* post("1")
          yield* hasMatch("1")
          jetstream.inject({ close: 1006, refuse: { status: 503, times: 1 } }, yield* Clock.currentTimeMillis)
          yield* post("2")
          yield* hasMatch("2")
        }),
      2 * START_MILLIS
    )
  }
})
