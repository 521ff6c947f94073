/** Changes a rule again and again under a stream of events, and kills the real program at failpoints meanwhile. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, type Scope } from "effect"
import { type Random, seeded } from "../../adapters/demo/random.ts"
import type { Failpoint } from "../../core/model/Failpoints.ts"
import type { Rule } from "../../core/rules/Rule.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import { until } from "../eventually.ts"
import { sized } from "../long.ts"
import { type Running, startService } from "../program.ts"
import { Client, Refused } from "./client.ts"
import type { Feed, OpenFeed } from "./feeds.ts"
import { type Change, DRAFT, nextChange, resumed, type Wanted } from "./nextChange.ts"
import { type Differences, differencesOf, type Facts, type Made } from "./oracle.ts"

export interface Store {
  readonly settings: Readonly<Record<string, string>>
  /** On a shared store, unfinished work of another process is only taken over after two minutes. */
  readonly skipMinutes: Effect.Effect<void>
  /** How many candidates and unfinished registrations it has. For a stopped service. */
  readonly unfinished: Effect.Effect<number>
}

export interface ChangeReport extends Differences {
  /** The failpoints at which the process was killed, or the request in which it was. */
  readonly kills: ReadonlyArray<string>
  readonly events: number
  readonly matches: number
  readonly versions: number
  /** What is wrong with the rule itself. */
  readonly inconsistent: ReadonlyArray<string>
}

/** The seed determines everything but the timing. */
export const changeRun = (options: {
  readonly seed: number
  readonly store: Store
  readonly open: OpenFeed
}): Effect.Effect<ChangeReport, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { seed, store } = options
    const feed = yield* options.open(seed)
    const run = yield* Effect.acquireRelease(
      Effect.sync(() => new Run(seeded(seed), feed, store.settings)),
      (started) => Effect.promise(() => started.kill())
    )
    yield* Effect.promise(() => run.begin())
    for (let phase = 0; phase < PHASES; phase++) {
      const failpoint = FAILPOINTS[(seed * PHASES + phase) % FAILPOINTS.length] ?? "update.changed"
      yield* Effect.promise(() => run.changeUntilKilled(failpoint))
      yield* store.skipMinutes
    }
    const facts = yield* Effect.promise(() => run.finish())
    if ((yield* store.unfinished) > 0) run.inconsistent.push("Unfinished registrations are left in the store")
    const [changed] = facts
    const found = facts.map(differencesOf)
    const all = (kind: keyof Differences) => found.flatMap((differences) => differences[kind])
    return {
      kills: run.kills,
      events: feed.published.length * PLATFORM_IDS.length,
      matches: facts.reduce((sum, { matches }) => sum + matches.length, 0),
      versions: changed?.versions.length ?? 0,
      inconsistent: run.inconsistent,
      lost: all("lost"),
      twice: all("twice"),
      wrongVersion: all("wrongVersion"),
      unwanted: all("unwanted")
    }
  })

// ---- helpers ----

/** Those that changes of rules and ingest hit. */
const FAILPOINTS: ReadonlyArray<Failpoint> = [
  "update.changed",
  "create.reserved",
  "ingest.taken",
  "create.registered-first",
  "delete.unregistered-first",
  "create.activated",
  "ingest.stored",
  "delete.unregistered",
  "create.registered",
  "delete.removed"
]

const PHASES = sized(2, 4)

/** Below the number that Firehose's limit on calls allows in a minute. */
const CHANGES_PER_PHASE = sized(4, 6)

const PAUSE_MILLIS = sized(300, 1_000)

class Run {
  readonly kills: Array<string> = []
  readonly inconsistent: Array<string> = []
  private readonly random: Random
  private readonly feed: Feed
  private readonly settings: Readonly<Record<string, string>>
  private service: Running | undefined
  private hasEnded = true
  private readonly ids: Array<string> = []
  private readonly made: Array<Made> = []
  private readonly wanted: Array<Wanted> = []
  /** How long the last change took. */
  private changeMillis = 100
  /** A change that was not answered. */
  private pending: (Change & { readonly from: number }) | undefined

  constructor(random: Random, feed: Feed, settings: Readonly<Record<string, string>>) {
    this.random = random
    this.feed = feed
    this.settings = settings
  }

  async begin(): Promise<void> {
    await this.start({})
    const overrides = { x: "cat", firehose: "cat" }
    const drafts = [{ ...DRAFT, overrides }]
    // It shares filters with some versions of the first one, and keeps the streams open while that is paused. After a
    // backfill of X, a shared filter has events from before the rule had it.
    if (this.random.chance(0.5) && !this.feed.hasBackfill) drafts.push({ ...DRAFT, overrides })
    for (const draft of drafts) {
      const { rule_id } = await this.client.ask<{ rule_id: string }>("/api.CreateRule", draft)
      this.ids.push(rule_id)
    }
    this.wanted.push({ name: DRAFT.name, overrides, paused: false })
    this.feed.start(() => (this.hasEnded ? undefined : this.service?.url))
    await until("the first events are stored", async () => {
      const { matches } = await this.client.listed(this.changing)
      return PLATFORM_IDS.every((platform) => matches.some((match) => match.platform === platform))
    })
    await this.kill()
  }

  async changeUntilKilled(failpoint: Failpoint): Promise<void> {
    const passes = this.random.below(failpoint.startsWith("ingest") ? 60 : sized(2, 4))
    await this.start({ EARSHOT_CRASH_AT: `${failpoint}:${passes}` })
    await this.settle()
    for (let left = CHANGES_PER_PHASE; left > 0 && !this.hasEnded; left--) {
      await sleep(this.random.below(PAUSE_MILLIS * 2))
      await this.change()
    }
    if (this.hasEnded) {
      this.kills.push(`${failpoint}:${passes}`)
      return
    }
    const changing = this.change()
    await until("a change is sent", () => this.pending !== undefined)
    await sleep(this.random.below(this.changeMillis))
    await this.kill()
    await changing
    this.kills.push(`during ${this.pending?.kind ?? "no change"}`)
  }

