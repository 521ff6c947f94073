/**
 * Wraps Effect schemas in zod schemas, because tRPC and trpc-to-openapi require zod. The zod objects carry the JSON
 * Schema of each field; the Effect schema does the decoding.
 */
import { Either, identity, JSONSchema, type Schema } from "effect"
import { z } from "zod"
import { InvalidArgument } from "../../core/model/Errors.ts"
import { decoder } from "../decode.ts"

/** JSON Schemas by name, for `components.schemas` of the OpenAPI document. The functions below add to it. */
export type NamedSchemas = Record<string, JSONSchema.JsonSchema7>

export const REFERENCE_PREFIX = "#/components/schemas/"

/** For `.input(…)`: decodes what `prepare` returns with the Effect schema. `decodeErrorOf` extracts the error. */
export const zodInput = <A, I>(
  schema: Schema.Schema<A, I>,
  named: NamedSchemas,
  prepare: (data: unknown) => unknown = identity
): z.ZodType => {
  const decode = decoder(schema)
  const decoding = z.unknown().transform((data, context): unknown => {
    const decoded = decode(prepare(data) ?? {})
    if (Either.isRight(decoded)) return decoded.right
    context.issues.push({ code: "custom", input: data, params: { error: decoded.left } })
    return z.NEVER
  })
  return decoding.pipe(zodObject(schema, "strict", named))
}

/** The error of a failed `zodInput`, from the cause of tRPC's error. */
export const decodeErrorOf = (cause: unknown): InvalidArgument | undefined => {
  const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined
  const error = issue?.code === "custom" ? issue.params?.["error"] : undefined
  return error instanceof InvalidArgument ? error : undefined
}

/** For `.output(…)`: documentation only. Responses are not validated, because the type checker did that. */
export const zodOutput = (schema: Schema.Schema.All, named: NamedSchemas): z.ZodType =>
  Object.assign(zodObject(schema, "allow", named), { parseAsync: (data: unknown) => Promise.resolve(data) })

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

const DOCUMENTED_TYPES: Readonly<Record<string, () => z.ZodType>> = {
  string: z.string,
  integer: z.number,
  boolean: z.boolean
}

const zodObject = (
  schema: Schema.Schema.All,
  additionalPropertiesStrategy: "strict" | "allow",
  named: NamedSchemas
) => {
  const { properties, required = [] } = fieldsOf(schema, additionalPropertiesStrategy, named)
  const field = ([name, documentation]: [string, JSONSchema.JsonSchema7]) => {
    const documentedType = "type" in documentation ? documentation.type : undefined
    // trpc-to-openapi accepts no unknown type in the query of a GET.
    const type = DOCUMENTED_TYPES[documentedType ?? ""]?.() ?? z.unknown()
    const override = ({ jsonSchema }: { readonly jsonSchema: object }) => void Object.assign(jsonSchema, documentation)
    const documented = type.meta({ override })
    return [name, required.includes(name) ? documented : documented.optional()] as const
  }
  const fields = Object.fromEntries(Object.entries(properties ?? {}).map(field))
  return additionalPropertiesStrategy === "strict" ? z.strictObject(fields) : z.looseObject(fields)
}
