/**
 * Kills the real program repeatedly during ingest from the simulator. Then compares the listed matches with the published
 * events, and the reported gaps with the downtimes.
 */
import { Clock, Effect, type Scope } from "effect"
import { type Random, seeded } from "../../adapters/demo/random.ts"
import type { MatchList } from "../../core/matches/Matches.ts"
import { INGEST_FAILPOINTS } from "../../core/model/Failpoints.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import { untilTrue } from "../eventually.ts"
import { inSeconds } from "../inSeconds.ts"
import { type Running, type RuntimeName, startService } from "../program.ts"
import { ask } from "./pages.ts"

export interface CrashRun {
  /** Determines everything but the timing. */
  readonly seed: number
  readonly runtime: RuntimeName
  /** Settings of the store. */
  readonly store: Readonly<Record<string, string>>
  /** After the first kill. By default one to three, by the seed. */
  readonly moreKills?: number
}

export interface CrashReport {
  /** Failpoints or times of the kills, in order. */
  readonly kills: ReadonlyArray<string>
  /** Number of matches of all published events. */
  readonly expected: number
  /** Of these, missed in gaps without backfill. */
  readonly missed: number
  readonly differences: ReadonlyArray<string>
}

export const crashRun = ({
  seed,
  runtime,
  store,
  moreKills
}: CrashRun): Effect.Effect<CrashReport, never, Scope.Scope> =>
  Effect.gen(function* () {
    const random = seeded(seed)
    const hasBackfill = seed % 2 === 0
    const publisher = yield* makePublisher(random, { seed, hasBackfill })
    const start = (more: Readonly<Record<string, string>> = {}) =>
      Effect.promise(() => startService(runtime, { ...publisher.settings, ...store, ...more }))

    const first = yield* start()
    const rules = new Map<string, Rule>()
    for (const rule of ruleSamples) rules.set(yield* create(first, rule), rule)
    yield* Effect.forkScoped(publisher.publishing)
    // From here on there is a cursor to resume from.
    yield* untilTrue(
      "matches of both platforms are stored",
      Effect.map(listed(first), ({ matches }) => new Set(matches.map(({ platform }) => platform)).size === 2)
    )
    const warmAt = yield* Clock.currentTimeMillis
    const downs: Array<Down> = []
    const recordKill = (where: string) =>
      Effect.gen(function* () {
        const at = yield* Clock.currentTimeMillis
        yield* Effect.sleep(random.below(400))
        downs.push({ where, at, until: yield* Clock.currentTimeMillis })
      })
    const killSoon = (service: Running) =>
      Effect.gen(function* () {
        const millis = random.below(2_500)
        yield* Effect.sleep(millis)
        service.signal("SIGKILL")
        yield* Effect.promise(() => service.ended)
        yield* recordKill(`${millis} ms after its start`)
      })

    yield* killSoon(first)
    const more = moreKills ?? 1 + random.below(3)
    for (let i = 0; i < more; i++) {
      // Two failpoints, then a random time.
      const failpoint = INGEST_FAILPOINTS[(seed + i) % 3]
      if (failpoint === undefined) {
        yield* killSoon(yield* start())
        continue
      }
      const crashAt = `${failpoint}:${random.below(30)}`
      yield* Effect.promise(() =>
        startService(runtime, { ...publisher.settings, ...store, EARSHOT_CRASH_AT: crashAt }).then(
          ({ ended }) => ended,
          // It may reach the failpoint before it listens.
          (cause: unknown) => (String(cause).includes("It ended with null") ? undefined : Promise.reject(cause))
        )
      )
      yield* recordKill(crashAt)
    }

    const last = yield* start()
    yield* untilTrue("both streams are open", publisher.areStreamsOpen)
    yield* Effect.sleep(1_000)
    const published = yield* publisher.stop
    const expected = published.flatMap((event) => [...rules].flatMap(([id, rule]) => matchesOf(event, id, rule)))
    // Without backfill, X does not resend events that were in flight at a kill. The reported gaps must cover them.
    const requiredWith = (gaps: ReadonlyArray<ReportedGap>) =>
      expected.filter(({ platform, at }) => {
        if (platform !== "x" || hasBackfill) return true
        const unrecovered = gaps.filter((gap) => gap.platform === "x" && !gap.isRecovered)
        return !downs.some((down) => {
          const gap = unrecovered.find(({ from, to }) => from <= down.at && to >= down.at)
          const from = gap === undefined ? down.at : Math.max(gap.from, down.at - UNSTORED_MILLIS)
          return at >= from - IN_FLIGHT_MILLIS && at <= publisher.xOpenAfter(down.at)
        })
      })
    const areAllStored = Effect.map(listed(last), ({ matches, gaps }) => {
      const names = new Set(matches.map(nameOf))
      // Firehose proves a replay by the first new update, or by the end of a silent connection after 30 seconds.
      const isRecovered = gaps.every((gap) => gap.platform === "x" || gap.isRecovered)
      return isRecovered && requiredWith(gaps).every(({ name }) => names.has(name))
    })
    // Reading all of it takes the program a good part of a second.
    const isComplete = Effect.delay(areAllStored, "1 second")
    yield* Effect.timeoutOption(untilTrue("all is stored", isComplete, 90), "60 seconds")
    const { matches, gaps } = yield* listed(last)
    yield* Effect.promise(() => last.stop())

    const names = matches.map(nameOf)
    const differences = [
      ...matchDifferences(names, expected, requiredWith(gaps)),
      ...(["x", "firehose"] as const).flatMap((platform) => {
        // A new rule on X may be pending for longer than the warm-up: no kill is excused by that.
        const reported = gaps.filter(
          (gap) => gap.platform === platform && gap.to > warmAt && gap.cause !== "rule_pending"
        )
        // A backfill of X is evident only if posts from before the kill come again.
        const recovered = platform === "firehose" ? [true] : hasBackfill ? [true, false] : [false]
        const missing = expected.filter((match) => match.platform === platform && !names.includes(match.name))
        return [
          ...gapDifferences(reported, downs, { recovered, earlier: EARLIER_MILLIS[platform] }),
          ...missingOutsideGaps(missing, reported)
        ].map((difference) => `${platform}: ${difference}`)
      })
    ]
    const missed = new Set(expected.map(({ name }) => name)).size - new Set(names).size
    return { kills: downs.map(({ where }) => where), expected: expected.length, missed, differences }
  })

