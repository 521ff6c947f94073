/**
 * The real program is killed time and again while events come in over the wire; then what it lists is held against what
 * the simulator was given to send, and the gaps that it tells of against when it was down.
 */
import { Clock, Effect, type Scope } from "effect"
import { type Random, seeded } from "../../adapters/demo/random.ts"
import * as Simulator from "../../adapters/simulator/Simulator.ts"
import { serve } from "../../adapters/simulator/server.ts"
import type { MatchList } from "../../core/matches/Matches.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { INGEST_STEPS } from "../../core/model/Steps.ts"
import { KEY, type Running, type RuntimeName, startService } from "../program.ts"

export interface CrashRun {
  /** Decides on all but the moments at which the machine gets to it. */
  readonly seed: number
  readonly runtime: RuntimeName
  /** Where the store is. */
  readonly store: Readonly<Record<string, string>>
}

export interface CrashReport {
  /** Where the process was killed, in order. */
  readonly kills: ReadonlyArray<string>
  /** Matches that were made by publishing, and of those the ones that X owes to nobody and that did not come. */
  readonly made: number
  readonly missed: number
  /** What is not as it should be, in words. */
  readonly differences: ReadonlyArray<string>
}

export const crashRun = ({ seed, runtime, store }: CrashRun): Effect.Effect<CrashReport, never, Scope.Scope> =>
  Effect.gen(function* () {
    const random = seeded(seed)
    const hasBackfill = seed % 2 === 0
    const world = yield* makeWorld(random, { seed, hasBackfill })
    const start = (more: Readonly<Record<string, string>> = {}) =>
      Effect.promise(() => startService(runtime, { ...world.settings, ...store, ...more }))

    const first = yield* start()
    const rules = new Map<string, Rule>()
    for (const rule of RULES) rules.set(yield* create(first, rule), rule)
    yield* Effect.forkScoped(world.publishing)
    // From here on there is a place to go on from.
    yield* eventually(
      Effect.map(listed(first), ({ matches }) => new Set(matches.map(({ platform }) => platform)).size === 2)
    )
    const warmAt = yield* Clock.currentTimeMillis
    const downs: Array<Down> = []
    const killed = (where: string) =>
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
        yield* killed(`${millis} ms after its start`)
      })

    yield* killSoon(first)
    const more = 1 + random.below(3)
    for (let i = 0; i < more; i++) {
      // The third kind is any moment.
      const step = INGEST_STEPS[(seed + i) % 3]
      if (step === undefined) {
        yield* killSoon(yield* start())
        continue
      }
      const point = `${step}:${random.below(30)}`
      yield* Effect.promise(() =>
        startService(runtime, { ...world.settings, ...store, EARSHOT_CRASH_AT: point }).then(
          ({ ended }) => ended,
          // It may come to that step before it listens.
          (cause: unknown) => (String(cause).includes("It ended with null") ? undefined : Promise.reject(cause))
        )
      )
      yield* killed(point)
    }

    const last = yield* start()
    yield* eventually(world.areStreamsOpen)
    yield* Effect.sleep(1_000)
    const published = yield* world.stop
    const made = published.flatMap((event) => [...rules].flatMap(([id, rule]) => matchesOf(event, id, rule)))
    // What was under way when it was killed is gone where X has no backfill. How much that is, its ledger has to tell.
    const owedBy = (gaps: ReadonlyArray<ToldGap>) =>
      made.filter(({ platform, at }) => {
        if (platform !== "x" || hasBackfill) return true
        const told = gaps.filter((gap) => gap.platform === "x" && !gap.isRecovered)
        return !downs.some((down) => {
          const gap = told.find(({ from, to }) => from <= down.at && to >= down.at)
          return at >= (gap?.from ?? down.at) - IN_FLIGHT_MILLIS && at <= world.xOpenAfter(down.at)
        })
      })
    const hasCome = Effect.map(listed(last), ({ matches, gaps }) => {
      const names = new Set(matches.map(nameOf))
      return owedBy(gaps).every(({ name }) => names.has(name))
    })
    yield* Effect.timeoutOption(eventually(hasCome), "20 seconds")
    const { matches, gaps } = yield* listed(last)
    yield* Effect.promise(() => last.stop())

    const names = matches.map(nameOf)
    const differences = [
      ...comparisonOf(names, made, owedBy(gaps)),
      ...(["x", "firehose"] as const).flatMap((platform) => {
        const told = gaps.filter((gap) => gap.platform === platform && gap.to > warmAt)
        const isRecovered = platform === "firehose" || hasBackfill
        const silent = made.filter((match) => match.platform === platform && !names.includes(match.name))
        return [...gapsOff(told, downs, isRecovered), ...lostInSilence(silent, told)].map(
          (words) => `${platform}: ${words}`
        )
      })
    ]
    const missed = new Set(made.map(({ name }) => name)).size - new Set(names).size
    return { kills: downs.map(({ where }) => where), made: made.length, missed, differences }
  })

// ---- helpers ----

/** Between the simulator's write and its arrival, on a busy machine. */
const IN_FLIGHT_MILLIS = 1_000

/** The ledger is moved on every 5 seconds where no event does so. */
const LEDGER_MILLIS = 6_000

interface Rule {
  readonly x: string
  readonly firehose: string
}

/** Texts that are shared: one rule of the platform stands for several of ours. */
const RULES: ReadonlyArray<Rule> = [
  { x: "storm", firehose: "storm" },
  { x: "storm", firehose: "flood" },
  { x: "flood", firehose: "storm" }
]

const WORDS = ["a storm", "a flood", "a storm and a flood", "nothing"] as const

/** A time in which no process ran. */
interface Down {
  readonly where: string
  readonly at: number
  readonly until: number
}

