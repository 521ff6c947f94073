/** The compliance job on the real X adapter and the simulator, on the test clock. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Option, Redacted, Scope, Stream } from "effect"
import { Fetch } from "../../../adapters/http/Fetch.ts"
import * as X from "../../../adapters/x/X.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import * as Compliance from "../../../core/compliance/Compliance.ts"
import { Redactions } from "../../../core/compliance/Redactions.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { Platforms } from "../../../core/platforms/Platform.ts"
import { PLATFORM_IDS } from "../../../fixtures/languages.ts"
import { newAccount, newMatch, visibleRule } from "../../contract/samples.ts"
import { defaults, pass, postOf, type Stage, stage } from "../../simulator/stage.ts"
import { memoryStores } from "../../stores/memoryStores.ts"

const HOUR = 3_600

describe("Compliance", () => {
  it.scoped(
    "redacts the posts that are deleted, withheld, protected or edited on X, with the reason, and no other",
    () =>
      withJob({}, ({ on, publish, start, states }) =>
        Effect.gen(function* () {
          const ids = yield* publish(12)
          yield* on.control.changePosts({ ids: ids.slice(0, 2), state: "deleted" })
          yield* on.control.changePosts({ ids: ids.slice(2, 4), state: "withheld" })
          yield* on.control.changePosts({ ids: ids.slice(4, 6), state: "protected" })
          yield* on.control.changePosts({ ids: ids.slice(6, 8), state: "edited" })
          yield* start
          yield* pass(2)
          const expected = ["deleted", "withheld", "withheld", "edited", undefined, undefined]
          assert.deepStrictEqual(
            yield* states,
            expected.flatMap((reason) => [reason, reason])
          )
          assert.strictEqual(yield* lookUps(on), 1)
        })
      )
  )

  it.scoped("asks for 100 posts per call, each post once per interval, and goes on at its place after a restart", () =>
    withJob({}, ({ on, publish, start, stop, states }) =>
      Effect.gen(function* () {
        const ids = yield* publish(1_250)
        yield* start
        yield* pass(0)
        assert.strictEqual(yield* lookUps(on), 5)
        yield* stop
        yield* start
        yield* pass(10)
        assert.strictEqual(yield* lookUps(on), 13, "the first 500 posts are not asked for again")
        yield* on.control.changePosts({ ids: ids.slice(-1), state: "deleted" })
        yield* pass(HOUR - 60)
        assert.strictEqual(yield* lookUps(on), 13)
        assert.deepStrictEqual(new Set(yield* states), new Set([undefined]))
        yield* pass(120)
        assert.strictEqual(yield* lookUps(on), 26)
        assert.deepStrictEqual((yield* states).at(-1), "deleted")
        assert.lengthOf(
          (yield* states).filter((reason) => reason !== undefined),
          1
        )
      })
    )
  )

  it.scoped("is off by default", () =>
    withJob({ lookUpInterval: Duration.zero }, ({ on, publish, start, states }) =>
      Effect.gen(function* () {
        const ids = yield* publish(2)
        yield* on.control.changePosts({ ids, state: "deleted" })
        yield* start
        yield* pass(24 * HOUR)
        assert.deepStrictEqual([yield* lookUps(on), ...(yield* states)], [0, undefined, undefined])
      })
    )
  )

  it.scoped("redacts nothing while X fails, waits out its limits, and then goes on", () =>
    withJob({}, ({ on, publish, start, states }) =>
      Effect.gen(function* () {
        const ids = yield* publish(3)
        yield* on.control.changePosts({ ids: ids.slice(0, 1), state: "deleted" })
        const fault = { platform: "x", endpoint: "posts", count: 1 } as const
        yield* on.control.inject({ ...fault, kind: "rate-limit", reset_seconds: 600, headers: true })
        yield* start
        yield* pass(599)
        assert.strictEqual(yield* lookUps(on), 1)
        yield* on.control.inject({ ...fault, kind: "server-error", status: 503 })
        yield* pass(10)
        assert.deepStrictEqual([yield* lookUps(on), ...(yield* states)], [2, undefined, undefined, undefined])
        yield* pass(300)
        assert.deepStrictEqual([yield* lookUps(on), ...(yield* states)], [3, "deleted", undefined, undefined])
      })
    )
  )

  it.scoped("does not ask for posts of other platforms, for redacted posts, or for ids that are not X's", () =>
    withJob({}, ({ on, publish, start, rule }) =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const [first = ""] = yield* publish(1)
        yield* store.insert([
          newMatch(rule, { platform: "firehose", platform_post_id: "5" }),
          newMatch(rule, { platform_post_id: "not-a-number" })
        ])
        const redactions = yield* Redactions
        yield* redactions.redact({ platform: "x", platform_post_ids: [first], reason: "operator" })
        yield* start
        yield* pass(10)
        assert.strictEqual(yield* lookUps(on), 0)
      })
    )
  )
})

// ---- helpers ----

interface Job {
  readonly on: Stage
  readonly rule: ReturnType<typeof newMatch>["rule_id"]
  /** Publishes posts on X and stores a match of each. Returns their ids. */
  readonly publish: (count: number) => Effect.Effect<ReadonlyArray<string>, unknown>
  readonly start: Effect.Effect<void>
  readonly stop: Effect.Effect<void>
  /** Why each match was redacted, oldest first. */
  readonly states: Effect.Effect<ReadonlyArray<string | undefined>, unknown>
}

