/** One connection to a tap's stream: sends the tap's matches from a given offset on. */
import type { Item, Source } from "../byteStream.ts"
import { NO_RULES } from "./errors.ts"
import type { FirehoseState, FirehoseStream } from "./FirehoseState.ts"
import type { Tap } from "./Tap.ts"

export class FirehoseConnection implements Source, FirehoseStream {
  readonly platform = "firehose"
  readonly isRecovery = false
  readonly keepAlive = ": keepalive\n\n"
  readonly id: string
  readonly openedAt: number
  readonly tap: Tap
  sent = 0
  private readonly state: FirehoseState
  private readonly endsAt: number
  private readonly limit: number
  private nextOffset: number
  private readonly scripted: Array<Item>
  private isTapDeleted = false
  private wakeListener = () => {}

  constructor(options: {
    readonly state: FirehoseState
    readonly tap: Tap
    readonly now: number
    readonly offset: number
    readonly timeoutMillis: number
    readonly limit: number
  }) {
    const { state, tap, now } = options
    this.state = state
    this.tap = tap
    this.id = state.world.uuid()
    this.openedAt = now
    this.endsAt = now + options.timeoutMillis
    this.limit = options.limit
    this.nextOffset = options.offset
    this.scripted = [
      notice("connected", state.world.settings.firehose.empty_data),
      ...(tap.rules.size === 0 ? [noRulesNotice, end] : [])
    ]
  }

  wake(): void {
    this.wakeListener()
  }

  end(): void {
    this.isTapDeleted = true
    this.wake()
  }

  onWake(wake: () => void): void {
    this.wakeListener = wake
  }

  keepAliveSeconds(): number {
    return this.state.world.settings.firehose.keep_alive_seconds
  }

  closingItems(now: number): ReadonlyArray<Item> | undefined {
    if (this.isTapDeleted) return [end]
    const { world } = this.state
    const fault = world.faults.take("stream-error", { platform: "firehose", endpoint: "stream", now })
    return fault === undefined ? undefined : [notice("error", JSON.stringify({ message: fault.message })), end]
  }

  next(now: number): Item | undefined {
    const item = this.scripted.shift()
    if (item !== undefined) return item
    const { firehose } = this.state.world.settings
    if (firehose.rules_gone === "error" && this.tap.rules.size === 0) return this.endAfter(noRulesNotice)
    const isDone = this.sent >= this.limit || now >= this.endsAt
    if (isDone || (firehose.no_credits === "close" && !this.state.hasCredits)) {
      return this.endAfter(notice("end", firehose.empty_data))
    }
    if (this.tap.isPaused) return undefined
    const match = firstFrom(this.tap.keptMatches(now, firehose.retention_hours * 3_600_000), this.nextOffset)
    if (match === undefined) return undefined
    this.nextOffset = match.offset + 1
    this.sent++
    if (!match.isPaid) this.state.paidMatches++
    match.isPaid = true
    const event = `${firehose.partition}-${match.offset}`
    const head = `id: ${event}\nevent: update\ndata: `
    return { type: "record", frame: { head, json: match.json, tail: "\n\n" }, sent: { event, ...match.sent } }
  }

  nextCheckAt(): number {
    return this.endsAt
  }

  onClose(): void {
    this.state.streams.delete(this)
  }

  private endAfter(item: Item): Item {
    this.scripted.push(end)
    return item
  }
}

// ---- helpers ----

const end: Item = { type: "end" }

const notice = (name: string, data: string): Item => ({ type: "notice", text: `event: ${name}\ndata: ${data}\n\n` })

const noRulesNotice = notice("error", JSON.stringify({ message: NO_RULES }))

/** Binary search: a tap can keep many matches, and every record is looked up. */
const firstFrom = <A extends { readonly offset: number }>(sorted: ReadonlyArray<A>, offset: number): A | undefined => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle]?.offset ?? 0) < offset) low = middle + 1
    else high = middle
  }
  return sorted[low]
}
