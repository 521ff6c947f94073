/** What the app has read and pays for: each post once a day. */
import type { World } from "../World.ts"

export class Usage {
  private readonly world: World
  private readonly days = new Map<string, Set<string>>()
  private paid = 0

  constructor(world: World) {
    this.world = world
  }

  /** A post was sent. */
  read(postId: string, now: number): void {
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

  get total(): number {
    return this.paid
  }

  /** The last days, the present one last. */
  perDay(days: number, now: number): ReadonlyArray<{ readonly date: string; readonly usage: number }> {
    return Array.from({ length: days }, (_, at) => dayOf(now - (days - 1 - at) * DAY)).map((day) => ({
      date: `${day}T00:00:00.000Z`,
      usage: this.days.get(day)?.size ?? 0
    }))
  }
}

// ---- helpers ----

const DAY = 86_400_000

const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)
