/** A Postgres restart under load: the service recovers and loses no page. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { startPostgres } from "../../fixtures/postgres.ts"
import { allTitles, ask, page, startWithFirehose } from "./pages.ts"

describe("a Postgres restart under load", () => {
  it.scopedLive("loses no page, and callers get 503 with Retry-After meanwhile", () =>
    Effect.gen(function* () {
      const postgres = yield* Effect.acquireRelease(
        Effect.promise(() => startPostgres()),
        ({ remove }) => Effect.promise(remove)
      )
      const { service, publish } = yield* startWithFirehose({ DATABASE_URL: postgres.url })

      let published = 0
      const publishSome = Effect.suspend(() => publish(Array.from({ length: 10 }, () => page(++published))))
      const load = yield* Effect.fork(Effect.repeat(publishSome, Schedule.spaced("50 millis")))
      yield* Effect.sleep("2 seconds")

      yield* Effect.promise(postgres.stop)
      const unavailable = yield* Effect.repeat(ask(service, "/matches", {}), {
        until: ({ status }) => status === 503,
        schedule: Schedule.spaced("100 millis").pipe(Schedule.intersect(Schedule.recurs(100)))
      }).pipe(Effect.flatMap(() => ask(service, "/matches", {})))
      assert.strictEqual(unavailable.status, 503)
      assert.strictEqual(unavailable.body["code"], "unavailable")
      assert.match(unavailable.retryAfter ?? "", /^\d+$/)
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
      assert.sameMembers(listed, all, "each page once")
    })
  )
})
