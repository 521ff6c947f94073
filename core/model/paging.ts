/** Fields of the lists that are read in pages: matches, and the attempts of a webhook. */
import type { Schema } from "effect"
import { optional } from "./optional.ts"
import { wholeNumber } from "./wholeNumber.ts"

export const MAX_PAGE = 500
export const DEFAULT_PAGE = 50

/** `expected`: error for a value that is not a cursor. */
export const cursorField = <A>(
  id: Schema.Schema<A, string>,
  { expected, description }: { readonly expected: string; readonly description: string }
) =>
  optional(
    id.annotations({
      message: () => ({ message: expected, override: true }),
      jsonSchema: { type: "string", description }
    })
  )

/** Of a request. */
export const pageFields = <A>(id: Schema.Schema<A, string>) => ({
  limit: wholeNumber({ max: MAX_PAGE, fallback: DEFAULT_PAGE }),
  cursor: cursorField(id, {
    expected: "Expected the next_cursor of an earlier response",
    description: "The next_cursor of an earlier response: returns the page after it"
  })
})

/** Of a response. */
export const nextCursor = <A>(id: Schema.Schema<A, string>) =>
  optional(
    id.annotations({
      jsonSchema: { type: "string", description: "Send it as cursor for the next page; absent on the last page" }
    })
  )
