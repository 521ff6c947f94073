/** A cursor in the future would hide all matches until then: it is refused. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { firstMatchIdAt } from "../../core/model/Ids.ts"
import { assertError, call, type Target } from "../gateway/client.ts"
import { serve, service } from "../gateway/inProcess.ts"

const MINUTE = 60_000

describe("future cursors", () => {
  it.scopedLive("are refused everywhere", () =>
    Effect.gen(function* () {
      const target = yield* (yield* serve)("ann")
      const now = yield* Clock.currentTimeMillis
      for (const cursor of [firstMatchIdAt(now + 6 * MINUTE), "match_7zzzzzzzzzzzzzzzzzzzzzzzzz"]) {
        for (const [path, body, init] of doors(cursor)) {
          const answer = yield* Effect.promise(() => call(target, path, body, init))
          assertError(answer, 400, "invalid_argument", /"cursor": Lies in the future/)
        }
        const { status, text } = yield* Effect.promise(() => watchOverTrpc(target, cursor))
        assert.strictEqual(status, 200)
        assert.match(text, /Lies in the future/)
        const hook = yield* Effect.promise(() => call(target, "/webhooks/create", { url: "http://127.0.0.1:9999" }))
        const replay = { webhook_id: hook.body["webhook"]?.["id"], after: cursor }
        assertError(yield* Effect.promise(() => call(target, "/webhooks/replay", replay)), 404, "not_found")
      }
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("within five minutes are accepted, for clocks that differ", () =>
    Effect.gen(function* () {
      const target = yield* (yield* serve)("ann")
      const cursor = firstMatchIdAt((yield* Clock.currentTimeMillis) + 4 * MINUTE)
      const wait = { cursor, timeout_seconds: 1 }
      assert.strictEqual((yield* Effect.promise(() => call(target, "/matches", { cursor }))).status, 200)
      assert.strictEqual((yield* Effect.promise(() => call(target, "/matches/wait", wait))).status, 200)
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("are accepted up to the newest id of the store, which another process may have written", () =>
    Effect.gen(function* () {
      const target = yield* (yield* serve)("ann")
      const store = yield* MatchStore
      const now = yield* Clock.currentTimeMillis
      yield* Effect.withClock(store.watermark, {
        ...(yield* Effect.clock),
        currentTimeMillis: Effect.succeed(now + 60 * MINUTE)
      } as Clock.Clock)
      const newest = Option.getOrThrow(yield* store.newest)
      assert.strictEqual((yield* Effect.promise(() => call(target, "/matches", { cursor: newest }))).status, 200)
      const later = { cursor: firstMatchIdAt(now + 61 * MINUTE) }
      assert.strictEqual((yield* Effect.promise(() => call(target, "/matches", later))).status, 400)
    }).pipe(Effect.provide(service))
  )
})

// ---- helpers ----

const doors = (cursor: string): ReadonlyArray<readonly [path: string, body?: unknown, init?: RequestInit]> => [
  ["/matches", { cursor }],
  ["/matches/wait", { cursor, timeout_seconds: 1 }],
  [`/matches/stream?cursor=${cursor}`],
  ["/matches/stream", undefined, { headers: { "last-event-id": cursor } }]
]

const watchOverTrpc = async ({ url, key }: Target, lastEventId: string) => {
  const input = encodeURIComponent(JSON.stringify({ lastEventId }))
  const response = await fetch(`${url}/trpc/matches.watch?input=${input}`, {
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
    signal: AbortSignal.timeout(20_000)
  })
  const reader = response.body?.getReader()
  let text = ""
  while (reader !== undefined && !text.includes("future")) {
    const { done, value } = await reader.read()
    if (done) break
    text += new TextDecoder().decode(value)
  }
  await reader?.cancel()
  return { status: response.status, text }
}
