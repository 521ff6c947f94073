/** Schemas of events, in which a platform may send more fields than are known. */
import { Schema } from "effect"

export const open = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields, Schema.Record({ key: Schema.String, value: Schema.Unknown }))

export const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

export const list = <A, I>(item: Schema.Schema<A, I>) => optional(Schema.Array(item))
