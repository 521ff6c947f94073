/** One simulated day of the service: what was planned happens, and all that is needed to judge it is kept. */
import { Effect, Either, Option } from "effect"
import type { State } from "../../adapters/simulator/Control.ts"
import type { FaultKind } from "../../adapters/simulator/faults.ts"
import type { Match } from "../../core/matches/Match.ts"
import type { RuleId } from "../../core/model/Ids.ts"
import { ann, bob } from "../core/world.ts"
import { PLATFORM_IDS, type PlatformId } from "../platforms.ts"
import { Foreign } from "./Foreign.ts"
import { type Owner, PASSING_TOPICS, type Planned } from "./plan.ts"
import { heldOn, type Service, START } from "./service.ts"

/** A rule of the service, from when on it was there. */
export interface TrackedRule {
  readonly id: RuleId
  readonly owner: Owner
  readonly topic: string
  readonly platforms: ReadonlyArray<PlatformId>
  /** When it was deleted, in milliseconds. */
  deletedAt?: number
  /** Names of the events that it has matches of: at the end, or right before it was deleted. */
  stored: ReadonlyArray<string>
}

export interface PublishedEvent {
  readonly platform: PlatformId
  readonly name: string
  readonly topics: ReadonlyArray<string>
  /** In milliseconds. */
  readonly at: number
  /** Rules that were there then, on the service and on the platform, and that it meets. */
  readonly due: ReadonlyArray<TrackedRule>
  /** The stream was open then, and no fault was about to touch what is sent on it. */
  readonly isUntouched: boolean
}

export class Day {
  readonly rules: Array<TrackedRule> = []
  readonly events: Array<PublishedEvent> = []
  readonly faults: Array<FaultKind> = []
  /** When each platform forgot all rules, in milliseconds. */
  readonly drops: Record<PlatformId, Array<number>> = { x: [], firehose: [] }
  /** Rules that stayed, and since when, when another one with the same text on X was deleted. */
  readonly survivors: Array<{ readonly rule: TrackedRule; readonly since: number }> = []
  readonly foreign: Foreign
  private readonly service: Service
  private readonly touched = { stalls: 0, slows: 0, slowAt: Number.NEGATIVE_INFINITY, stalledConnection: "" }

  constructor(service: Service) {
    this.service = service
    this.foreign = new Foreign(service)
  }

