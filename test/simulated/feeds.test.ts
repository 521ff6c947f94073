/** The oracle of coverage of feeds: with faults and restarts, each item that a rule meets is stored, or lies in a gap. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, LogLevel, Option } from "effect"
import { seeded } from "../../adapters/demo/random.ts"
import * as Feeds from "../../adapters/feeds/Feeds.ts"
import { Addresses } from "../../adapters/http/addresses.ts"
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
import { objectOf, textOf } from "../../core/text/json.ts"
import { endpoints } from "../../simulator/endpoints.ts"
import type { FaultRequest } from "../../simulator/faults.ts"
import type { ItemTruth } from "../../simulator/feeds/FeedsState.ts"
import * as Simulator from "../../simulator/Simulator.ts"
import { networkOf } from "../adapters/feeds/inProcess.ts"
import { parserHere } from "../adapters/feeds/parserHere.ts"
import { ann } from "../core/world.ts"
import { sized } from "../long.ts"
import { quotas } from "../quotas.ts"
import { memoryStores } from "../stores/memoryStores.ts"
import { SimulatedClock, settle } from "./SimulatedClock.ts"

const START = Date.UTC(2026, 10, 15, 12)
const SEEDS = sized(1, 50)
const HOURS = sized(2, 8)
const WINDOW = 10

/** Made-up items of the simulator meet none. */
const FILTERS = {
  quokka: ({ title }: Item) => title.includes("quokka"),
  "axolotl -rain": ({ title }: Item) => /axolotl(?!.*rain)/.test(title),
  "quokka AND page_type:json": ({ title, feed }: Item) => title.includes("quokka") && feed === "4.json"
}
type Filter = keyof typeof FILTERS

interface Item {
  readonly title: string
  readonly feed: string
}

describe("feeds with faults and restarts", () => {
  for (const seed of Array.from({ length: SEEDS }, (_, index) => index + 1)) {
    it.live(`stores each item that a rule meets, or has a gap for its time, seed ${seed}`, () =>
      Effect.gen(function* () {
        const found = yield* run(seed)
        const { pairs, missed, unseen, inGaps, wrong, repeated, faults, history } = found
        console.log(`${pairs} items for rules, ${inGaps} in gaps, ${found.scrolled} never shown, ${faults.size} faults`)
        const told = `; ${history.join(", ")}`
        assert.deepStrictEqual(missed, [], `shown, and missed outside of gaps${told}`)
        assert.deepStrictEqual(unseen, [], `never shown, outside of gaps${told}`)
        assert.deepStrictEqual(wrong, [], "matches of items that the rule does not meet")
        assert.deepStrictEqual(repeated, [], `items that are stored twice${told}`)
        assert.isAbove(pairs, 10 * HOURS)
        assert.isBelow(inGaps, 0.6 * pairs)
      })
    )
  }
})

// ---- helpers ----

const URLS = ["http://one.example", "http://one.example", "http://two.example", "http://three.example"].map(
  (site, index) => `${site}/feeds/${endpoints.feeds[index]}`
)

/** The adapter, and all that it needs. */
const adapterOn = (simulator: Simulator.Simulator) =>
  Layer.merge(
    Feeds.layerWith({
      urls: URLS,
      addresses: new Addresses({ who: "feeds", setting: "EARSHOT_FEED_ALLOW" }),
      parser: parserHere,
      listMillis: 60_000
    }),
    networkOf(simulator)
  )