const noEvents = Layer.succeed(RecentEvents, {
  keep: 0,
  record: () => Effect.void,
  newest: () => Stream.empty,
  remove: () => Effect.void
})

const withJob = <E>(
  { lookUpInterval = Duration.hours(1) }: { readonly lookUpInterval?: Duration.Duration },
  body: (job: Job) => Effect.Effect<void, E, MatchStore | Redactions>
) =>
  Effect.gen(function* () {
    const on = yield* stage()
    const x = X.layerWith({
      baseUrl: "http://x.test",
      token: Redacted.make(defaults.x.bearer_token),
      rulesPerAccount: 0,
      pricePerPost: 0,
      lookUpInterval
    })
    const layer = Redactions.layer.pipe(
      Layer.provideMerge(x),
      Layer.provideMerge(Layer.mergeAll(Platforms.layer, memoryStores, noEvents, Entropy.layerCounting))
    )
    yield* Effect.gen(function* () {
      const store = yield* MatchStore
      const account = yield* newAccount
      const rule = (yield* visibleRule(account)).id
      const job = Layer.provide(Compliance.layer, Layer.succeedContext(yield* Effect.context<JobServices>()))
      let scope = yield* Scope.make()
      let published = 0

      yield* body({
        on,
        rule,
        publish: (count) =>
          Effect.gen(function* () {
            const posts = Array.from({ length: count }, () => postOf("a cat", ++published))
            yield* on.control.publish(posts)
            yield* store.insert(posts.map((payload) => newMatch(rule, { platform_post_id: payload.data.id, payload })))
            return posts.map(({ data }) => data.id)
          }),
        start: Effect.gen(function* () {
          scope = yield* Scope.make()
          yield* Layer.buildWithScope(job, scope)
        }),
        stop: Effect.suspend(() => Scope.close(scope, Exit.void)),
        states: Effect.map(
          store.list({ account, rules: Option.none(), platforms: PLATFORM_IDS, before: Option.none(), limit: 5_000 }),
          ({ items }) => items.map(({ redacted }) => redacted?.reason).reverse()
        )
      })
      yield* Scope.close(scope, Exit.void)
    }).pipe(Effect.provide(layer), Effect.provideService(Fetch, { send: on.handler }))
  })

type JobServices = Layer.Layer.Context<typeof Compliance.layer>

/** Calls of `GET /2/tweets` that the simulator answered. */
const lookUps = (on: Stage) => Effect.map(on.control.state, ({ calls }) => calls["x.posts"]?.calls ?? 0)
