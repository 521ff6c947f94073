/** One connection to X's stream: its send queue and the slot it holds. */
import type { JsonObject } from "../../core/text/json.ts"
import type { Item, Source } from "../byteStream.ts"
import type { DamagedBy } from "../Deliveries.ts"
import { type Fields, recordOf } from "./fields.ts"
import { planOf } from "./plan.ts"
import { disconnectLine, usageCappedLine } from "./problems.ts"
import type { MatchedPost, XState, XStream } from "./XState.ts"

export class XConnection implements Source, XStream {
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
  private readonly queue: Array<MatchedPost>
  private readonly closing: Array<Item> = []
  private slotFreeAt: number | undefined
  private wake = () => {}
  private rateWindow = { start: 0, sent: 0 }
  /** Records of the backfill that are not sent yet. */
  private backlogLeft: number
  /** Cuts the connection at that many sent records. */
  private cutAt: number | undefined

  /** `backlog`: of the backfill. `coming`: posts that arrive later, because they are late. */
  constructor(options: {
    readonly state: XState
    readonly now: number
    readonly fields: Fields
    readonly backlog: ReadonlyArray<MatchedPost>
    readonly coming: ReadonlyArray<MatchedPost>
    readonly isRecovery: boolean
  }) {
    this.state = options.state
    this.id = options.state.world.uuid()
    this.openedAt = options.now
    this.fields = options.fields
    this.queue = [...options.backlog, ...options.coming]
    this.backlogLeft = options.backlog.length
    this.isRecovery = options.isRecovery
  }

  get isOpen(): boolean {
    return this.closedAt === undefined
  }

  holdsSlot(now: number): boolean {
    return this.slotFreeAt === undefined || this.slotFreeAt > now
  }

  offer(post: MatchedPost): void {
    if (this.isRecovery) return
    this.queue.push(post)
    if (this.queue.length > this.state.world.settings.x.send_queue) {
      this.queue.length = 0
      this.end(disconnectLine(this.state.world.settings, "SlowReader"), "slow_reader")
    }
    this.wake()
  }

  end(line: string | undefined, reason: string): void {
    this.disconnectReason ??= reason
    if (line !== undefined) this.closing.push({ type: "notice", text: line })
    this.closing.push({ type: line === undefined && this.isRecovery ? "cut" : "end" })
    this.wake()
  }

  kill(now: number): void {
    this.disconnectReason = "operator_disconnect"
    if (this.isOpen) this.end(undefined, this.disconnectReason)
    else this.slotFreeAt = now
  }

  onWake(wake: () => void): void {
    this.wake = wake
  }

  keepAliveSeconds(): number {
    return this.state.world.settings.x.keep_alive_seconds
  }

  closingItems(now: number): ReadonlyArray<Item> | undefined {
    const { world } = this.state
    const fault = world.faults.take("disconnect", { platform: "x", endpoint: "stream", now })
    if (fault !== undefined) this.end(disconnectLine(world.settings, fault.disconnect_type), "operational_disconnect")
    else if (world.settings.x.rules_gone === "disconnect" && this.state.rules.size === 0) {
      this.end(disconnectLine(world.settings, "InvalidRules"), "invalid_rules")
    }
    return this.closing.length === 0 ? undefined : this.closing.splice(0)
  }

  next(now: number): Item | undefined {
    if (this.queue.length === 0) return this.isRecovery ? { type: "end" } : undefined
    const { world, usage } = this.state
    if (!usage.hasCredits || usage.capResetAt(now) !== undefined) {
      this.end(usageCappedLine(world.settings), "usage_capped")
      return this.closing.shift()
    }
    if (now - this.rateWindow.start >= 1_000) this.rateWindow = { start: now, sent: 0 }
    if (this.rateWindow.sent >= planOf(world.settings).postsPerSecond) return undefined
    if (this.isBackfillCut(now)) return { type: "cut" }
    const ready = this.queue.findIndex(({ arrivesAt }) => arrivesAt <= now)
    const [post] = ready < 0 ? [] : this.queue.splice(ready, 1)
    if (post === undefined) return undefined
    this.rateWindow.sent++
    this.sent++
    this.backlogLeft--
    usage.recordRead(post.id, now)
    const rules = post.matchingRules.map(({ id }) => id)
    const { record, damaged_by } = this.damaged(recordOf(post, this.fields, world.settings.x.vocabulary), now)
    const frame = { head: "", json: JSON.stringify(record), tail: "\r\n" }
    return { type: "record", frame, sent: { event: post.id, rules, ...(damaged_by && { damaged_by }) } }
  }

  nextCheckAt(now: number): number | undefined {
    const first = Math.min(...this.queue.map(({ arrivesAt }) => arrivesAt))
    if (first === Number.POSITIVE_INFINITY) return undefined
    return first <= now ? this.rateWindow.start + 1_000 : first
  }

  private isBackfillCut(now: number): boolean {
    if (this.isRecovery || this.backlogLeft <= 0) return false
    if (this.cutAt === undefined) {
      const fault = this.state.world.faults.take("cut-backfill", { platform: "x", endpoint: "stream", now })
      this.cutAt = fault === undefined ? undefined : this.sent + fault.records
    }
    return this.sent >= (this.cutAt ?? Number.POSITIVE_INFINITY)
  }

  private damaged(record: JsonObject, now: number): { readonly record: JsonObject; readonly damaged_by?: DamagedBy } {
    const { faults } = this.state.world
    const target = { platform: "x", endpoint: "stream", now } as const
    if (faults.take("without-rules", target) !== undefined) {
      const { matching_rules: _, ...rest } = record
      return { record: rest, damaged_by: "without-rules" }
    }
    if (faults.take("unknown-rules", target) !== undefined) {
      const id = String(9_000_000_000_000_000 + this.state.world.random.below(1_000_000_000))
      return { record: { ...record, matching_rules: [{ id }] }, damaged_by: "unknown-rules" }
    }
    const oversized = faults.take("oversized", target)
    if (oversized === undefined) return { record }
    return { record: { ...record, padding: "x".repeat(oversized.bytes) }, damaged_by: "oversized" }
  }

  onClose(by: "server" | "client", now: number): void {
    const { world } = this.state
    this.closedAt = now
    this.disconnectReason ??= by === "server" ? "server_disconnect" : "client_disconnect"
    if (by === "server") {
      this.slotFreeAt = now
      return
    }
    const hold = world.faults.take("hold-slot", { platform: "x", endpoint: "stream", now })
    this.slotFreeAt = now + (hold?.hold_seconds ?? world.settings.x.dead_slot_seconds) * 1_000
  }
}
