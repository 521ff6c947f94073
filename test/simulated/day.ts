/** Runs the plan of a simulated day and collects what the checks need. */
import { Effect, Either, Option } from "effect"
import type { Match } from "../../core/matches/Match.ts"
import type { AccountId, RuleId } from "../../core/model/Ids.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import type { State } from "../../simulator/Control.ts"
import type { FaultKind } from "../../simulator/faults.ts"
import { ann, bob } from "../core/world.ts"
import { type Claims, claimsFor } from "./coverage.ts"
import { OtherClient } from "./OtherClient.ts"
import { type Owner, type PlannedAction, permanentTopics, temporaryTopics } from "./plan.ts"
import { rulesOn, type Service, START } from "./service.ts"

export interface TrackedRule {
  readonly id: RuleId
  readonly owner: Owner
  readonly topic: string
  readonly platforms: ReadonlyArray<PlatformId>
  readonly account: AccountId
  /** In milliseconds. */
  readonly createdAt: number
  /** In milliseconds. */
  deletedAt?: number
  /** Names of the matched events, read at the end or right before the delete. */
  stored: ReadonlyArray<string>
  /** Read together with the matches. */
  claims: Claims
}

export interface PublishedEvent {
  readonly platform: PlatformId
  readonly name: string
  readonly topics: ReadonlyArray<string>
  /** In milliseconds. */
  readonly at: number
  /** The matching rules that service and platform held at the time. */
  readonly expectedRules: ReadonlyArray<TrackedRule>
  /** The stream was open and no fault could affect the event. */
  readonly isUndisturbed: boolean
}

export interface FaultyTimes {
  readonly hours: number
  /** After the last action. */
  readonly secondsAfter: number
}

export class Day {
  readonly rules: Array<TrackedRule> = []
  readonly events: Array<PublishedEvent> = []
  readonly faults: Array<FaultKind> = []
  /** Rules that remain after another rule with the same text on X was deleted. */
  readonly survivors: Array<{ readonly rule: TrackedRule; readonly since: number }> = []
  readonly otherClient: OtherClient
  private readonly service: Service
  private readonly disturbance = { stalls: 0, slows: 0, slowAt: Number.NEGATIVE_INFINITY, stalledConnection: "" }

  constructor(service: Service) {
    this.service = service
    this.otherClient = new OtherClient(service)
  }

