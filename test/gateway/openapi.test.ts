/** The OpenAPI document: valid, complete, in line with the server, and with valid examples. */
import { assert, describe, it } from "@effect/vitest"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Effect, Either, ParseResult } from "effect"
import { endpoints } from "../../gateway/operations.ts"
import { call, type Target } from "./client.ts"
import { serve, service } from "./inProcess.ts"
import { exchange, requestText } from "./raw.ts"

describe("/openapi.json", () => {
  documented("is OpenAPI 3.1, version 1, behind a bearer key", ({ document }) => {
    assert.match(document.openapi, /^3\.1\./)
    assert.strictEqual(document.info.version, "1")
    assert.deepStrictEqual(document.security, [{ apiKey: [] }])
    assert.deepInclude(document.components.securitySchemes["apiKey"], { type: "http", scheme: "bearer" })
    for (const { operation } of operationsOf(document)) assert.deepStrictEqual(operation.security, [{ apiKey: [] }])
  })

  documented("passes the recommended rules of Redocly", async ({ document }) => {
    const config = await createConfig({ extends: ["recommended"] })
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    const errors = problems.filter(({ severity, ignored }) => severity === "error" && ignored !== true)
    assert.deepStrictEqual(
      errors.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`),
      []
    )
  })

  documented("lists exactly the operations that are served, with id, tag and summary", async ({ document, target }) => {
    const listed = operationsOf(document).map(({ method, path }) => `${method} ${path}`)
    const expected = endpoints.map(({ method, path }) => `${method} ${path}`)
    assert.sameMembers(listed, [...expected, "POST /local/events", "GET /matches/stream", "POST /matches/redact"])
    for (const { name, path, method, tag, summary } of endpoints) {
      const found = document.paths[path]?.[method.toLowerCase()]
      assert.deepStrictEqual([found?.operationId, found?.tags, found?.summary], [name, [tag], summary])
    }
    for (const { method, path } of operationsOf(document)) {
      const answer = await exchange(target, requestText(method, path))
      assert.strictEqual(answer?.status, 401, `${method} ${path} exists and requires a key`)
    }
  })

  documented("has the error schema for every error status and a default in every operation", ({ document }) => {
    for (const { operation, path } of operationsOf(document)) {
      const { 200: ok, ...failures } = operation.responses
      assert.isDefined(ok)
      assert.includeMembers(Object.keys(failures), ["400", "401", "404", "413", "415", "429", "500", "503", "default"])
      for (const [status, response] of Object.entries(failures)) {
        const name = response.$ref?.replace("#/components/responses/", "") ?? ""
        const schema = document.components.responses[name]?.content["application/json"]?.schema
        assert.deepStrictEqual(schema, { $ref: "#/components/schemas/Error" }, `${path} ${status}`)
      }
    }
    const error = document.components.schemas["Error"]
    assert.sameMembers([...(error?.required ?? [])], ["code", "message", "details"])
  })

  documented("lists every error code that the server sends", async ({ document, target }) => {
    const codes = document.components.schemas["Error"]?.properties?.["code"]?.enum ?? []
    const answers = [
      await call(target, "/matches", { limit: 0 }),
      await call(target, "/matches", { rule_id: "none" }),
      await call(target, "/matches", {}, { headers: { authorization: "none" } }),
      await call(target, "/matches")
    ]
    for (const { body } of answers) assert.include(codes, String(body["code"]))
  })

  documented("has valid examples for all requests and responses", ({ document }) => {
    for (const { operation, path } of operationsOf(document)) {
      const request = operation.requestBody?.content["application/json"]
      const content = operation.responses["200"]?.content
      const answer = content?.["application/json"] ?? content?.["text/event-stream"]
      assert.isDefined(answer?.example, `${path} has an example response`)
      assert.deepStrictEqual(problems(document, answer?.schema, answer?.example), [], path)
      if (request === undefined) continue
      assert.isDefined(request.example, `${path} has an example request`)
      assert.deepStrictEqual(problems(document, request.schema, request.example), [], path)
    }
  })

  it("has examples that the schemas of core decode", () => {
    for (const { input, output, example, path } of endpoints) {
      const strict = { onExcessProperty: "error" } as const
      assert.isTrue(Either.isRight(ParseResult.decodeUnknownEither(input, strict)(example.request ?? {})), path)
      assert.isTrue(Either.isRight(ParseResult.decodeUnknownEither(output, strict)(example.response)), path)
    }
  })

  documented("describes the actual responses of the server", async ({ document, target }) => {
    const request = endpoints.find(({ name }) => name === "createRule")?.example.request
    const event = document.paths["/local/events"]?.["post"]?.requestBody?.content["application/json"]?.example
    const created = await call(target, "/api.CreateRule", { ...request, overrides: { x: "earthquake" } })
    await call(target, "/local/events", event)
    const answers = {
      "/api.CreateRule": created,
      "/api.ListRules": await call(target, "/api.ListRules"),
      "/rules/check": await call(target, "/rules/check", {
        overrides: { x: "earthquake" },
        events: { x: event },
        backtest: {}
      }),
      "/matches": await call(target, "/matches", { limit: 1 }),
      "/platforms/syntax": await call(target, "/platforms/syntax", {}),
      "/local/events": await call(target, "/local/events", event)
    }
    assert.lengthOf([...(answers["/matches"].body["matches"] ?? [])], 1)
    const checked = answers["/rules/check"].body["platforms"]?.["x"]
    assert.lengthOf([...(checked?.["backtest"]?.["samples"] ?? [])], 1)
    assert.isDefined(checked?.["explanation"])
    for (const [path, { status, body }] of Object.entries(answers)) {
      assert.strictEqual(status, 200, path)
      const [operation] = Object.values(document.paths[path] ?? {})
      const schema = operation?.responses["200"]?.content?.["application/json"]?.schema
      assert.deepStrictEqual(problems(document, schema, body), [], path)
    }
  })

  it("the schema check of these tests finds errors", () => {
    const schema: SchemaObject = {
      type: "object",
      required: ["a"],
      additionalProperties: false,
      properties: { a: { type: "string" }, b: { type: "array", items: { type: "integer", minimum: 1 } } }
    }
    const none: Document = emptyDocument
    assert.deepStrictEqual(problems(none, schema, { a: "x", b: [1] }), [])
    assert.lengthOf(problems(none, schema, { b: [0, 1.5, "1"], c: 1 }), 5)
    assert.lengthOf(problems(none, { $ref: "#/components/schemas/Missing" }, 1), 1)
    assert.lengthOf(problems(none, { type: "string", enum: ["x"] }, "y"), 1)
  })
})

// ---- helpers ----

interface SchemaObject {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, SchemaObject>>
  readonly additionalProperties?: boolean | SchemaObject
  readonly items?: SchemaObject
  readonly allOf?: ReadonlyArray<SchemaObject>
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
}

interface Media {
  readonly schema?: SchemaObject
  readonly example?: unknown
}

interface ResponseObject {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, Media>>
}

interface OperationObject {
  readonly operationId: string
  readonly summary: string
  readonly tags: ReadonlyArray<string>
  readonly security?: unknown
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, ResponseObject>>
}

interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly security: unknown
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>
    readonly schemas: Readonly<Record<string, SchemaObject>>
    readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, Media>> }>>
  }
}

const emptyDocument: Document = {
  openapi: "3.1.0",
  info: { version: "1" },
  security: [],
  paths: {},
  components: { securitySchemes: {}, schemas: {}, responses: {} }
}

/** A test with the document from the server. */
function documented(
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
    30_000
  )
}

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )

/** Validates a value; supports the parts of JSON Schema that the document uses. */
function problems(document: Document, schema: SchemaObject | undefined, value: unknown, at = "$"): Array<string> {
  if (schema === undefined) return [`${at} has no schema`]
  if (schema.$ref !== undefined) {
    return problems(document, document.components.schemas[schema.$ref.replace("#/components/schemas/", "")], value, at)
  }
  const found = (schema.allOf ?? []).flatMap((part) => problems(document, part, value, at))
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

function hasType(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value)
  if (type === "array") return Array.isArray(value)
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value)
  return typeof value === type
}
