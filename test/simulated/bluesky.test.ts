/** The oracle of coverage on Bluesky: with faults and restarts, each post that a rule meets is stored, or lies in a gap. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, Option } from "effect"
import * as Bluesky from "../../adapters/bluesky/Bluesky.ts"
import { seeded } from "../../adapters/demo/random.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { PostBudget } from "../../core/budget/PostBudget.ts"
import { Redactions } from "../../core/compliance/Redactions.ts"
import { Withdrawals } from "../../core/compliance/Withdrawals.ts"
import { StreamStore } from "../../core/coverage/StreamStore.ts"
import * as Ingest from "../../core/ingest/Ingest.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { Ids } from "../../core/model/Ids.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { Registrations } from "../../core/rules/Registrations.ts"
import { Rules } from "../../core/rules/Rules.ts"
import { Jetstream } from "../../simulator/bluesky/Jetstream.ts"
import { socketsOn } from "../adapters/bluesky/inProcess.ts"
import { ann } from "../core/world.ts"
import { sized } from "../long.ts"
import { quotas } from "../quotas.ts"
import { memoryStores } from "../stores/memoryStores.ts"
import { SimulatedClock, settle } from "./SimulatedClock.ts"

const START = Date.UTC(2026, 10, 15, 12)
const SEEDS = sized(1, 50)
const MINUTES = sized(4, 10)

const FILTERS = {
  storm: (text: string) => text.includes("storm"),
  "flood -rain": (text: string) => /flood(?!.*rain)/.test(text)
}
type Filter = keyof typeof FILTERS

interface Published {
  readonly uri: string
  readonly did: string
  readonly text: string
  readonly at: number
  withdrawn: boolean
  /** When that was told: in a gap, nobody hears of it. */
  withdrawnAt: number
}

describe("bluesky with faults and restarts", () => {
  for (const seed of Array.from({ length: SEEDS }, (_, index) => index + 1)) {
    it.live(`stores each post that a rule meets, or has a gap for its time, seed ${seed}`, () =>
      Effect.gen(function* () {
        const { pairs, missed, inGaps, wrong, shown, faults, history } = yield* run(seed)
        console.log(`${pairs} posts for rules, ${inGaps} in gaps, ${faults.size} kinds of faults`)
        assert.deepStrictEqual(missed, [], `missed outside of gaps; ${history.join(", ")}`)
        assert.deepStrictEqual(wrong, [], "matches of posts that the rule does not meet")
        assert.deepStrictEqual(shown, [], "withdrawn posts that are shown")
        assert.isAbove(pairs, 30 * MINUTES)
        assert.isBelow(inGaps, pairs / 2)
      })
    )
  }
})

// ---- helpers ----

const run = (seed: number) => {
  const clock = new SimulatedClock(START)
  const random = seeded(seed)
  const jetstream = new Jetstream()
  const posts: Array<Published> = []
  const faults = new Set<string>()
  const history: Array<string> = []
  const now = () => clock.unsafeCurrentTimeMillis()

  const publish = () => {
    const did = `did:plc:${"abcdefgh".charAt(random.below(8))}`
    const text = random.pick([
      "a storm",
      "storm and flood",
      "flood",
      "flood in the rain",
      "sun",
      "nothing at all"
    ] as const)
    const rkey = `3l${posts.length}`
    posts.push({
      uri: `at://${did}/app.bsky.feed.post/${rkey}`,
      did,
      text,
      at: now(),
      withdrawn: false,
      withdrawnAt: 0
    })
    jetstream.publish({ did, commit: { rkey, record: { text, createdAt: new Date(now()).toISOString() } } }, now())
  }

  const withdraw = () => {
    const post = posts[random.below(posts.length)]
    if (post === undefined) return
    if (random.chance(0.95)) {
      Object.assign(post, { withdrawn: true, withdrawnAt: now() })
      jetstream.delete(post.did, post.uri.split("/").at(-1) ?? "", now())
      return
    }
    for (const one of posts) if (one.did === post.did) Object.assign(one, { withdrawn: true, withdrawnAt: now() })
    jetstream.account(post.did, { active: false, status: random.pick(["deactivated", "deleted"] as const) }, now())
    jetstream.account(post.did, { active: true }, now() + 1)
  }

  const kinds: Readonly<Record<string, () => void>> = {
    shutdown: () => jetstream.inject({ close: 1001 }, now()),
    cut: () => jetstream.inject({ close: 1006 }, now()),
    refused: () => jetstream.inject({ close: 1006, refuse: { status: 503, times: 1 + random.below(4) } }, now()),
    limited: () => jetstream.inject({ close: 1006, refuse: { status: 429, times: 1 } }, now()),
    stall: () => jetstream.inject({ stallSeconds: 20 + random.below(60) }, now()),
    duplicates: () => jetstream.inject({ duplicates: 20 }, now()),
    torn: () => jetstream.inject({ torn: true }, now()),
    error: () => jetstream.inject({ error: "ConsumerTooSlow" }, now()),
    trimmed: () =>
      jetstream.inject({ trimSeconds: random.below(20), close: 1006, refuse: { status: 503, times: 4 } }, now()),
    anew: () => jetstream.inject({ countAnew: true, close: 1001 }, now()),
    sync: () => jetstream.sync("did:plc:a", now())
  }

  /** One life of the service. Returns when it was stopped. */
  const live = (seconds: number, baseUrl: string) =>
    Effect.gen(function* () {
      const { reconcile } = yield* Registrations
      yield* reconcile
      yield* Layer.build(Ingest.layer)
      yield* settle
      for (let second = 0; second < seconds; second++) {
        publish()
        if (random.chance(0.7)) publish()
        if (random.chance(0.1)) withdraw()
        if (random.chance(0.04)) {
          const [kind, inject] = random.pick(Object.entries(kinds) as [[string, () => void]])
          faults.add(kind)
          history.push(`${(now() - START) / 1_000} ${kind}`)
          inject()
        }
        yield* clock.advance(1)
        if (second % 20 === 0) yield* reconcile
      }
    }).pipe(Effect.scoped, Effect.provide(serviceOn(jetstream, baseUrl)))

  return Effect.gen(function* () {
    const stores = yield* Layer.build(memoryStores)
    return yield* Effect.gen(function* () {
      const rules = yield* Rules
      const ids = yield* Effect.forEach(Object.keys(FILTERS) as Array<Filter>, (filter) =>
        Effect.map(
          rules.create(ann, { name: filter, intent: filter, platforms: ["bluesky"], overrides: { bluesky: filter } }),
          ({ id }) => ({ id, filter })
        )
      )
      return ids
    }).pipe(
      Effect.provide(serviceOn(jetstream, HOSTS[0])),
      Effect.flatMap((rules) =>
        Effect.gen(function* () {
          let left = MINUTES * 60
          while (left > 0) {
            const seconds = Math.min(left, 30 + random.below(150))
            left -= seconds
            history.push(`${(now() - START) / 1000} start`)
            yield* live(seconds, random.chance(0.8) ? HOSTS[0] : HOSTS[1])
            for (let away = random.below(40); away > 0; away--) {
              publish()
              yield* clock.advance(1)
            }
            if (random.chance(0.3)) jetstream.inject({ trimSeconds: random.below(15) }, now())
          }
          yield* calmDown(clock, publish, jetstream)
          return { ...(yield* judge(rules, posts, faults)), history }
        })
      ),
      Effect.provide(stores)
    )
  }).pipe(
    Effect.scoped,
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.none)),
    Logger.withMinimumLogLevel(LogLevel.None),
    clock.run
  )
}

