/** Names and descriptions in requests. */
import { Schema } from "effect"

/** Text that every store accepts: no NUL, no lone surrogate. */
export const StorableText = Schema.String.pipe(
  Schema.filter((text) => !text.includes("\0") || "Contains a NUL character: remove it"),
  Schema.filter((text) => text.isWellFormed() || "Contains half of a surrogate pair: send valid Unicode")
)

export const trimmedText = (max: number) =>
  Schema.compose(Schema.Trim, StorableText).pipe(
    Schema.filter((text) => text.length > 0 || "Is empty: give at least one character that is not a space"),
    Schema.filter((text) => text.length <= max || `Is too long: ${text.length} characters, at most ${max} are allowed`)
  )
