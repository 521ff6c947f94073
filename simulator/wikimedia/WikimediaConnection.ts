/** One connection to the stream of changes: sends what each topic has from its start on. */
import type { Item, Source } from "../byteStream.ts"
import { TOPICS, type WikimediaState, type WikimediaStream } from "./WikimediaState.ts"

/** Where a topic starts: at a time in milliseconds, at an offset, or with what comes next. */
export type Start = { readonly timestamp: number } | { readonly offset: number } | "newest"

export class WikimediaConnection implements Source, WikimediaStream {
  readonly platform = "wikimedia"
  readonly isRecovery = false
  readonly keepAlive = ":keepalive\n\n"
  readonly id: string
  readonly openedAt: number
  sent = 0
  private readonly state: WikimediaState
  private readonly starts: ReadonlyMap<string, Start>
  private readonly firstNew: number
  private readonly endsAt: number
  /** Number of the next change, counted from the first one ever. */
  private next_: number
  private isOpened = false
  private wakeListener = () => {}
  /** The last time of each topic, plus a millisecond, as the platform writes it. */
  private readonly times = new Map<string, number>()

  constructor(
    state: WikimediaState,
    { now, starts }: { readonly now: number; readonly starts: ReadonlyMap<string, Start> }
  ) {
    this.state = state
    this.id = state.world.uuid()
    this.openedAt = now
    this.starts = starts
    this.firstNew = state.forgotten + state.kept.length
    this.next_ = [...starts.values()].every((start) => start === "newest") ? this.firstNew : state.forgotten
    this.endsAt = now + state.world.settings.wikimedia.connection_seconds * 1_000
    for (const [topic, start] of starts) {
      if (start !== "newest" && "timestamp" in start) this.times.set(topic, start.timestamp)
    }
  }

  wake(): void {
    this.wakeListener()
  }

  onWake(wake: () => void): void {
    this.wakeListener = wake
  }

  keepAliveSeconds(): number {
    return 0
  }

  closingItems(now: number): ReadonlyArray<Item> | undefined {
    return now >= this.endsAt ? [{ type: "end" }] : undefined
  }

  next(now: number): Item | undefined {
    if (!this.isOpened) {
      this.isOpened = true
      return { type: "notice", text: ":ok\n\n" }
    }
    this.state.addCanaries(now)
    const { state } = this
    for (;;) {
      this.next_ = Math.max(this.next_, state.forgotten)
      const change = state.kept[this.next_ - state.forgotten]
      if (change === undefined) return undefined
      const number = this.next_++
      const start = this.starts.get(change.topic) ?? "newest"
      const isWanted =
        number >= this.firstNew ||
        (start !== "newest" && ("timestamp" in start ? change.at >= start.timestamp : change.offset >= start.offset))
      if (!isWanted) continue
      this.times.set(change.topic, change.at + 1)
      // The platform itself loses a change: its offset is missing.
      const target = { platform: "wikimedia", endpoint: "stream", now } as const
      if (state.world.faults.take("offset-jump", target) !== undefined) continue
      this.sent++
      const head = `event: message\nid: ${this.eventId}\ndata: `
      return { type: "record", frame: { head, json: change.json, tail: "\n\n" }, sent: { event: change.id, rules: [] } }
    }
  }

  nextCheckAt(now: number): number {
    return Math.min(this.endsAt, this.state.nextCanaryAt(now))
  }

  onClose(): void {
    this.state.streams.delete(this)
  }

  private get eventId(): string {
    return JSON.stringify(
      TOPICS.map((topic) => {
        const timestamp = this.times.get(topic)
        return { topic, partition: 0, ...(timestamp === undefined ? { offset: -1 } : { timestamp }) }
      })
    )
  }
}
