/** JSON Schemas of the tools, derived from the schemas of the operations. */
import { JSONSchema, type Schema } from "effect"

export type JsonSchema = Record<string, unknown>

/** Inlines all definitions, because not every client resolves references in arguments. */
export const argumentsSchema = (schema: Schema.Schema.All): JsonSchema => {
  const { $defs = {}, ...root } = documented(schema, "strict")
  // The JSON Schema of a struct without fields also allows arrays.
  if (root["properties"] === undefined) return { type: "object", properties: {}, additionalProperties: false }
  return JSON.parse(JSON.stringify(root), (_, part: unknown) => definitionOf(part, $defs) ?? part)
}

/** Allows additional fields, because results may gain fields later. */
export const resultSchema = (schema: Schema.Schema.All): JsonSchema => {
  const { $defs, ...root } = documented(schema, "allow")
  return $defs === undefined ? root : { ...root, $defs }
}

// ---- helpers ----

interface Documented extends JsonSchema {
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

/** Without `$schema`, which some clients refuse, and without the ids and titles that Effect adds to unknown values. */
const documented = (schema: Schema.Schema.All, additionalPropertiesStrategy: "strict" | "allow"): Documented => {
  const definitions = {}
  const root = JSONSchema.fromAST(schema.ast, { definitions, additionalPropertiesStrategy })
  const whole = { ...root, ...(Object.keys(definitions).length > 0 && { $defs: definitions }) }
  return JSON.parse(JSON.stringify(whole), (name, part: unknown) =>
    name === "$id" || (name === "title" && part === "unknown") ? undefined : part
  )
}

const definitionOf = (part: unknown, definitions: Readonly<Record<string, JsonSchema>>): JsonSchema | undefined =>
  typeof part === "object" && part !== null && "$ref" in part && typeof part.$ref === "string"
    ? definitions[part.$ref.slice("#/$defs/".length)]
    : undefined
