/** One connection to a tap's stream: a place in its log that moves on. */
import type { Item, Source } from "../body.ts"
import { NO_RULES } from "./errors.ts"
import type { FirehoseState } from "./FirehoseState.ts"
import type { Tap } from "./Tap.ts"

export class FirehoseConnection implements Source {
  readonly platform = "firehose"
  readonly keepAlive = ": keepalive\n\n"
  readonly id: string
  readonly openedAt: number
  readonly tap: Tap
  sent = 0
  private readonly state: FirehoseState
  private readonly endsAt: number
  private readonly limit: number
  /** Offset of the next match to send. */
  private position: number
  private readonly script: Array<Item>
  private isGone = false
  private wake = () => {}

  constructor(options: {
    readonly state: FirehoseState
    readonly tap: Tap
    readonly now: number
    readonly position: number
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
    this.position = options.position
    this.script = [
      event("connected", state.world.settings.firehose.empty_data),
      ...(tap.rules.size === 0 ? [event("error", JSON.stringify({ message: NO_RULES })), END] : [])
    ]
  }

  rouse(): void {
    this.wake()
  }

  /** The tap is no more. */
  end(): void {
    this.isGone = true
    this.wake()
  }

  onWake(wake: () => void): void {
    this.wake = wake
  }

  keepAliveSeconds(): number {
    return this.state.world.settings.firehose.keep_alive_seconds
  }

  farewell(now: number): ReadonlyArray<Item> | undefined {
    if (this.isGone) return [END]
    const { world } = this.state
    const fault = world.faults.take("stream-error", { platform: "firehose", endpoint: "stream", now })
    return fault === undefined ? undefined : [event("error", JSON.stringify({ message: fault.message })), END]
  }

  next(now: number): Item | undefined {
    const scripted = this.script.shift()
    if (scripted !== undefined) return scripted
    const { firehose } = this.state.world.settings
    const isWithoutRules = firehose.rules_gone === "error" && this.tap.rules.size === 0
    if (isWithoutRules) return this.last(event("error", JSON.stringify({ message: NO_RULES })))
    const isOver = this.sent >= this.limit || now >= this.endsAt
    if (isOver || (firehose.no_credits === "close" && !this.state.hasCredits)) {
      return this.last(event("end", firehose.empty_data))
    }
    if (this.tap.isPaused) return undefined
    const match = firstFrom(this.tap.kept(now, firehose.retention_hours * 3_600_000), this.position)
    if (match === undefined) return undefined
    this.position = match.offset + 1
    this.sent++
    if (!match.isPaid) this.state.paid++
    match.isPaid = true
    const head = `id: ${firehose.partition}-${match.offset}\nevent: update\ndata: `
    return { type: "record", frame: { head, json: match.json, tail: "\n\n" } }
  }

  again(): number {
    return this.endsAt
  }

  closed(): void {
    this.state.connections.delete(this)
  }

  private last(item: Item): Item {
    this.script.push(END)
    return item
  }
}

// ---- helpers ----

const END: Item = { type: "end" }

const event = (name: string, data: string): Item => ({ type: "notice", text: `event: ${name}\ndata: ${data}\n\n` })

/** By halving: logs are long, and every record asks. */
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