  /** With rules for some topics of two accounts, which share their texts on X. */
  begin(topics: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      yield* this.foreign.keep
      for (const topic of topics) {
        yield* this.create("ann", topic, PLATFORM_IDS)
        yield* this.create("bob", topic, ["x"])
      }
    })
  }

  play(plan: ReadonlyArray<Planned>): Effect.Effect<void> {
    return Effect.forEach(
      plan,
      (planned) => Effect.zipRight(this.service.clock.passTo(START + planned.at), this.happen(planned)),
      { discard: true }
    )
  }

  /** No fault from here on. */
  readonly clear: Effect.Effect<void> = Effect.suspend(() => {
    this.service.note("CLEAR")
    return Effect.zipRight(this.service.control.clear(), this.foreign.keep)
  })

  /** Looks up what is stored for all rules that are there. */
  readonly end: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach(this.present(), (rule) => this.collect(rule), { discard: true })
  )

  private happen(planned: Planned): Effect.Effect<void> {
    switch (planned.what) {
      case "event":
        return this.publish(planned.platform, planned.topics)
      case "create":
        return Effect.zipRight(this.foreign.keep, this.create(planned.owner, planned.topic, planned.platforms))
      case "delete":
        return this.deleteOldest(planned.owner)
      case "fault":
        return Effect.gen(this, function* () {
          const { fault } = planned
          this.service.note(`FAULT ${JSON.stringify(fault)}`)
          this.faults.push(fault.kind)
          yield* this.service.control.inject(fault)
          if (fault.kind === "drop-rules") this.drops[fault.platform].push(this.now)
        })
    }
  }

  private get now(): number {
    return this.service.clock.unsafeCurrentTimeMillis()
  }

  private create(owner: Owner, topic: string, platforms: ReadonlyArray<PlatformId>): Effect.Effect<void> {
    const overrides = Object.fromEntries(platforms.map((platform) => [platform, topic]))
    const draft = { name: topic, intent: `Hear of ${topic}`, platforms, overrides }
    return Effect.gen(this, function* () {
      const created = yield* Effect.either(this.service.rules.create(ACCOUNTS[owner], draft))
      if (Either.isRight(created)) this.rules.push({ id: created.right.id, owner, topic, platforms, stored: [] })
      const outcome = Either.match(created, { onLeft: ({ message }) => message, onRight: ({ id }) => id })
      this.service.note(`CREATE ${owner} ${topic} ${platforms.join("+")}: ${outcome}`)
    })
  }

  private deleteOldest(owner: Owner): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const isPassing = ({ topic }: TrackedRule) => PASSING_TOPICS.some((passing) => passing === topic)
      const rule = this.present().find((one) => one.owner === owner && isPassing(one))
      if (rule === undefined) return
      yield* this.collect(rule)
      rule.deletedAt = this.now
      yield* Effect.orDie(this.service.rules.delete(ACCOUNTS[owner], rule.id))
      this.service.note(`DELETE ${owner} ${rule.topic} ${rule.id}`)
      const isAlike = (other: TrackedRule) => other.topic === rule.topic && other.platforms.includes("x")
      if (!rule.platforms.includes("x")) return
      this.survivors.push(
        ...this.present()
          .filter(isAlike)
          .map((other) => ({ rule: other, since: this.now }))
      )
    })
  }

  private publish(platform: PlatformId, topics: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const { control, store } = this.service
      const state = yield* control.state
      const held = new Set(heldOn(state, platform).map(({ id }) => id))
      const due: Array<TrackedRule> = []
      for (const rule of this.present()) {
        if (!topics.includes(rule.topic)) continue
        const registrations = yield* Effect.orDie(store.registrations(rule.id))
        const isHeld = registrations.some(
          (r) => r.platform === platform && Option.exists(r.platformRuleId, (id) => held.has(id))
        )
        if (isHeld) due.push(rule)
      }
      const isUntouched = yield* this.isUntouched(state, platform)
      const { event, name } = eventOf(platform, topics, { number: state[platform].published, now: this.now })
      yield* Effect.orDie(control.publish([event]))
      this.events.push({ platform, name, topics, at: this.now, due, isUntouched })
    })
  }

  /** Rather false than true. */
  private isUntouched(state: State, platform: PlatformId): Effect.Effect<boolean> {
    return Effect.map(this.service.control.faults, (faults) => {
      if (platform !== "x") return false
      const [connection] = state.x.connections
      const { "x.stall": stalls = 0, "x.slow": slows = 0 } = state.faults_fired
      if (stalls !== this.touched.stalls) this.touched.stalledConnection = connection?.id ?? ""
      if (slows !== this.touched.slows) this.touched.slowAt = this.now
      Object.assign(this.touched, { stalls, slows })
      return (
        connection !== undefined &&
        connection.id !== this.touched.stalledConnection &&
        this.now - this.touched.slowAt > 120_000 &&
        !faults.some(({ request }) => request.platform === "x" && TOUCHING.has(request.kind))
      )
    })
  }

  private present(): ReadonlyArray<TrackedRule> {
    return this.rules.filter(({ deletedAt }) => deletedAt === undefined)
  }

  private collect(rule: TrackedRule): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const all = yield* Effect.orDie(
        this.service.matches.list({
          account: ACCOUNTS[rule.owner],
          rule: Option.some(rule.id),
          platforms: PLATFORM_IDS,
          before: Option.none(),
          limit: Number.POSITIVE_INFINITY
        })
      )
      rule.stored = all.map(nameOf)
      for (const match of all) this.service.note(`MATCH ${rule.id} ${match.created_at} ${match.id} ${nameOf(match)}`)
    })
  }
}

// ---- helpers ----

const ACCOUNTS = { ann, bob }

const TOUCHING: ReadonlySet<FaultKind> = new Set<FaultKind>([
  "torn-line",
  "half-utf8",
  "cut",
  "slow",
  "stall",
  "close",
  "disconnect"
])

/** The simulator counts pages on from this one. */
const FIRST_OFFSET = 43_000

const eventOf = (
  platform: PlatformId,
  topics: ReadonlyArray<string>,
  { number, now }: { readonly number: number; readonly now: number }
) => {
  const text = `News of ${topics.join(" and ")}`
  if (platform === "x") {
    const id = String(1_000_000 + number)
    return { name: `x ${id}`, event: { data: { id, text, lang: "en", author_id: "7" } } }
  }
  const offset = FIRST_OFFSET + number
  const document = {
    url: `https://news.example.com/${offset}`,
    title: text,
    publish_time: new Date(now).toISOString().slice(0, 19),
    diff: { chunks: [{ typ: "ins", text }] },
    language: "en"
  }
  return { name: `firehose ${offset}`, event: { document } }
}

const nameOf = ({ platform, platform_post_id, payload }: Match): string => {
  const page = /news\.example\.com\/(\d+)"/.exec(JSON.stringify(payload))?.[1]
  return `${platform} ${platform === "x" ? platform_post_id : page}`
}
