/** Recognizes events that were seen before: a platform can send an event twice, and two logs can hold it. */
import { Fingerprints } from "../engine/fingerprints.ts"

export class SeenEvents {
  /** Hashes of event ids, because an id can be a whole page. */
  private readonly seen = new Set<string>()
  private readonly fingerprints = new Fingerprints(1)

  /** False for an id that was added before. */
  add(id: string): boolean {
    this.fingerprints.hashText(0, id)
    const hash = `${this.fingerprints.high} ${this.fingerprints.low}`
    if (this.seen.has(hash)) return false
    this.seen.add(hash)
    return true
  }
}