  /** Creates rules for two accounts. Their rules have the same texts on X. */
  start(topics: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      yield* this.otherClient.restoreRules
      for (const topic of topics) {
        yield* this.create("ann", topic, PLATFORM_IDS)
        yield* this.create("bob", topic, ["x"])
      }
    })
  }

  run(plan: ReadonlyArray<PlannedAction>): Effect.Effect<void> {
    return Effect.forEach(
      plan,
      (action) => Effect.zipRight(this.service.clock.advanceTo(START + action.at), this.perform(action)),
      { discard: true }
    )
  }

  /** Runs a plan with faults, clears them after so many hours, and waits at the end. */
  runFaulty(plan: ReadonlyArray<PlannedAction>, times: FaultyTimes): Effect.Effect<void> {
    const end = times.hours * 3_600_000
    return Effect.gen(this, function* () {
      yield* this.start(permanentTopics)
      yield* this.run(plan.filter(({ at }) => at <= end))
      yield* this.clearFaults
      yield* this.run(plan.filter(({ at }) => at > end))
      yield* this.service.clock.advance(times.secondsAfter)
      yield* this.finish
    })
  }

  readonly clearFaults: Effect.Effect<void> = Effect.suspend(() => {
    this.service.addToLog("CLEAR")
    return Effect.zipRight(this.service.control.clear(), this.otherClient.restoreRules)
  })

  /** Reads the matches of all remaining rules. */
  readonly finish: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach(this.activeRules(), (rule) => this.readMatches(rule), { discard: true })
  )

  private perform(action: PlannedAction): Effect.Effect<void> {
    switch (action.type) {
      case "event":
        return this.publish(action.platform, action.topics)
      case "create":
        return Effect.zipRight(this.otherClient.restoreRules, this.create(action.owner, action.topic, action.platforms))
      case "delete":
        return this.deleteOldest(action.owner)
      case "freeze":
        return Effect.sync(() => this.service.traffic.freeze())
      case "thaw":
        return Effect.sync(() => this.service.traffic.thaw())
      case "settings":
        return Effect.asVoid(this.service.control.patch(action.patch))
      case "fault":
        return Effect.gen(this, function* () {
          const { fault } = action
          this.service.addToLog(`FAULT ${JSON.stringify(fault)}`)
          this.faults.push(fault.kind)
          yield* this.service.control.inject(fault)
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
      const created = yield* Effect.either(this.service.rules.create(accounts[owner], draft))
      if (Either.isRight(created)) {
        const account = accounts[owner]
        const createdAt = this.now
        this.rules.push({ id: created.right.id, owner, account, topic, platforms, createdAt, stored: [], claims: {} })
      }
      const outcome = Either.match(created, { onLeft: ({ message }) => message, onRight: ({ id }) => id })
      this.service.addToLog(`CREATE ${owner} ${topic} ${platforms.join("+")}: ${outcome}`)
    })
  }

  private deleteOldest(owner: Owner): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const isTemporary = ({ topic }: TrackedRule) => temporaryTopics.some((each) => each === topic)
      const rule = this.activeRules().find((each) => each.owner === owner && isTemporary(each))
      if (rule === undefined) return
      yield* this.readMatches(rule)
      rule.deletedAt = this.now
      yield* Effect.orDie(this.service.rules.delete(accounts[owner], rule.id))
      this.service.addToLog(`DELETE ${owner} ${rule.topic} ${rule.id}`)
      const hasSameText = (other: TrackedRule) => other.topic === rule.topic && other.platforms.includes("x")
      if (!rule.platforms.includes("x")) return
      this.survivors.push(
        ...this.activeRules()
          .filter(hasSameText)
          .map((other) => ({ rule: other, since: this.now }))
      )
    })
  }

  private publish(platform: PlatformId, topics: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const { control, store } = this.service
      const state = yield* control.state
      const held = new Set(rulesOn(state, platform).map(({ id }) => id))
      const expectedRules: Array<TrackedRule> = []
      for (const rule of this.activeRules()) {
        if (!topics.includes(rule.topic)) continue
        const registrations = yield* Effect.orDie(store.registrations(rule.id))
        const isHeld = registrations.some(
          (r) => r.platform === platform && Option.exists(r.platformRuleId, (id) => held.has(id))
        )
        if (isHeld) expectedRules.push(rule)
      }
      const isUndisturbed = yield* this.isUndisturbed(state, platform)
      const { event, name } = eventOf(platform, topics, { number: state[platform].published, now: this.now })
      yield* Effect.orDie(control.publish([event]))
      this.events.push({ platform, name, topics, at: this.now, expectedRules, isUndisturbed })
    })
  }

  /** False if in doubt; always false for Firehose. */
  private isUndisturbed(state: State, platform: PlatformId): Effect.Effect<boolean> {
    return Effect.map(this.service.control.faults, (faults) => {
      if (platform !== "x") return false
      const [connection] = state.x.connections
      const { "x.stall": stalls = 0, "x.slow": slows = 0 } = state.faults_fired
      if (stalls !== this.disturbance.stalls) this.disturbance.stalledConnection = connection?.id ?? ""
      if (slows !== this.disturbance.slows) this.disturbance.slowAt = this.now
      Object.assign(this.disturbance, { stalls, slows })
      return (
        connection !== undefined &&
        connection.id !== this.disturbance.stalledConnection &&
        this.now - this.disturbance.slowAt > 120_000 &&
        !faults.some(({ request }) => request.platform === "x" && disturbingKinds.has(request.kind))
      )
    })
  }

  private activeRules(): ReadonlyArray<TrackedRule> {
    return this.rules.filter(({ deletedAt }) => deletedAt === undefined)
  }

  private readMatches(rule: TrackedRule): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const all: Array<Match> = []
      for (let hasMore = true; hasMore; ) {
        const page = yield* Effect.orDie(
          this.service.matches.list({
            account: accounts[rule.owner],
            rules: Option.some([rule.id]),
            platforms: PLATFORM_IDS,
            before: Option.fromNullable(all.at(-1)?.id),
            limit: 10_000
          })
        )
        all.push(...page.items)
        hasMore = page.hasMore
      }
      rule.stored = all.map(nameOf)
      rule.claims = yield* claimsFor(this.service, rule)
      for (const match of all)
        this.service.addToLog(`MATCH ${rule.id} ${match.created_at} ${match.id} ${nameOf(match)}`)
    })
  }
}

// ---- helpers ----

const accounts = { ann, bob }

const disturbingKinds: ReadonlySet<FaultKind> = new Set<FaultKind>([
  "torn-line",
  "half-utf8",
  "cut",
  "slow",
  "stall",
  "close",
  "disconnect"
])

/** The simulator's default for `firehose.first_offset`. */
const FIRST_OFFSET = 43_000

const eventOf = (
  platform: PlatformId,
  topics: ReadonlyArray<string>,
  { number, now }: { readonly number: number; readonly now: number }
) => {
  const text = `News of ${topics.join(" and ")}`
  if (platform === "x") {
    const id = String(1_000_000 + number)
    const created_at = new Date(now).toISOString()
    return { name: `x ${id}`, event: { data: { id, text, lang: "en", author_id: "7", created_at } } }
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