// ---- helpers ----

/** From the simulator's write to the arrival, on a busy machine. */
const IN_FLIGHT_MILLIS = 1_000

/** Without events the ledger advances every 5 seconds. */
const LEDGER_MILLIS = 6_000

/** What the program has received and not stored when it is killed: on a busy machine its start takes that long. */
const UNSTORED_MILLIS = 20_000

/** A gap on X begins earlier by the delay of posts, which is not known yet. */
const EARLIER_MILLIS = { x: 10_000, firehose: 0 }

interface Rule {
  readonly x: string
  readonly firehose: string
}

/** Shared texts: one platform rule serves several of our rules. */
const ruleSamples: ReadonlyArray<Rule> = [
  { x: "storm", firehose: "storm" },
  { x: "storm", firehose: "flood" },
  { x: "flood", firehose: "storm" }
]

const topics = ["a storm", "a flood", "a storm and a flood", "nothing"] as const

interface Down {
  readonly where: string
  readonly at: number
  readonly until: number
}

interface PublishedEvent {
  readonly number: number
  readonly at: number
  readonly topic: string
}

interface ExpectedMatch {
  readonly name: string
  readonly platform: PlatformId
  readonly at: number
}

interface ReportedGap {
  readonly platform: PlatformId
  readonly from: number
  /** Infinity for an open gap. */
  readonly to: number
  readonly cause: string
  readonly isRecovered: boolean
}

const makePublisher = (random: Random, options: { readonly seed: number; readonly hasBackfill: boolean }) =>
  Effect.gen(function* () {
    const { control, ...simulator } = yield* Simulator.make({
      seed: options.seed,
      settings: {
        x: { tier: options.hasBackfill ? "enterprise" : "pay-per-use", dead_slot_seconds: 0 },
        firehose: { rule_ids: random.chance(0.5) ? "query_ids" : "query_id" }
      }
    })
    const port = yield* Effect.orDie(serve({ control, ...simulator }, { host: "127.0.0.1", port: 0 }))
    const { x, firehose } = control.settings
    const url = `http://127.0.0.1:${port}`
    const published: Array<PublishedEvent> = []
    const xOpenings = new Set<number>()
    let isStopped = false

    const publish = Effect.gen(function* () {
      const state = yield* control.state
      for (const { openedAt } of state.x.connections) xOpenings.add(openedAt)
      const number = published.length + 1
      const topic = random.pick(topics)
      const text = `event ${number} is about ${topic}`
      const at = yield* Clock.currentTimeMillis
      published.push({ number, at, topic })
      yield* control.publish([
        { data: { id: String(number), text, created_at: inSeconds(at) } },
        {
          document: {
            url: `https://news.example.com/${number}`,
            publish_time: inSeconds(at).slice(0, 19),
            diff: { chunks: [{ typ: "ins", text }] }
          }
        }
      ])
      yield* Effect.sleep(5 + random.below(40))
    })

    return {
      settings: {
        X_BASE_URL: url,
        X_BEARER_TOKEN: x.bearer_token,
        FIREHOSE_BASE_URL: url,
        FIREHOSE_TAP_TOKEN: firehose.tap_token
      },
      publishing: Effect.orDieWith(Effect.repeat(publish, { until: () => isStopped }), (reason) => new Error(reason)),
      stop: Effect.sync(() => {
        isStopped = true
        return published
      }),
      areStreamsOpen: Effect.map(
        control.state,
        (state) => state.x.connections.length > 0 && state.firehose.connections.length > 0
      ),
      /** Time of the next X connection after `at`. */
      xOpenAfter: (at: number) => Math.min(...[...xOpenings].filter((openedAt) => openedAt > at))
    }
  })

