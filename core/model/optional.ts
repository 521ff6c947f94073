/** A field that may be absent, in requests and answers. */
import { Schema } from "effect"

export const optional = <A, I, R>(schema: Schema.Schema<A, I, R>, description?: string) => {
  const field = Schema.optionalWith(schema, { exact: true })
  return description === undefined ? field : field.annotations({ description })
}