interface Event {
  readonly number: number
  readonly at: number
  readonly words: string
}

interface Made {
  readonly name: string
  readonly platform: PlatformId
  readonly at: number
}

interface ToldGap {
  readonly platform: PlatformId
  readonly from: number
  /** Infinity while it lasts. */
  readonly to: number
  readonly cause: string
  readonly isRecovered: boolean
}

const makeWorld = (random: Random, options: { readonly seed: number; readonly hasBackfill: boolean }) =>
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
    const published: Array<Event> = []
    const xOpenings = new Set<number>()
    let isStopped = false

    const publish = Effect.gen(function* () {
      const state = yield* control.state
      for (const { openedAt } of state.x.connections) xOpenings.add(openedAt)
      const number = published.length + 1
      const words = random.pick(WORDS)
      const text = `event ${number} tells of ${words}`
      const at = yield* Clock.currentTimeMillis
      published.push({ number, at, words })
      yield* control.publish([
        { data: { id: String(number), text } },
        {
          document: {
            url: `https://news.example.com/${number}`,
            publish_time: new Date(at).toISOString().slice(0, 19),
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
      publishing: Effect.orDieWith(Effect.repeat(publish, { until: () => isStopped }), (words) => new Error(words)),
      stop: Effect.sync(() => {
        isStopped = true
        return published
      }),
      areStreamsOpen: Effect.map(
        control.state,
        (state) => state.x.connections.length > 0 && state.firehose.connections.length > 0
      ),
      /** When X's stream was next opened. */
      xOpenAfter: (at: number) => Math.min(...[...xOpenings].filter((openedAt) => openedAt > at))
    }
  })

const matchesOf = ({ number, at, words }: Event, ruleId: string, rule: Rule): ReadonlyArray<Made> =>
  (["x", "firehose"] as const).flatMap((platform) =>
    words.includes(rule[platform]) ? [{ name: `${platform} event ${number} for ${ruleId}`, platform, at }] : []
  )

const nameOf = ({ platform, rule_id, payload }: MatchList["matches"][number]): string => {
  const [number = "unknown event"] = /event \d+/.exec(JSON.stringify(payload)) ?? []
  return `${platform} ${number} for ${rule_id}`
}

const comparisonOf = (
  names: ReadonlyArray<string>,
  made: ReadonlyArray<Made>,
  owed: ReadonlyArray<Made>
): ReadonlyArray<string> => {
  const found = new Set(names)
  const expected = new Set(made.map(({ name }) => name))
  const lost = owed.filter(({ name }) => !found.has(name))
  const strange = [...found].filter((name) => !expected.has(name))
  const repeated = names.filter((name, at) => names.indexOf(name) !== at)
  return [
    ...lost.map(({ name, at }) => `Lost: ${name}, published at ${new Date(at).toISOString()}`),
    ...strange.map((name) => `Listed though it met no rule: ${name}`),
    ...repeated.map((name) => `Listed more than once: ${name}`)
  ]
}

/** Every time that nothing ran lies in a gap that says so, and there is no other gap. */
const gapsOff = (
  gaps: ReadonlyArray<ToldGap>,
  downs: ReadonlyArray<Down>,
  isRecovered: boolean
): ReadonlyArray<string> => {
  const missing = downs.filter(({ at, until }) => !gaps.some((gap) => gap.from <= at && gap.to >= until))
  const wrong = gaps.filter((gap) => {
    const first = downs.find(({ at }) => at >= gap.from && at <= gap.to)
    const isInTime = first !== undefined && gap.from >= first.at - LEDGER_MILLIS && Number.isFinite(gap.to)
    return !isInTime || gap.cause !== "process_down" || gap.isRecovered !== isRecovered
  })
  return [
    ...missing.map(({ where, at }) => `No gap tells of the kill ${where}, at ${new Date(at).toISOString()}`),
    ...wrong.map((gap) => `This gap is not as it should be: ${JSON.stringify(gap)}, with ${JSON.stringify(downs)}`)
  ]
}

/** What is missing without a gap that says so, save what was under way when the gap began. */
const lostInSilence = (missing: ReadonlyArray<Made>, gaps: ReadonlyArray<ToldGap>): ReadonlyArray<string> =>
  missing
    .filter(({ at }) => !gaps.some((gap) => !gap.isRecovered && at >= gap.from - IN_FLIGHT_MILLIS && at <= gap.to))
    .map(({ name }) => `Missing, and no gap tells of it: ${name}`)

const call = (service: Running, path: string, body: unknown) =>
  Effect.promise(async (): Promise<unknown> => {
    const answer = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text)
  })

const create = (service: Running, overrides: Rule) => {
  const draft = { name: "Weather", intent: "Survive", platforms: ["x", "firehose"], overrides }
  // The shape is that of the API, whose own tests see to it.
  return Effect.map(call(service, "/api.CreateRule", draft), (answer) => (answer as { rule_id: string }).rule_id)
}

/** All matches there are, and all gaps. */
const listed = (service: Running) =>
  Effect.gen(function* () {
    const matches: Array<MatchList["matches"][number]> = []
    const gaps = new Map<string, ToldGap>()
    let cursor: string | undefined
    do {
      // As above.
      const page = (yield* call(service, "/matches", {
        limit: 500,
        ...(cursor !== undefined && { cursor })
      })) as MatchList
      matches.push(...page.matches)
      for (const { platform, gaps: told } of page.coverage.platforms) {
        for (const { from, to, cause, recovered } of told) {
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

const eventually = (isSo: Effect.Effect<boolean>) =>
  Effect.repeat(Effect.delay(isSo, "100 millis"), { until: (so) => so, times: 300 })