const matchesOf = ({ number, at, topic }: PublishedEvent, ruleId: string, rule: Rule): ReadonlyArray<ExpectedMatch> =>
  (["x", "firehose"] as const).flatMap((platform) =>
    topic.includes(rule[platform]) ? [{ name: `${platform} event ${number} for ${ruleId}`, platform, at }] : []
  )

const nameOf = ({ platform, rule_id, payload }: MatchList["matches"][number]): string => {
  const [number = "unknown event"] = /event \d+/.exec(JSON.stringify(payload)) ?? []
  return `${platform} ${number} for ${rule_id}`
}

const matchDifferences = (
  names: ReadonlyArray<string>,
  expected: ReadonlyArray<ExpectedMatch>,
  required: ReadonlyArray<ExpectedMatch>
): ReadonlyArray<string> => {
  const found = new Set(names)
  const expectedNames = new Set(expected.map(({ name }) => name))
  const lost = required.filter(({ name }) => !found.has(name))
  const unexpected = [...found].filter((name) => !expectedNames.has(name))
  const repeated = names.filter((name, at) => names.indexOf(name) !== at)
  return [
    ...lost.map(({ name, at }) => `Lost: ${name}, published at ${new Date(at).toISOString()}`),
    ...unexpected.map((name) => `Listed without a matching rule: ${name}`),
    ...repeated.map((name) => `Listed more than once: ${name}`)
  ]
}

/** Every downtime must lie in a process_down gap, and there must be no other gap. */
const gapDifferences = (
  gaps: ReadonlyArray<ReportedGap>,
  downs: ReadonlyArray<Down>,
  allowed: { readonly recovered: ReadonlyArray<boolean>; readonly earlier: number }
): ReadonlyArray<string> => {
  const missing = downs.filter(({ at, until }) => !gaps.some((gap) => gap.from <= at && gap.to >= until))
  const wrong = gaps.filter((gap) => {
    const first = downs.find(({ at }) => at >= gap.from && at <= gap.to)
    const isInTime = first !== undefined && gap.from >= first.at - LEDGER_MILLIS - allowed.earlier
    return (
      !isInTime ||
      !Number.isFinite(gap.to) ||
      gap.cause !== "process_down" ||
      !allowed.recovered.includes(gap.isRecovered)
    )
  })
  return [
    ...missing.map(({ where, at }) => `No gap for the kill ${where}, at ${new Date(at).toISOString()}`),
    ...wrong.map((gap) => `Wrong gap: ${JSON.stringify(gap)}, downtimes: ${JSON.stringify(downs)}`)
  ]
}

/** Missing matches outside of every gap. Events in flight at the start of a gap count as inside. */
const missingOutsideGaps = (
  missing: ReadonlyArray<ExpectedMatch>,
  gaps: ReadonlyArray<ReportedGap>
): ReadonlyArray<string> =>
  missing
    .filter(({ at }) => !gaps.some((gap) => !gap.isRecovered && at >= gap.from - IN_FLIGHT_MILLIS && at <= gap.to))
    .map(({ name, at }) => `Missing without a gap: ${name}, published at ${new Date(at).toISOString()}, ${shown(gaps)}`)

const shown = (gaps: ReadonlyArray<ReportedGap>): string =>
  `gaps ${gaps.map(({ from, to }) => `${new Date(from).toISOString()} to ${Number.isFinite(to) ? new Date(to).toISOString() : "now"}`).join(", ")}`

const call = (service: Running, path: string, body: unknown) =>
  Effect.flatMap(
    ask(service, path, body),
    ({ status, body }): Effect.Effect<unknown> =>
      status === 200 ? Effect.succeed(body) : Effect.dieMessage(`${path} answered ${status}: ${JSON.stringify(body)}`)
  )

const create = (service: Running, overrides: Rule) => {
  const draft = { name: "Weather", intent: "Survive", platforms: ["x", "firehose"], overrides }
  // The API's own tests check its shape.
  return Effect.map(call(service, "/api.CreateRule", draft), (answer) => (answer as { rule_id: string }).rule_id)
}

/** All matches and gaps. */
const listed = (service: Running) =>
  Effect.gen(function* () {
    const matches: Array<MatchList["matches"][number]> = []
    const gaps = new Map<string, ReportedGap>()
    let cursor: string | undefined
    do {
      const page = (yield* call(service, "/matches", {
        limit: 500,
        ...(cursor !== undefined && { cursor })
      })) as MatchList
      matches.push(...page.matches)
      for (const { platform, gaps: reported } of page.coverage.platforms) {
        for (const { from, to, cause, recovered } of reported) {
          gaps.set(`${platform} ${from}`, {
            platform,
            from: Date.parse(from),
            to: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
            cause,
            isRecovered: recovered
          })
        }
      }
      cursor = page.next_cursor
    } while (cursor !== undefined)
    return { matches, gaps: [...gaps.values()] }
  })
