/** The demo feed: its rate, its recovery, its end, and a fresh start of the program with it. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Layer, Logger, Scope, TestClock } from "effect"
import { pages } from "../../../adapters/demo/pages.ts"
import { posts } from "../../../adapters/demo/posts.ts"
import * as DemoFeed from "../../../adapters/local/DemoFeed.ts"
import { StoreUnavailable } from "../../../core/model/Errors.ts"
import { LocalFeed } from "../../../core/platforms/LocalFeed.ts"
import { call, type Json } from "../../gateway/client.ts"
import { BOTH_RUNTIMES, KEY, START_MILLIS, serveOn } from "../../program.ts"

describe("DemoFeed", () => {
  it.scoped("publishes two posts and one page per second", () =>
    Effect.gen(function* () {
      const { events, layer } = recorder(() => Effect.void)
      yield* Layer.build(layer)
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(counts(events), { posts: 2, pages: 1 })
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(counts(events), { posts: 120, pages: 60 })
    })
  )

  it.scoped("dates a post at the time of publishing", () =>
    Effect.gen(function* () {
      const { events, layer } = recorder(() => Effect.void)
      yield* TestClock.setTime(Date.UTC(2026, 10, 15))
      yield* Layer.build(layer)
      yield* TestClock.adjust("10 seconds")
      const times = Array.from(JSON.stringify(events).matchAll(/\{"data":.*?"created_at":"(.*?)"/g), ([, time]) => time)
      assert.deepStrictEqual([times[0], times.at(-1)], ["2026-11-15T00:00:00.000Z", "2026-11-15T00:00:10.000Z"])
    })
  )

  it.scoped("drops events while the store is down, retries with backoff, and then continues at the same rate", () =>
    Effect.gen(function* () {
      const store = { isDown: true }
      const down = new StoreUnavailable({ operation: "LocalFeed.publish", cause: "down" })
      const { tried, events, layer } = recorder(() => (store.isDown ? down : Effect.void))
      yield* Layer.build(layer)
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(events, [])
      assert.isAtLeast(tried.length, 2 * 10)
      assert.isAtMost(tried.length, 2 * 30)

      store.isDown = false
      yield* TestClock.adjust("31 seconds")
      const before = counts(events)
      yield* TestClock.adjust("60 seconds")
      const after = counts(events)
      assert.deepStrictEqual([after.posts - before.posts, after.pages - before.pages], [120, 60])
      assert.notDeepEqual(events[0], tried[0], "dropped events are not published later")
    }).pipe(Effect.provide(quiet))
  )

  it.scoped("continues after a defect", () =>
    Effect.gen(function* () {
      const { events, tried, layer } = recorder(() => (tried.length < 3 ? Effect.die("a bug") : Effect.void))
      yield* Layer.build(layer)
      yield* TestClock.adjust("60 seconds")
      assert.isAbove(counts(events).posts, 100)
      assert.isAbove(counts(events).pages, 50)
    }).pipe(Effect.provide(quiet))
  )

  it.scoped("publishes one event at a time, so a slow store causes no backlog", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { tried, events, layer } = recorder(() => Deferred.await(gate))
      yield* Layer.build(layer)
      yield* TestClock.adjust("5 minutes")
      assert.lengthOf(tried, 2, "one of each kind waits")
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("10 seconds")
      assert.isAtMost(counts(events).posts, 22)
      assert.isAtMost(counts(events).pages, 12)
    })
  )

  it.effect("stops with its scope", () =>
    Effect.gen(function* () {
      const { tried, layer } = recorder(() => Effect.void)
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(layer, scope)
      yield* TestClock.adjust("10 seconds")
      yield* Scope.close(scope, Exit.void)
      const before = tried.length
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(tried.length, before)
    })
  )
})

for (const runtime of BOTH_RUNTIMES) {
  describe(`a fresh start on ${runtime}`, { timeout: 2 * START_MILLIS }, () => {
    it("gives a first rule its first matches, prints that the feed is on, and stops cleanly", async () => {
      const running = await serveOn(runtime, { EARSHOT_DEMO_FEED: undefined })
      assert.match(await running.printed(/Demo feed: .*/), /^Demo feed: on.*EARSHOT_DEMO_FEED=off/)
      const target = { ...running, key: KEY }
      const { body } = await call(target, "/api.CreateRule", {
        name: "Bitcoin",
        intent: "See a first match",
        platforms: ["x", "firehose"],
        overrides: { x: "bitcoin", firehose: "bitcoin" }
      })
      const matches: Array<Json> = []
      while (new Set(matches.map((match) => match["platform"])).size < 2) {
        await new Promise((resolve) => setTimeout(resolve, 250))
        const found = await call(target, "/matches", { rule_id: body["rule_id"] })
        matches.splice(0, matches.length, ...(found.body["matches"] ?? []))
      }
      assert.match(JSON.stringify(matches), /bitcoin/i)
      const { code, stderr } = await running.stop()
      assert.strictEqual(code, 0, stderr)
      assert.notMatch(stderr, /"level":"(warning|error|fatal)"/i)
    })
  })
}

// ---- helpers ----

const quiet = Logger.remove(Logger.defaultLogger)

/** A feed with a fake port: `tried` has all published events, `events` those that `accept` let through. */
const recorder = (accept: () => Effect.Effect<void, StoreUnavailable>) => {
  const tried: Array<unknown> = []
  const events: Array<unknown> = []
  const port = LocalFeed.of({
    publish: (sent) =>
      Effect.suspend(() => {
        const batch = Array.from(sent, ({ data }) => Either.getOrThrow(data))
        tried.push(...batch)
        return Effect.as(
          Effect.tap(accept(), () => Effect.sync(() => events.push(...batch))),
          { accepted: {}, matches: 0 }
        )
      })
  })
  return { tried, events, layer: Layer.provide(DemoFeed.layerWith(SOURCES), Layer.succeed(LocalFeed, port)) }
}

const SOURCES = [
  { perSecond: 2, make: posts },
  { perSecond: 1, make: pages }
]

const counts = (events: ReadonlyArray<unknown>) => {
  const kinds = events.map((event) => (JSON.stringify(event).startsWith('{"data"') ? "post" : "page"))
  return {
    posts: kinds.filter((kind) => kind === "post").length,
    pages: kinds.filter((kind) => kind === "page").length
  }
}
