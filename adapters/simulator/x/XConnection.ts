/** One connection to X's stream: what waits to be sent on it, and the slot that it takes. */
import type { Item, Source } from "../body.ts"
import { type Fields, recordOf } from "./fields.ts"
import { planOf } from "./plan.ts"
import { disconnectLine, usageCappedLine } from "./problems.ts"
import type { Published, XState } from "./XState.ts"

export class XConnection implements Source {
  readonly platform = "x"
  readonly keepAlive = "\r\n"
  readonly id: string
  readonly openedAt: number
  readonly isRecovery: boolean
  closedAt: number | undefined
  disconnectReason: string | undefined
  sent = 0
  private readonly state: XState
  private readonly fields: Fields
  private readonly waiting: Array<Published>
  private readonly lastWords: Array<Item> = []
  private freeAt: number | undefined
  private wake = () => {}
  private second = { start: 0, sent: 0 }

  constructor(options: {
    readonly state: XState
    readonly now: number
    readonly fields: Fields
    readonly backlog: ReadonlyArray<Published>
    readonly isRecovery: boolean
  }) {
    this.state = options.state
    this.id = options.state.world.uuid()
    this.openedAt = options.now
    this.fields = options.fields
    this.waiting = [...options.backlog]
    this.isRecovery = options.isRecovery
  }

  get isOpen(): boolean {
    return this.closedAt === undefined
  }

  holdsSlot(now: number): boolean {
    return this.freeAt === undefined || this.freeAt > now
  }

  offer(post: Published): void {
    if (this.isRecovery) return
    this.waiting.push(post)
    if (this.waiting.length > this.state.world.settings.x.send_queue) {
      this.waiting.length = 0
      this.end(disconnectLine(this.state.world.settings, "SlowReader"), "slow_reader")
    }
    this.wake()
  }

  /** Ends the stream, with a last line or without one. */
  end(line: string | undefined, reason: string): void {
    this.disconnectReason ??= reason
    this.lastWords.push(...(line === undefined ? [] : [{ type: "notice", text: line } as const]), { type: "end" })
    this.wake()
  }

  onWake(wake: () => void): void {
    this.wake = wake
  }

  keepAliveSeconds(): number {
    return this.state.world.settings.x.keep_alive_seconds
  }

  farewell(now: number): ReadonlyArray<Item> | undefined {
    const { world } = this.state
    const fault = world.faults.take("disconnect", { platform: "x", endpoint: "stream", now })
    if (fault !== undefined) this.end(disconnectLine(world.settings, fault.disconnect_type), "operational_disconnect")
    else if (world.settings.x.rules_gone === "disconnect" && this.state.rules.size === 0) {
      this.end(disconnectLine(world.settings, "InvalidRules"), "invalid_rules")
    }
    return this.lastWords.length === 0 ? undefined : this.lastWords.splice(0)
  }

  next(now: number): Item | undefined {
    if (this.waiting.length === 0) return this.isRecovery ? { type: "end" } : undefined
    const { world, usage } = this.state
    if (!usage.hasCredits) {
      this.end(usageCappedLine(world.settings), "usage_capped")
      return this.lastWords.shift()
    }
    if (now - this.second.start >= 1_000) this.second = { start: now, sent: 0 }
    if (this.second.sent >= planOf(world.settings).postsPerSecond) return undefined
    const post = this.waiting.shift()
    if (post === undefined) return undefined
    this.second.sent++
    this.sent++
    usage.read(post.id, now)
    const json = JSON.stringify(recordOf(post, this.fields, world.settings.x.vocabulary))
    return { type: "record", frame: { head: "", json, tail: "\r\n" } }
  }

  again(): number | undefined {
    return this.waiting.length === 0 ? undefined : this.second.start + 1_000
  }

  closed(by: "server" | "client", now: number): void {
    const { world } = this.state
    this.closedAt = now
    this.disconnectReason ??= by === "server" ? "server_disconnect" : "client_disconnect"
    if (by === "server") {
      this.freeAt = now
      return
    }
    const held = world.faults.take("hold-slot", { platform: "x", endpoint: "stream", now })
    this.freeAt = now + (held?.hold_seconds ?? world.settings.x.dead_slot_seconds) * 1_000
  }
}
