/** Postgres goes away under load and comes back: the service recovers by itself, and nothing is lost. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import * as Simulator from "../../adapters/simulator/Simulator.ts"
import { serve } from "../../adapters/simulator/server.ts"
import type { MatchList } from "../../core/Matches.ts"
import { startPostgres } from "../postgres.ts"
import { KEY, type Running, startService } from "../program.ts"

describe("Postgres that is stopped and started under load", () => {
  it.scopedLive("costs no page, and callers are told to come back meanwhile", () =>
    Effect.gen(function* () {
      const postgres = yield* Effect.acquireRelease(
        Effect.promise(() => startPostgres()),
        ({ remove }) => Effect.promise(remove)
      )
      const simulator = yield* Simulator.make({ seed: 1 })
      const url = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
      const service = yield* Effect.acquireRelease(
        Effect.promise(() =>
          startService("node", {
            DATABASE_URL: postgres.url,
            FIREHOSE_BASE_URL: url,
            FIREHOSE_TAP_TOKEN: simulator.control.settings.firehose.tap_token
          })
        ),
        (running) => Effect.promise(() => running.stop())
      )
      const rule = { name: "n", intent: "i", platforms: ["firehose"], overrides: { firehose: "storm" } }
      assert.strictEqual((yield* ask(service, "/api.CreateRule", rule)).status, 200)

      let published = 0
      const publish = Effect.suspend(() => {
        const numbers = Array.from({ length: 10 }, () => ++published)
        return Effect.orDie(simulator.control.publish(numbers.map(page)))
      })
      const load = yield* Effect.fork(Effect.repeat(publish, Schedule.spaced("50 millis")))
      yield* Effect.sleep("2 seconds")

      yield* Effect.promise(postgres.stop)
      const away = yield* Effect.repeat(ask(service, "/matches", {}), {
        until: ({ status }) => status === 503,
        schedule: Schedule.spaced("100 millis").pipe(Schedule.intersect(Schedule.recurs(100)))
      }).pipe(Effect.flatMap(() => ask(service, "/matches", {})))
      assert.strictEqual(away.status, 503)
      assert.strictEqual(away.body["code"], "unavailable")
      assert.match(away.retryAfter ?? "", /^\d+$/)
      yield* Effect.sleep("5 seconds")

      yield* Effect.promise(postgres.start)
      yield* Effect.sleep("2 seconds")
      yield* Fiber.interrupt(load)
      const listed = yield* Effect.repeat(Effect.delay(allTitles(service), "500 millis"), {
        until: (titles) => titles.length >= published,
        times: 60
      })
      const all = Array.from({ length: published }, (_, index) => `storm ${index + 1}`)
      assert.isAbove(published, 500)
      assert.sameMembers(listed, all, "each once")
    })
  )
})

// ---- helpers ----

const page = (number: number) => ({
  document: {
    url: `https://news.example.com/${number}`,
    title: `storm ${number}`,
    publish_time: new Date().toISOString().slice(0, 19),
    diff: { chunks: [{ typ: "ins", text: `storm ${number}` }] }
  }
})

const ask = (service: Running, path: string, body: unknown) =>
  Effect.promise(async () => {
    const answer = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const json = (await answer.json()) as Readonly<Record<string, unknown>>
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), body: json }
  })

/** Of every stored match, page by page. */
const allTitles = (service: Running) =>
  Effect.gen(function* () {
    const titles: Array<string> = []
    let cursor: string | undefined
    do {
      const { status, body } = yield* ask(service, "/matches", { limit: 500, ...(cursor !== undefined && { cursor }) })
      if (status !== 200) return []
      const { matches, next_cursor } = body as unknown as MatchList
      titles.push(...matches.map(({ payload }) => String((payload["document"] as { title: string }).title)))
      cursor = next_cursor
    } while (cursor !== undefined)
    return titles
  })
