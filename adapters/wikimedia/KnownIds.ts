/** Ids of events that were received: a resumed stream sends the last seconds again. */

export class KnownIds {
  private readonly ids = new Set<string>()

  constructor(ids: Iterable<string> = []) {
    for (const id of ids) this.ids.add(id)
  }

  /** False if it was there already. */
  add(id: string): boolean {
    if (this.ids.has(id)) return false
    this.ids.add(id)
    for (const oldest of this.ids) {
      if (this.ids.size <= MAX_IDS) break
      this.ids.delete(oldest)
    }
    return true
  }

  get all(): Iterable<string> {
    return this.ids
  }
}

// ---- helpers ----

/** Several minutes of changes; a resumed stream goes back little more than one. */
const MAX_IDS = 20_000
