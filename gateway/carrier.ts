/**
 * Effect schemas in zod's clothes. The core's schemas are the single source of shapes; tRPC and trpc-to-openapi ask for
 * zod, so each schema travels inside a zod object that documents it field by field and decodes nothing itself.
 */
import { Either, JSONSchema, type Schema } from "effect"
import { z } from "zod"
import { InvalidArgument } from "../core/model/Errors.ts"
import { decoder } from "./decode.ts"

/** JSON Schemas by name: `components.schemas` of the OpenAPI document. Carriers add to it. */
export type NamedSchemas = Record<string, JSONSchema.JsonSchema7>

export const REFERENCE_PREFIX = "#/components/schemas/"

/** For `.input(…)`: the resolver receives what the schema decodes; `refusalOf` finds why it did not. */
export const inputCarrier = <A, I>(schema: Schema.Schema<A, I>, named: NamedSchemas): z.ZodType => {
  const decode = decoder(schema)
  const decoding = z.unknown().transform((data, context): unknown => {
    const decoded = decode(data ?? {})
    if (Either.isRight(decoded)) return decoded.right
    context.issues.push({ code: "custom", input: data, params: { refusal: decoded.left } })
    return z.NEVER
  })
  return decoding.pipe(carrier(schema, "strict", named))
}

/** The core's own error inside what tRPC makes of a refused input. */
export const refusalOf = (cause: unknown): InvalidArgument | undefined => {
  const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined
  const refusal = issue?.code === "custom" ? issue.params?.["refusal"] : undefined
  return refusal instanceof InvalidArgument ? refusal : undefined
}

/** For `.output(…)`: documents the answer, which may gain fields later. Nothing runs per response: the types of the use case have proved it. */
export const outputCarrier = (schema: Schema.Schema.All, named: NamedSchemas): z.ZodType =>
  Object.assign(carrier(schema, "allow", named), { parseAsync: (data: unknown) => Promise.resolve(data) })

/** The fields of a struct, each with its JSON Schema. */
export const fieldsOf = (
  schema: Schema.Schema.All,
  additionalPropertiesStrategy: "strict" | "allow",
  named: NamedSchemas
): Pick<JSONSchema.JsonSchema7Object, "properties" | "required"> =>
  JSONSchema.fromAST(schema.ast, {
    definitions: named,
    definitionPath: REFERENCE_PREFIX,
    target: "openApi3.1",
    additionalPropertiesStrategy
  }) as JSONSchema.JsonSchema7Object

// ---- helpers ----

const carrier = (schema: Schema.Schema.All, additionalPropertiesStrategy: "strict" | "allow", named: NamedSchemas) => {
  const { properties, required = [] } = fieldsOf(schema, additionalPropertiesStrategy, named)
  const field = ([name, documentation]: [string, JSONSchema.JsonSchema7]) => {
    const documented = z.unknown().meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, documentation) })
    return [name, required.includes(name) ? documented : documented.optional()] as const
  }
  return z.object(Object.fromEntries(Object.entries(properties ?? {}).map(field)))
}
