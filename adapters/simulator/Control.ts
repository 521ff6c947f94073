/** The strings behind the stage, for tests in process and for the control endpoints alike. */
import { Effect, Either } from "effect"
import { firehose } from "../../core/syntax/firehose/firehose.ts"
import { x } from "../../core/syntax/x/x.ts"
import { eventReader } from "../local/events.ts"
import type { SimulatedPlatform } from "./endpoints.ts"
import type { Fault, FaultRequest } from "./faults.ts"
import type { FirehoseState } from "./firehose/FirehoseState.ts"
import type { Settings, SettingsPatch } from "./settings.ts"
import type { World } from "./World.ts"
import type { XState } from "./x/XState.ts"

export interface Published {
  readonly accepted: Readonly<Record<SimulatedPlatform, number>>
  /** Rules that the events met, of all apps and taps together. */
  readonly matches: number
}

export class Control {
  private readonly world: World
  private readonly x: XState
  private readonly firehose: FirehoseState

  constructor(world: World, x: XState, firehose: FirehoseState) {
    this.world = world
    this.x = x
    this.firehose = firehose
  }

  get settings(): Settings {
    return this.world.settings
  }

  readonly patch = (patch: SettingsPatch): Effect.Effect<Settings> =>
    Effect.sync(() => {
      this.world.patch(patch)
      return this.world.settings
    })

  readonly inject = (request: FaultRequest): Effect.Effect<Fault> =>
    Effect.map(this.world.now, (now) => {
      const fault = this.world.faults.inject(request, now)
      const { platform } = request
      if (request.kind === "drop-rules" && this.world.faults.take("drop-rules", { platform, now }) !== undefined) {
        if (platform === "x") this.x.dropRules()
        else this.firehose.dropRules()
        this.world.faults.clear(fault.id)
        return { ...fault, fired: 1 }
      }
      this.world.changed()
      return fault
    })

  /** All faults, or one. False: there is no such fault. */
  readonly clear = (id?: string): Effect.Effect<boolean> =>
    Effect.sync(() => {
      const isCleared = this.world.faults.clear(id)
      this.world.changed()
      return isCleared
    })

  /** Those that are still to fire. */
  readonly faults: Effect.Effect<ReadonlyArray<Fault>> = Effect.suspend(() =>
    Effect.map(this.world.now, (now) => this.world.faults.list(now))
  )

  readonly advance = (seconds: number): Effect.Effect<number> =>
    Effect.suspend(() => {
      this.world.advance(seconds * 1_000)
      return this.world.now
    })

  readonly now: Effect.Effect<number> = Effect.suspend(() => this.world.now)

  /** All of them or none: fails with a line on the first that is no event. */
  readonly publish = (events: ReadonlyArray<unknown>): Effect.Effect<Published, string> =>
    Effect.gen(this, function* () {
      const now = yield* this.world.now
      const checked = events.map(reader.check)
      const wrong = checked.findIndex(Either.isLeft)
      const first = checked[wrong]
      if (first !== undefined && Either.isLeft(first)) return yield* Effect.fail(`Event ${wrong + 1}: ${first.left}`)
      const accepted = { x: 0, firehose: 0 }
      let matches = 0
      for (const event of checked) {
        if (Either.isLeft(event)) continue
        const { language, payload } = event.right
        const platform = language === x ? "x" : "firehose"
        const met = platform === "x" ? this.x.publish(payload, now) : this.firehose.publish(payload, now)
        accepted[platform]++
        matches += Either.getOrElse(met, () => 0)
      }
      return { accepted, matches }
    })

  /** Everything that a test may want to look at. */
  readonly state: Effect.Effect<State> = Effect.suspend(() =>
    Effect.map(this.world.now, (now): State => {
      const { ledger, faults } = this.world
      return {
        now: new Date(now).toISOString(),
        x: {
          rules: [...this.x.rules.values()].map(({ canonical: _, activeAt: __, ...rule }) => rule),
          connections: this.x.open().map(({ id, openedAt, sent }) => ({ id, openedAt, sent })),
          slots_taken: this.x.takenSlots(now),
          published: this.x.published,
          posts_read: this.x.usage.total
        },
        firehose: {
          taps: this.firehose.taps.map((tap) => ({
            id: tap.id,
            name: tap.name,
            paused: tap.isPaused,
            rules: [...tap.rules.values()],
            kept_matches: tap.matches.length
          })),
          connections: [...this.firehose.connections].map(({ id, openedAt, sent }) => ({ id, openedAt, sent })),
          published: this.firehose.published,
          matches_paid: this.firehose.paid
        },
        calls: ledger.calls,
        windows: ledger.callWindows,
        most_connections: ledger.mostConnections,
        connection_attempts: ledger.attempts,
        violations: ledger.violations,
        faults_fired: faults.fired
      }
    })
  )

  /** Ends every open stream, for good. */
  readonly hangUp: Effect.Effect<void> = Effect.sync(() => this.world.close())
}

/** As it goes over the wire; times of connections are in milliseconds. */
export interface State {
  readonly now: string
  readonly x: {
    readonly rules: ReadonlyArray<HeldRule>
    readonly connections: ReadonlyArray<OpenConnection>
    /** Also those of clients that went away. */
    readonly slots_taken: number
    readonly published: number
    readonly posts_read: number
  }
  readonly firehose: {
    readonly taps: ReadonlyArray<{
      readonly id: string
      readonly name: string
      readonly paused: boolean
      readonly rules: ReadonlyArray<HeldRule>
      readonly kept_matches: number
    }>
    readonly connections: ReadonlyArray<OpenConnection>
    readonly published: number
    readonly matches_paid: number
  }
  readonly calls: World["ledger"]["calls"]
  readonly windows: World["ledger"]["callWindows"]
  readonly most_connections: World["ledger"]["mostConnections"]
  readonly connection_attempts: World["ledger"]["attempts"]
  readonly violations: World["ledger"]["violations"]
  readonly faults_fired: Readonly<Record<string, number>>
}

interface HeldRule {
  readonly id: string
  readonly value: string
  readonly tag?: string
}

interface OpenConnection {
  readonly id: string
  readonly openedAt: number
  readonly sent: number
}

// ---- helpers ----

const reader = eventReader([x, firehose], (text) => text)
