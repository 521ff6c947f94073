/** Why a store could not be opened at start-up, in words for the operator. */
import { Data } from "effect"

export class StoreCannotOpen extends Data.TaggedError("StoreCannotOpen")<{
  /** The folder, or the server and database; never a password. */
  readonly place: string
  readonly reason: string
  /** What the operator can do about it. */
  readonly remedy: string
  readonly cause: unknown
}> {
  override get message() {
    return `Cannot open the store at "${this.place}": ${this.reason}. ${this.remedy}`
  }
}
