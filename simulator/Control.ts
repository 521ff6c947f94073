/** Controls the simulator: settings, faults, clock, events and state. Used by tests and by the control endpoints. */
import { Effect, Either } from "effect"
import { eventReader } from "../adapters/local/events.ts"
import { feeds } from "../core/languages/feeds.ts"
import { firehose } from "../core/languages/firehose.ts"
import { wikimedia } from "../core/languages/wikimedia.ts"
import { x } from "../core/languages/x.ts"
import type { DeliveryPage } from "./Deliveries.ts"
import type { SimulatedPlatform } from "./endpoints.ts"
import type { Fault, FaultRequest } from "./faults.ts"
import type { FeedsState, ItemTruth } from "./feeds/FeedsState.ts"
import type { FirehoseState } from "./firehose/FirehoseState.ts"
import type { Settings, SettingsPatch } from "./settings.ts"
import type { World } from "./World.ts"
import type { WikimediaState } from "./wikimedia/WikimediaState.ts"
import type { PostChange } from "./x/Posts.ts"
import type { PostTruth, XState } from "./x/XState.ts"

export interface PublishResult {
  readonly accepted: Readonly<Record<"x" | "firehose", number> & Partial<Record<SimulatedPlatform, number>>>
  /** Matched rules, summed over all events and taps. */
  readonly matches: number
}

export interface DeliveredTruth extends Omit<PostTruth, "rules"> {
  readonly rules: ReadonlyArray<PostTruth["rules"][number] & { readonly delivered: boolean }>
}

export class Control {
  private readonly world: World
  private readonly x: XState
  private readonly firehose: FirehoseState
  private readonly wikimedia: WikimediaState
  private readonly feeds: FeedsState

  constructor(
    world: World,
    {
      x,
      firehose,
      wikimedia,
      feeds
    }: {
      readonly x: XState
      readonly firehose: FirehoseState
      readonly wikimedia: WikimediaState
      readonly feeds: FeedsState
    }
  ) {
    this.world = world
    this.x = x
    this.firehose = firehose
    this.wikimedia = wikimedia
    this.feeds = feeds
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
        else if (platform === "firehose") this.firehose.dropRules()
        this.world.faults.clear(fault.id)
        return { ...fault, fired: 1 }
      }
      this.world.notify()
      return fault
    })

  /** Clears one fault, or all without an id. False for an unknown id. */
  readonly clear = (id?: string): Effect.Effect<boolean> =>
    Effect.sync(() => {
      const isCleared = this.world.faults.clear(id)
      this.world.notify()
      return isCleared
    })

  /** The active faults. */
  readonly faults: Effect.Effect<ReadonlyArray<Fault>> = Effect.suspend(() =>
    Effect.map(this.world.now, (now) => this.world.faults.list(now))
  )

  readonly advance = (seconds: number): Effect.Effect<number> =>
    Effect.suspend(() => {
      this.world.advance(seconds * 1_000)
      return this.world.now
    })

  readonly now: Effect.Effect<number> = Effect.suspend(() => this.world.now)

  /** Publishes all events or none. Fails with a message on the first invalid event. */
  readonly publish = (events: ReadonlyArray<unknown>): Effect.Effect<PublishResult, string> =>
    Effect.gen(this, function* () {
      const now = yield* this.world.now
      const checked = yield* Effect.forEach(events, (event, index) =>
        Either.mapLeft(reader.check(event), (message) => `Event ${index + 1}: ${message}`)
      )
      const accepted: Record<"x" | "firehose", number> & Partial<Record<SimulatedPlatform, number>> = {
        x: 0,
        firehose: 0
      }
      let matches = 0
      for (const { language, payload } of checked) {
        // One of those that the reader has.
        const platform = language.id as SimulatedPlatform
        accepted[platform] = (accepted[platform] ?? 0) + 1
        if (platform === "feeds") this.feeds.publish(payload, now)
        else matches += Either.getOrElse(this[platform].publish(payload, now), () => 0)
      }
      return { accepted, matches }
    })

  /** What went out on streams after the number `since`, oldest first. */
  readonly delivered = (since: number, limit: number): Effect.Effect<DeliveryPage> =>
    Effect.sync(() => this.world.deliveries.page(since, limit))

  /** The newest posts that meet rules of X, oldest first, and whether they were delivered for each of them. */
  readonly truth: Effect.Effect<ReadonlyArray<DeliveredTruth>> = Effect.sync(() => {
    const delivered = this.world.deliveries.intact("x")
    return this.x.truth.map(({ rules, ...post }) => ({
      ...post,
      rules: rules.map((rule) => ({ ...rule, delivered: delivered.get(post.id)?.has(rule.id) ?? false }))
    }))
  })

  /** The newest items of the feeds, and when they were shown. */
  readonly itemTruth: Effect.Effect<ReadonlyArray<ItemTruth>> = Effect.sync(() => this.feeds.truth)

  /** Returns how many of the posts were published. */
  readonly changePosts = (change: typeof PostChange.Type): Effect.Effect<number> =>
    Effect.sync(() => this.x.postsById.change(change))

  /** As JSON. Times of connections are in milliseconds. */
  readonly state = Effect.suspend(() =>
    Effect.map(this.world.now, (now) => {
      const { ledger, faults } = this.world
      return {
        now: new Date(now).toISOString(),
        x: {
          rules: [...this.x.rules.values()].map(({ canonical: _, activeAt: __, ...rule }) => rule),
          connections: this.x.openStreams().map(({ id, openedAt, sent }) => ({ id, openedAt, sent })),
          /** Includes slots still held for disconnected clients. */
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
          connections: [...this.firehose.streams].map(({ id, openedAt, sent }) => ({ id, openedAt, sent })),
          published: this.firehose.published,
          matches_paid: this.firehose.paidMatches
        },
        wikimedia: {
          connections: [...this.wikimedia.streams].map(({ id, openedAt, sent }) => ({ id, openedAt, sent })),
          published: this.wikimedia.published
        },
        feeds: {
          feeds: this.feeds.feeds.map(({ name, format, documents, validators }) => ({
            path: `/feeds/${name}`,
            format,
            /** Sent to their end and without damage. */
            documents,
            etag: validators.etag
          })),
          published: this.feeds.published
        },
        calls: ledger.calls,
        windows: ledger.callWindows,
        most_connections: ledger.peakConnections,
        connection_attempts: ledger.attempts,
        violations: ledger.violations,
        faults_fired: faults.fired
      }
    })
  )

  /** Ends every open stream. New ones end at once. */
  readonly close: Effect.Effect<void> = Effect.sync(() => this.world.close())
}

export type State = Effect.Effect.Success<Control["state"]>

// ---- helpers ----

const reader = eventReader([x, firehose, wikimedia, feeds], (text) => text)
