/** Errors of the copy of a store to another database. */
import { Data } from "effect"

/** Nothing was changed, or nothing but an incomplete copy. */
export class CannotCopyStore extends Data.TaggedError("CannotCopyStore")<{
  /** Of the target. */
  readonly location: string
  readonly reason: string
  readonly remedy: string
}> {
  override get message() {
    return `Cannot copy the store to "${this.location}": ${this.reason}. ${this.remedy}`
  }
}

/** A database failed on the way. */
export class CopyStopped extends Data.TaggedError("CopyStopped")<{
  readonly location: string
  readonly cause: unknown
}> {
  override get message() {
    const detail = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The copy to "${this.location}" has stopped: ${detail}. Run the command again to resume it`
  }
}
