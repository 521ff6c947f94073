/** Error for a store that cannot be opened at start-up, with a message for the operator. */
import { Data } from "effect"

export class StoreCannotOpen extends Data.TaggedError("StoreCannotOpen")<{
  /** The folder, or the server and database; never a password. */
  readonly location: string
  readonly reason: string
  /** What the operator can do about it. */
  readonly remedy: string
  readonly cause: unknown
}> {
  override get message() {
    return `Cannot open the store at "${this.location}": ${this.reason}. ${this.remedy}`
  }
}