  /** Returns the facts about each rule. */
  async finish(): Promise<ReadonlyArray<Facts>> {
    await this.start({})
    await this.settle()
    await this.change()
    // While no rule is there, a platform does not send again what came before the pause.
    if (this.present.paused) await this.change(resumed(this.present))
    await this.settle()
    await sleep(500)
    await this.feed.stop()
    await this.compareVersions()
    let facts = await this.facts()
    for (let left = 100; left > 0 && facts.some((one) => differencesOf(one).lost.length > 0); left--) {
      await sleep(200)
      facts = await this.facts()
    }
    await this.service?.stop()
    return facts
  }

  async kill(): Promise<void> {
    this.service?.signal("SIGKILL")
    await this.service?.ended
    this.hasEnded = true
  }

  private get changing(): string {
    return this.ids[0] ?? ""
  }

  private get client(): Client {
    return new Client(this.service?.url ?? "")
  }

  private get version(): number {
    return this.wanted.length
  }

  private get present(): Wanted {
    return this.wanted.at(-1) ?? { name: DRAFT.name, overrides: {}, paused: false }
  }

  private async start(more: Readonly<Record<string, string>>): Promise<void> {
    const settings = { ...this.feed.settings, ...this.settings }
    const started = await startService("node", { ...settings, ...more }).catch((cause: unknown) => {
      // It may reach the failpoint before it listens.
      if (String(cause).includes("It ended with null")) return startService("node", settings)
      throw cause
    })
    this.service = started
    this.hasEnded = false
    void started.ended.then(() => {
      if (this.service === started) this.hasEnded = true
    })
  }

  /** Makes one change. If the process dies, `settle` finds out whether it was made. */
  private async change(wish?: Change): Promise<void> {
    try {
      const rule = await this.client.rule(this.changing)
      const change = wish ?? nextChange(this.random, rule, this.present)
      this.pending = { ...change, from: Date.now() }
      const answer = await this.client.ask<{ rule: Rule }>(change.path, { rule_id: rule.id, ...change.body })
      this.changeMillis = Date.now() - this.pending.from
      this.settled(answer.rule.version)
    } catch (cause) {
      // A connection to the platform was cut: the rule stands as it was.
      if (cause instanceof Refused && cause.status === 503) return this.settle()
      if (cause instanceof Refused) this.inconsistent.push(`${this.pending?.kind}: ${cause.message}`)
      await Promise.race([this.service?.ended, sleep(10_000)])
      if (!this.hasEnded) throw cause
    }
  }

  /** Notes whether the pending change has become a version. */
  private settled(version: number): void {
    const { pending } = this
    if (pending === undefined) return
    const isMade = pending.wanted !== undefined && version === this.version + 1
    if (pending.wanted !== undefined && isMade) {
      this.wanted.push(pending.wanted)
      const { kind, from, since } = pending
      this.made.push({ version, kind, from, to: Date.now(), ...(since !== undefined && { since }) })
    } else if (version !== this.version) {
      this.inconsistent.push(`After ${pending.kind} the version is ${version} instead of ${this.version}`)
    }
    this.pending = undefined
  }

  /** After a restart: the platforms hold exactly the filters of the rules. */
  private async settle(): Promise<void> {
    try {
      await until("the platforms hold exactly the filters of the rules", async () => {
        const { rules } = await this.client.ask<{ rules: ReadonlyArray<Rule> }>("/api.ListRules")
        const held = await Effect.runPromise(this.feed.held)
        return held === undefined || PLATFORM_IDS.every((id) => textsOn(id, rules) === [...held[id]].sort().join())
      })
      this.settled((await this.client.rule(this.changing)).version)
    } catch (cause) {
      await Promise.race([this.service?.ended, sleep(1_000)])
      if (!this.hasEnded) throw cause
    }
  }

  /** Each acknowledged change is a version, complete and in order. */
  private async compareVersions(): Promise<void> {
    const versions = await this.client.versions(this.changing)
    const listed = versions.map(({ name, overrides, paused }) => described({ name, overrides, paused }))
    const wanted = this.wanted.map(described)
    if (listed.join("; ") !== wanted.join("; ")) {
      this.inconsistent.push(`The versions are ${listed.join("; ")} instead of ${wanted.join("; ")}`)
    }
  }

  private async facts(): Promise<ReadonlyArray<Facts>> {
    const { published, inFlightMillis, hasBackfill } = this.feed
    const all: Array<Facts> = []
    for (const id of this.ids) {
      const made = id === this.changing ? this.made : []
      all.push({
        ...(await this.client.listed(id)),
        versions: await this.client.versions(id),
        published,
        made,
        inFlightMillis,
        hasBackfill
      })
    }
    return all
  }
}

const described = ({ name, overrides, paused }: Wanted): string =>
  `${name} ${PLATFORM_IDS.map((id) => `${id} ${overrides[id]}`).join()}${paused ? " paused" : ""}`

/** The filters that the platform is to hold, each once. */
const textsOn = (platform: PlatformId, rules: ReadonlyArray<Rule>): string => {
  const wanted = rules
    .flatMap((rule) => [rule.platforms[platform], rule.shadow?.platforms[platform]])
    .flatMap((registration) =>
      registration === undefined || registration.state === "paused" ? [] : [registration.translated_value]
    )
  return [...new Set(wanted)].sort().join()
}
