/** JSON Schemas as other tools expect them. */
import { Predicate } from "effect"

/** Without the ids and titles that Effect adds to unknown values: an id must be unique in a document. */
export const withoutIds = <A>(schema: A): A =>
  JSON.parse(JSON.stringify(schema), (name, part: unknown) =>
    (name === "$id" && typeof part === "string") || (name === "title" && part === "unknown") ? undefined : part
  )

/** The same schemas, each with a type or a reference, which readers of OpenAPI documents expect. */
export const withTypes = <A>(document: A): A =>
  JSON.parse(JSON.stringify(document), (name, part: unknown) => {
    if (!Predicate.isRecord(part)) return part
    const { allOf, anyOf, ...rest } = part
    if (isSingle(allOf) && anyOf === undefined) return { ...allOf[0], ...rest }
    if (isNullable(anyOf) && !("type" in rest)) return { ...anyOf[0], ...rest, type: [anyOf[0].type, "null"] }
    return name === "additionalProperties" && Object.keys(part).length === 0 ? true : part
  })

// ---- helpers ----

/** Effect adds a description to a reference by `allOf`. OpenAPI 3.1 allows it beside the reference. */
const isSingle = (allOf: unknown): allOf is readonly [{ readonly $ref: string }] =>
  Array.isArray(allOf) && allOf.length === 1 && Predicate.hasProperty(allOf[0], "$ref")

/** Not with an `enum`, which would exclude null. */
const isNullable = (anyOf: unknown): anyOf is readonly [{ readonly type: string }, unknown] =>
  Array.isArray(anyOf) &&
  anyOf.length === 2 &&
  Predicate.hasProperty(anyOf[0], "type") &&
  !Predicate.hasProperty(anyOf[0], "enum") &&
  Predicate.hasProperty(anyOf[1], "type") &&
  anyOf[1].type === "null"