const run = (seed: number) => {
  const clock = new SimulatedClock(START)
  const random = seeded(seed)
  const faults = new Set<string>()
  const history: Array<string> = []
  const now = () => clock.unsafeCurrentTimeMillis()
  const note = (text: string) => history.push(`${Math.round((now() - START) / 60_000)} ${text}`)

  return Effect.gen(function* () {
    const validators = random.pick(["both", "etag", "last-modified", "none"] as const)
    const simulator = yield* Simulator.make({ seed, settings: { feeds: { window: WINDOW, validators } } })
    const { control } = simulator
    let number = 0
    let goneAt = Number.POSITIVE_INFINITY

    const publish = (feed: string, count = 1) =>
      Effect.orDie(
        control.publish(
          Array.from({ length: count }, () => {
            const words = random.pick([
              "quokka",
              "axolotl",
              "axolotl in the rain",
              "quokka and axolotl",
              "bird"
            ] as const)
            const title = `${words} ${++number}`
            // Some sites link all their items to the same page, and some to none.
            const url =
              feed === "3.xml"
                ? { url: "https://example.org/status" }
                : random.chance(0.1)
                  ? {}
                  : { url: `https://example.org/${number}` }
            const item = { id: `item-${number}`, title, ...url, published: new Date(now()).toISOString() }
            return { feed: { url: `/feeds/${feed}` }, item }
          })
        )
      )

    /** On one feed, most of the time. */
    const injectFault = Effect.gen(function* () {
      const one = random.pick(endpoints.feeds)
      const target = { platform: "feeds" as const, ...(random.chance(0.85) && { endpoint: one }) }
      const some = {
        ...target,
        ...(random.chance(0.7) ? { count: 1 + random.below(3) } : { seconds: random.below(5_400) })
      }
      const fault: FaultRequest = random.pick<FaultRequest>([
        { kind: "refuse", ...some },
        { kind: "redirect", ...target, status: 301, count: 1 + random.below(4) },
        { kind: "redirect", ...some, status: 302 },
        { kind: "server-error", ...some, status: 500 },
        {
          kind: "rate-limit",
          ...target,
          headers: random.chance(0.8),
          date: random.chance(0.5),
          reset_seconds: random.below(7_200)
        },
        { kind: "window-jump", ...target },
        { kind: "new-ids", ...target },
        { kind: "wrong-charset", ...some },
        { kind: "entity-bomb", ...target },
        { kind: "web-page", ...some },
        { kind: "torn-line", ...target },
        { kind: "cut", ...some },
        { kind: "oversized", ...target, bytes: 100_000_000 },
        { kind: "slow", ...target, bytes: 200 + random.below(3_000), millis: random.below(3_000) },
        ...(random.chance(0.05) && goneAt > now() && now() > START + HOURS * 1_800_000
          ? [{ kind: "gone" as const, platform: "feeds" as const, endpoint: "2.xml" }]
          : [])
      ])
      if (fault.kind === "gone") goneAt = now()
      faults.add(fault.kind)
      note(`${fault.kind} ${fault.endpoint ?? "all"} ${fault.count ?? ""}`)
      yield* control.inject(fault)
    })

    /** One life of the service. */
    const live = (minutes: number, isCalm = false) =>
      Effect.gen(function* () {
        const { reconcile } = yield* Registrations
        yield* reconcile
        yield* Layer.build(Ingest.layer)
        yield* settle
        for (let minute = 0; minute < minutes; minute++) {
          yield* clock.advance(random.below(60))
          for (const feed of endpoints.feeds) if (random.chance(0.15)) yield* publish(feed)
          if (random.chance(0.01)) yield* publish(random.pick(endpoints.feeds), 5 + random.below(12))
          if (!isCalm && random.chance(0.04)) yield* injectFault
          yield* clock.advance(20 + random.below(20))
          if (minute % 10 === 0) yield* reconcile
        }
      }).pipe(Effect.scoped, Effect.provide(serviceOn(simulator)))

    const away = (minutes: number) =>
      Effect.gen(function* () {
        for (let left = minutes; left > 0; left--) {
          yield* publish(random.pick(endpoints.feeds))
          yield* clock.advance(60)
        }
      })

    /** Without faults and new items, until every feed was read once more. */
    const calmDown = Effect.gen(function* () {
      yield* control.clear()
      yield* live(1, true)
      for (const feed of endpoints.feeds) yield* publish(feed)
      yield* Effect.gen(function* () {
        yield* Layer.build(Ingest.layer)
        for (let left = 26 * 6; left > 0; left--) {
          yield* clock.advance(600)
          const truth = yield* control.itemTruth
          const newest = new Map(truth.map((item) => [item.feed, item]))
          if ([...newest.values()].every(({ feed, firstShownAt }) => isGone(feed) || firstShownAt !== undefined)) break
        }
        yield* clock.advance(60)
      }).pipe(Effect.scoped, Effect.provide(serviceOn(simulator)))
    })
    const isGone = (feed: string) => feed === "2.xml" && goneAt <= now()

    const stores = yield* Layer.build(memoryStores)
    return yield* Effect.gen(function* () {
      const rules = yield* Effect.gen(function* () {
        const rules = yield* Rules
        return yield* Effect.forEach(Object.keys(FILTERS) as Array<Filter>, (filter) =>
          Effect.map(
            rules.create(ann, { name: filter, intent: filter, platforms: ["feeds"], overrides: { feeds: filter } }),
            ({ id }) => ({ id, filter })
          )
        )
      }).pipe(Effect.provide(serviceOn(simulator)))
      for (const feed of endpoints.feeds) yield* publish(feed, random.below(WINDOW))
      // The first poll of a feed shows what is not new: a stop before it is stored would make the next one the first.
      yield* live(30, true)
      let left = HOURS * 60
      while (left > 0) {
        const minutes = Math.min(left, 10 + random.below(180))
        left -= minutes
        note("start")
        yield* live(minutes)
        note("stop")
        yield* away(random.below(random.pick([3, 40])))
      }
      yield* calmDown
      const truth = yield* control.itemTruth
      const { faults_fired } = yield* control.state
      for (const name of faults) if (faults_fired[`feeds.${name}`] === undefined) faults.delete(name)
      return { ...(yield* judge(rules, truth, goneAt)), faults, history }
    }).pipe(Effect.provide(stores))
  }).pipe(
    Effect.scoped,
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.none)),
    Logger.withMinimumLogLevel(LogLevel.None),
    clock.run
  )
}