/** The numbers of the two are not the same. */
const HOSTS = ["http://east.example", "http://west.example"] as const

/** Without faults, until everything is stored. */
const calmDown = (clock: SimulatedClock, publish: () => void, jetstream: Jetstream) =>
  Effect.gen(function* () {
    const { reconcile } = yield* Registrations
    yield* reconcile
    yield* Layer.build(Ingest.layer)
    for (let second = 0; second < 120; second++) {
      if (second < 100) publish()
      else jetstream.identity("did:plc:a", "a.example", clock.unsafeCurrentTimeMillis())
      yield* clock.advance(1)
    }
    yield* settle
  }).pipe(Effect.scoped, Effect.provide(serviceOn(jetstream, HOSTS[0])))

const judge = (
  rules: ReadonlyArray<{ readonly id: string; readonly filter: Filter }>,
  posts: ReadonlyArray<Published>,
  faults: ReadonlySet<string>
) =>
  Effect.gen(function* () {
    const matches = yield* MatchStore
    const streams = yield* StreamStore
    const { items } = yield* matches.list({
      account: ann,
      rules: Option.none(),
      platforms: ["bluesky"],
      before: Option.none(),
      limit: 1e6
    })
    const stored = new Map(items.map((match) => [`${match.rule_id} ${match.platform_post_id}`, match]))
    const record = yield* streams.load("bluesky")
    const gaps = [
      ...(yield* streams.gaps("bluesky", { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1e6 })).filter(
        ({ isRecovered, isSuspected }) => !(isRecovered || isSuspected)
      ),
      ...Option.toArray(Option.flatMap(record, ({ ledger }) => ledger.openGap)).map(({ since }) => ({
        from: since,
        to: Number.POSITIVE_INFINITY
      }))
    ]
    const until = Option.match(record, { onNone: () => 0, onSome: ({ ledger }) => ledger.watchedUntil })
    const isInGap = ({ at }: { readonly at: number }) =>
      at > until || gaps.some(({ from, to }) => at >= from && at <= to)
    const missed: Array<string> = []
    let pairs = 0
    let inGaps = 0
    const expected = new Set<string>()
    for (const { id, filter } of rules) {
      for (const post of posts) {
        if (!FILTERS[filter](post.text)) continue
        pairs++
        expected.add(`${id} ${post.uri}`)
        if (isInGap(post)) inGaps++
        // What was withdrawn before it could be read need not be stored.
        else if (!(stored.has(`${id} ${post.uri}`) || post.withdrawn))
          missed.push(`${filter} ${post.uri} ${post.at - START}`)
      }
    }
    const withdrawn = new Set(
      posts.filter((post) => post.withdrawn && !isInGap({ at: post.withdrawnAt })).map(({ uri }) => uri)
    )
    return {
      pairs,
      inGaps,
      missed,
      faults,
      wrong: [...stored.keys()].filter((key) => !expected.has(key)),
      shown: items.flatMap(({ platform_post_id, redacted }) =>
        redacted === undefined && withdrawn.has(platform_post_id) ? [platform_post_id] : []
      )
    }
  })

const serviceOn = (jetstream: Jetstream, baseUrl: string) =>
  Layer.mergeAll(Rules.layer, Withdrawals.layer).pipe(
    Layer.provideMerge(Redactions.layer),
    Layer.provideMerge(Layer.provideMerge(PostBudget.layer, Registrations.layerWithChanges)),
    Layer.provideMerge(quotas()),
    Layer.provideMerge(Layer.provide(Bluesky.layerWith({ baseUrl }), socketsOn(jetstream))),
    Layer.provideMerge(Platforms.layer),
    Layer.provideMerge(RecentEvents.layerWith({ keep: 0 })),
    Layer.provideMerge(Layer.provideMerge(Ids.layer, Entropy.layerCounting))
  )
