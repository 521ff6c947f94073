/** The OpenAPI document for tests, and a validator of values against its schemas. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { call, type Target } from "./client.ts"
import { serve, service } from "./inProcess.ts"

export interface SchemaObject {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string | ReadonlyArray<string>
  readonly enum?: ReadonlyArray<unknown>
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, SchemaObject>>
  readonly additionalProperties?: boolean | SchemaObject
  readonly items?: SchemaObject
  readonly allOf?: ReadonlyArray<SchemaObject>
  readonly anyOf?: ReadonlyArray<object>
  readonly oneOf?: ReadonlyArray<SchemaObject>
  readonly discriminator?: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> }
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly uniqueItems?: boolean
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
}

interface Media {
  readonly schema?: SchemaObject
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface ResponseObject {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, Media>>
}

interface OperationObject {
  readonly operationId: string
  readonly summary: string
  readonly tags: ReadonlyArray<string>
  readonly security?: unknown
  readonly parameters?: ReadonlyArray<{ readonly name: string }>
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, ResponseObject>>
}

export interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly security: unknown
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: OperationObject }>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>
    readonly schemas: Readonly<Record<string, SchemaObject>>
    readonly headers: Readonly<Record<string, object>>
    readonly responses: Readonly<
      Record<string, { readonly headers: object; readonly content: Readonly<Record<string, Media>> }>
    >
  }
}

export const emptyDocument: Document = {
  openapi: "3.1.0",
  info: { version: "1" },
  security: [],
  paths: {},
  webhooks: {},
  components: { securitySchemes: {}, schemas: {}, headers: {}, responses: {} }
}

/** A test with the document from the server. */
export function documented(
  title: string,
  test: (context: { readonly document: Document; readonly target: Target }) => void | Promise<void>
): void {
  it.scopedLive(
    title,
    () =>
      Effect.gen(function* () {
        const target = yield* (yield* serve)("ann")
        const { status, body } = yield* Effect.promise(() => call(target, "/openapi.json"))
        assert.strictEqual(status, 200)
        // Each test checks the parts that it uses.
        const document = body as unknown as Document
        yield* Effect.promise(async () => test({ document, target }))
      }).pipe(Effect.provide(service)),
    240_000
  )
}

export const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )

/** Validates a value; supports the parts of JSON Schema that the document uses. */
export function problems(
  document: Document,
  schema: SchemaObject | undefined,
  value: unknown,
  at = "$"
): Array<string> {
  if (schema === undefined) return [`${at} has no schema`]
  if (schema.$ref !== undefined) {
    return problems(document, document.components.schemas[schema.$ref.replace("#/components/schemas/", "")], value, at)
  }
  const found = (schema.allOf ?? []).flatMap((part) => problems(document, part, value, at))
  if (schema.oneOf !== undefined) {
    const fitting = schema.oneOf.filter((part) => problems(document, part, value, at).length === 0)
    if (fitting.length !== 1) found.push(`${at} fits ${fitting.length} of the schemas`)
  }
  if (schema.type !== undefined && !hasType(schema.type, value))
    return [...found, `${at} is not of type ${schema.type}`]
  if (schema.enum !== undefined && !schema.enum.includes(value)) found.push(`${at} is not one of the allowed values`)
  if (typeof value === "string") {
    if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
      found.push(`${at} does not match the pattern`)
    if (value.length < (schema.minLength ?? 0)) found.push(`${at} is too short`)
  }
  if (typeof value === "number" && value < (schema.minimum ?? value)) found.push(`${at} is too small`)
  if (typeof value === "number" && value > (schema.maximum ?? value)) found.push(`${at} is too large`)
  if (Array.isArray(value)) {
    return [...found, ...value.flatMap((item, i) => problems(document, schema.items ?? {}, item, `${at}[${i}]`))]
  }
  if (typeof value !== "object" || value === null) return found
  const entries = new Map<string, unknown>(Object.entries(value))
  for (const name of schema.required ?? []) if (!entries.has(name)) found.push(`${at}.${name} is missing`)
  for (const [name, inner] of entries) {
    const known = schema.properties?.[name] ?? schema.additionalProperties ?? true
    if (known === false) found.push(`${at}.${name} is unknown`)
    else if (known !== true) found.push(...problems(document, known, inner, `${at}.${name}`))
  }
  return found
}

function hasType(type: string | ReadonlyArray<string>, value: unknown): boolean {
  if (typeof type !== "string") return type.some((one) => hasType(one, value))
  if (type === "null") return value === null
  if (type === "integer") return Number.isInteger(value)
  if (type === "array") return Array.isArray(value)
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value)
  return typeof value === type
}
