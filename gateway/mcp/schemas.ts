/** JSON Schemas of the tools, derived from the schemas of the operations. */
import { JSONSchema, type Schema } from "effect"
import { withoutIds } from "../jsonSchema.ts"

export type JsonSchema = Record<string, unknown>

/** Inlines all definitions, because not every client resolves references in arguments. */
export const argumentsSchema = (schema: Schema.Schema.All): JsonSchema => {
  const { $defs = {}, ...root } = documented(schema, "strict")
  // The JSON Schema of a struct without fields also allows arrays.
  if (root["properties"] === undefined) return { type: "object", properties: {}, additionalProperties: false }
  return JSON.parse(JSON.stringify(root), (_, part: unknown) => definitionOf(part, $defs) ?? part)
}

/**
 * Only names and types, and additional fields are allowed, because results may gain fields later. Clients load the schema
 * into the context of their model, where descriptions and patterns would take more space than all the rest.
 */
export const resultSchema = (schema: Schema.Schema.All): JsonSchema =>
  JSON.parse(JSON.stringify(documented(schema, "allow")), (name, part: unknown) => {
    const isDetail = detailNames.has(name) && typeof part !== "object"
    return isDetail || (name === "required" && Array.isArray(part) && part.length === 0) ? undefined : part
  })

// ---- helpers ----

/** A field of a result may have such a name, too: then its value is a schema, which is an object. */
const detailNames = new Set(["description", "pattern", "format", "minimum", "additionalProperties"])

interface Documented extends JsonSchema {
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

/** Without `$schema`, which some clients refuse. */
const documented = (schema: Schema.Schema.All, additionalPropertiesStrategy: "strict" | "allow"): Documented => {
  const definitions = {}
  const root = JSONSchema.fromAST(schema.ast, { definitions, additionalPropertiesStrategy })
  return withoutIds({ ...root, ...(Object.keys(definitions).length > 0 && { $defs: definitions }) })
}

const definitionOf = (part: unknown, definitions: Readonly<Record<string, JsonSchema>>): JsonSchema | undefined =>
  typeof part === "object" && part !== null && "$ref" in part && typeof part.$ref === "string"
    ? definitions[part.$ref.slice("#/$defs/".length)]
    : undefined
