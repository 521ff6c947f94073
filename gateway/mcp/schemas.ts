/** JSON Schemas of the tools, derived from the schemas of the operations. */
import { JSONSchema, Predicate, type Schema } from "effect"

export type JsonSchema = Record<string, unknown>

export const argumentsSchema = (schema: Schema.Schema.All): JsonSchema => {
  const root = documented(schema, "strict")
  // The JSON Schema of a struct without fields also allows arrays.
  return root["properties"] === undefined ? { type: "object", properties: {}, additionalProperties: false } : root
}

/**
 * An outline: names and types of the fields, `levels` deep. Clients load the schemas of all tools into the context of
 * their model before it calls any; a result shows the rest when it is needed. Additional fields are allowed: results may
 * gain fields later, and each may have `hidden_characters` and `shortened`.
 */
export const resultSchema = (schema: Schema.Schema.All, levels: number): JsonSchema =>
  outlineOf(documented(schema, "allow"), levels)

/** The whole schema of something that may get further fields. */
export const openSchema = (schema: Schema.Schema.All): JsonSchema => documented(schema, "allow")

// ---- helpers ----

type Definitions = Readonly<Record<string, JsonSchema>>

/** Without `$schema`, which some clients refuse. */
const documented = (schema: Schema.Schema.All, additionalPropertiesStrategy: "strict" | "allow"): JsonSchema => {
  const definitions = {}
  const root = JSONSchema.fromAST(schema.ast, { definitions, additionalPropertiesStrategy })
  return inlined(root, definitions)
}

/** Not every client resolves references. Without titles, and without the ids that Effect adds to unknown values. */
const inlined = (schema: object, definitions: Definitions): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (name, part: unknown) => {
    const saysNothing =
      ((name === "title" || name === "$id") && typeof part === "string") ||
      (name === "required" && Array.isArray(part) && part.length === 0)
    return saysNothing ? undefined : merged(resolved(part, definitions))
  })

const resolved = (part: unknown, definitions: Definitions): unknown =>
  Predicate.isRecord(part) && typeof part["$ref"] === "string"
    ? inlined(definitions[part["$ref"].slice("#/$defs/".length)] ?? {}, definitions)
    : part

/** Effect adds a description to a type by `allOf`, which some clients do not read. */
const merged = (part: unknown): unknown => {
  if (!Predicate.isRecord(part) || !Array.isArray(part["allOf"]) || part["allOf"].length !== 1) return part
  const { allOf, ...rest } = part
  return { ...allOf[0], ...rest }
}

/** A record by platform is not a level of its own. */
const outlineOf = (schema: unknown, levels: number): JsonSchema => {
  if (!Predicate.isRecord(schema)) return {}
  const { type, enum: values, anyOf, items, properties, patternProperties } = schema
  if (Array.isArray(anyOf)) return { anyOf: anyOf.map((one) => outlineOf(one, levels)) }
  if (type === "array" && levels > 0) return { type, items: outlineOf(items, levels) }
  if (type !== "object") return { ...(type !== undefined && { type }), ...(values !== undefined && { enum: values }) }
  if (levels === 0) return { type }
  if (Predicate.isRecord(patternProperties)) {
    return { type, additionalProperties: outlineOf(Object.values(patternProperties)[0], levels) }
  }
  if (!Predicate.isRecord(properties)) return { type }
  const fields = Object.entries(properties).map(([name, field]) => [name, outlineOf(field, levels - 1)])
  return { type, properties: Object.fromEntries(fields) }
}
