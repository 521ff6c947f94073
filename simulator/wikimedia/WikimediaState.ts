/** The stream of recent changes: two data centres, of which one is active, with Kafka's times and offsets. */
import { Either } from "effect"
import { changeId } from "../../core/syntax/wikimedia/change.ts"
import { type JsonObject, objectOf } from "../../core/text/json.ts"
import type { World } from "../World.ts"

export interface KeptChange {
  readonly topic: string
  readonly offset: number
  /** Kafka's time, in milliseconds. Not in order: it runs backwards by some milliseconds. */
  readonly at: number
  readonly id: string
  readonly json: string
}

export interface WikimediaStream {
  readonly id: string
  readonly openedAt: number
  readonly sent: number
  /** Makes the stream look for new changes. */
  readonly wake: () => void
}

export const TOPICS = ["eqiad.mediawiki.recentchange", "codfw.mediawiki.recentchange"] as const

export class WikimediaState {
  readonly world: World
  readonly streams = new Set<WikimediaStream>()
  /** In the order of arrival. */
  readonly kept: Array<KeptChange> = []
  /** How many of the oldest ones are gone. */
  forgotten = 0
  published = 0
  private active = 0
  private readonly offsets = TOPICS.map((_, index) => 1_000 * (index + 1))
  private canaryAt: number | undefined

  constructor(world: World) {
    this.world = world
  }

  /** Left is the error for an event that is no change. */
  publish(payload: JsonObject, now: number): Either.Either<number, string> {
    this.published++
    return Either.map(
      changeId(payload, () => this.world.uuid()),
      (id) => {
        this.switchIfTold(now)
        const { time_jitter_ms } = this.world.settings.wikimedia
        this.add(payload, { id, at: now - this.world.random.below(time_jitter_ms + 1), index: this.active, now })
        return 0
      }
    )
  }

  nextCanaryAt(now: number): number {
    const { canary_seconds } = this.world.settings.wikimedia
    return canary_seconds === 0
      ? Number.POSITIVE_INFINITY
      : this.canaryAt === undefined
        ? now
        : this.canaryAt + canary_seconds * 1_000
  }

  /** Both data centres get a canary when one is due. */
  addCanaries(now: number): void {
    if (now < this.nextCanaryAt(now)) return
    this.canaryAt = now
    for (const index of TOPICS.keys()) {
      const id = this.world.uuid()
      const meta = { id, domain: "canary", dt: new Date(now).toISOString(), stream: "mediawiki.recentchange" }
      this.add(
        { $schema: "/mediawiki/recentchange/1.0.0", meta, type: "edit", wiki: "canary" },
        { id, at: now, index, now }
      )
    }
  }

  private switchIfTold(now: number): void {
    const fault = this.world.faults.take("switch", { platform: "wikimedia", endpoint: "stream", now })
    if (fault !== undefined) this.active = 1 - this.active
  }

  private add(
    payload: JsonObject,
    { id, at, index, now }: { readonly id: string; readonly at: number; readonly index: number; readonly now: number }
  ): void {
    const topic = TOPICS[index] ?? TOPICS[0]
    const offset = this.offsets[index] ?? 0
    this.offsets[index] = offset + 1
    const json = JSON.stringify({ ...payload, meta: { ...objectOf(payload["meta"]), id, topic, partition: 0, offset } })
    this.kept.push({ topic, offset, at, id, json })
    const oldest = now - this.world.settings.wikimedia.retention_hours * 3_600_000
    while ((this.kept[0]?.at ?? now) < oldest) {
      this.kept.shift()
      this.forgotten++
    }
    for (const stream of this.streams) stream.wake()
  }
}
