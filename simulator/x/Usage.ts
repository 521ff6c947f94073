/** The posts that the app pays for: each post is charged once a day. */
import { DAY_MILLIS } from "../../core/model/Timestamp.ts"
import type { World } from "../World.ts"

export class Usage {
  private readonly world: World
  private readonly days = new Map<string, Set<string>>()
  private paid = 0
  /** Of `paid`, the part from before the last reset of the usage cap. */
  private paidBefore = 0
  private cappedAt: number | undefined

  constructor(world: World) {
    this.world = world
  }

  recordRead(postId: string, now: number): void {
    const day = dayOf(now)
    const posts = this.days.get(day) ?? new Set()
    this.days.set(day, posts)
    if (posts.has(postId)) return
    posts.add(postId)
    this.paid++
  }

  get hasCredits(): boolean {
    const { credits } = this.world.settings.x
    return credits === null || this.paid < credits
  }

  /** When the reached usage cap resets; undefined below the cap. */
  capResetAt(now: number): number | undefined {
    const { usage_cap, usage_cap_reset_seconds } = this.world.settings.x
    if (usage_cap === null || this.paid - this.paidBefore < usage_cap) {
      this.cappedAt = undefined
      return undefined
    }
    this.cappedAt ??= now
    const resetAt = this.cappedAt + usage_cap_reset_seconds * 1_000
    if (now < resetAt) return resetAt
    this.paidBefore = this.paid
    return undefined
  }

  sinceReset(now: number): number {
    this.capResetAt(now)
    return this.paid - this.paidBefore
  }

  get total(): number {
    return this.paid
  }

  /** The last days, today last. */
  perDay(days: number, now: number): ReadonlyArray<{ readonly date: string; readonly usage: number }> {
    return Array.from({ length: days }, (_, index) => dayOf(now - (days - 1 - index) * DAY_MILLIS)).map((day) => ({
      date: `${day}T00:00:00.000Z`,
      usage: this.days.get(day)?.size ?? 0
    }))
  }
}

// ---- helpers ----

const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)