const judge = (
  rules: ReadonlyArray<{ readonly id: string; readonly filter: Filter }>,
  truth: ReadonlyArray<ItemTruth>,
  goneAt: number
) =>
  Effect.gen(function* () {
    const matches = yield* MatchStore
    const streams = yield* StreamStore
    const { items } = yield* matches.list({
      account: ann,
      rules: Option.none(),
      platforms: ["feeds"],
      before: Option.none(),
      limit: 1e6
    })
    const stored = new Map<string, number>()
    for (const { rule_id, payload } of items) {
      const key = `${rule_id} ${textOf(objectOf(payload.value["item"])?.["title"])}`
      stored.set(key, (stored.get(key) ?? 0) + 1)
    }
    const record = yield* streams.load("feeds")
    const gaps = [
      ...(yield* streams.gaps("feeds", { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1e6 })).filter(
        ({ isRecovered, isSuspected }) => isSuspected || !isRecovered
      ),
      ...Option.toArray(Option.flatMap(record, ({ ledger }) => ledger.openGap)).map(({ since }) => ({
        from: since,
        to: Number.POSITIVE_INFINITY
      }))
    ]
    const isInGap = (at: number) => gaps.some(({ from, to }) => at >= from && at <= to)
    const missed: Array<string> = []
    const unseen: Array<string> = []
    const expected = new Set<string>()
    let pairs = 0
    let inGaps = 0
    let scrolled = 0
    for (const { id, filter } of rules) {
      for (const { title = "", feed, publishedAt, firstShownAt, isInFirstDocument } of truth) {
        if (!FILTERS[filter]({ title, feed })) continue
        const key = `${id} ${title}`
        expected.add(key)
        if (isInFirstDocument) continue
        pairs++
        if (firstShownAt === undefined) scrolled++
        if (stored.has(key)) continue
        const isUnasked = firstShownAt === undefined && feed === "2.xml" && publishedAt >= goneAt
        if (isInGap(publishedAt)) inGaps++
        else if (!isUnasked) {
          const times = [publishedAt, firstShownAt].map((at) => at && Math.round((at - START) / 60_000))
          ;(firstShownAt === undefined ? unseen : missed).push(`${filter}: ${title} of ${feed} at ${times.join(", ")}`)
        }
      }
    }
    return {
      pairs,
      inGaps,
      scrolled,
      missed,
      unseen,
      wrong: [...stored.keys()].filter((key) => !expected.has(key)),
      repeated: [...stored].flatMap(([key, count]) => (count > 1 ? [`${key}: ${count}`] : []))
    }
  })

const serviceOn = (simulator: Simulator.Simulator) =>
  Layer.mergeAll(Rules.layer, Withdrawals.layer).pipe(
    Layer.provideMerge(Redactions.layer),
    Layer.provideMerge(Layer.provideMerge(PostBudget.layer, Registrations.layerWithChanges)),
    Layer.provideMerge(adapterOn(simulator)),
    Layer.provideMerge(quotas()),
    Layer.provideMerge(Platforms.layer),
    Layer.provideMerge(recentEvents),
    Layer.provideMerge(Layer.provideMerge(Ids.layer, Entropy.layerCounting))
  )

/** On the real clock: it works every second, which makes simulated days slow. */
const recentEvents = Layer.scopedContext(
  Effect.withClock(Layer.build(RecentEvents.layerWith({ keep: 0 })), Clock.make())
)
