/** Details of the OpenAPI document that clients and validators rely on, compared with the server. */
import { assert, describe } from "@effect/vitest"
import { allContracts } from "../../api/contracts.ts"
import { call, draft, firehoseUpdate, type Json, xPost } from "./client.ts"
import { type Document, documented, operationsOf, problems, type SchemaObject } from "./document.ts"

describe("/openapi.json in detail", () => {
  documented("has no ids of schemas, which would have to be unique", ({ document }) => {
    assert.notMatch(JSON.stringify(document), /"\$id"/)
  })

  documented("gives each schema a type or a reference, which readers of the document expect", ({ document }) => {
    const untyped = Object.entries(document.components.schemas).flatMap(([name, schema]) => untypedIn(schema, name))
    assert.deepStrictEqual(untyped, [])
    const { Key, Match, ErrorDetails, Webhook } = document.components.schemas
    assert.deepInclude(Key?.properties?.["revoked_at"], { type: ["string", "null"], format: "date-time" })
    assert.deepInclude(Match, { type: "object" })
    assert.include(ErrorDetails?.properties?.["upstream"]?.type, "object")
    const { $ref, description } = Webhook?.properties?.["last_attempt"] ?? {}
    assert.strictEqual($ref, "#/components/schemas/WebhookAttempt")
    assert.isString(description)
  })

  documented(
    "forbids additional fields where the server refuses them, and only there",
    async ({ document, target }) => {
      for (const { path, example } of bodies(document)) {
        const answer = await call(target, path, { ...example, unknown_field: 1 })
        assert.strictEqual(answer.status, 400, path)
        assert.match(String(answer.body["message"]), /"unknown_field": Is not a known field/)
      }
      for (const { path, schema } of bodies(document)) assert.isFalse(schema.additionalProperties, path)
      for (const { operation, path } of operationsOf(document)) {
        const schema = operation.responses["200"]?.content?.["application/json"]?.schema
        assert.notStrictEqual(schema?.additionalProperties, false, `${path} may gain fields`)
      }
    }
  )

  documented(
    "says of every list in a request whether it may be empty or repeat an item",
    async ({ document, target }) => {
      const lists = bodies(document).flatMap(({ path, schema, example }) =>
        Object.entries(schema.properties ?? {})
          .filter(([, { type }]) => type === "array")
          .map(([name, list]) => ({ path, name, list, example }))
      )
      assert.includeMembers(
        lists.map(({ path, name }) => `${path} ${name}`),
        ["/api.CreateRule platforms", "/webhooks/create rule_ids", "/webhooks/create events"]
      )
      for (const { path, name, list, example } of lists) {
        const refuses = async (value: ReadonlyArray<unknown>) => {
          const { status, body } = await call(target, path, { ...example, [name]: value })
          return (
            status === 400 && [...(body["details"]?.["issues"] ?? [])].some((issue) => String(issue["path"]) === name)
          )
        }
        const given = example[name]
        const item: unknown = Array.isArray(given) ? given[0] : (list.items?.enum?.[0] ?? "x")
        assert.strictEqual(list.minItems === 1, await refuses([]), `${path} ${name} may not be empty`)
        assert.strictEqual(list.uniqueItems === true, await refuses([item, item]), `${path} ${name} is unique`)
      }
      const check = bodies(document).find(({ path }) => path === "/rules/check")?.schema
      assert.strictEqual(check?.properties?.["overrides"]?.minProperties, 1)
      assert.strictEqual((await call(target, "/rules/check", { overrides: {} })).status, 400)
    }
  )

  documented("has the request id in every response, and 405 with the allowed methods", async ({ document, target }) => {
    assert.property(document.components.headers, "RequestId")
    const header = { $ref: "#/components/headers/RequestId" }
    for (const { operation, path } of operationsOf(document)) {
      assert.deepStrictEqual(operation.responses["200"]?.headers?.["X-Request-Id"], header, path)
      assert.deepStrictEqual(operation.responses["405"], { $ref: "#/components/responses/MethodNotAllowed" }, path)
      const answer = await call(target, path, undefined, { method: "DELETE" })
      assert.strictEqual(answer.status, 405, path)
      assert.isNotNull(answer.headers.get("allow"))
    }
    for (const [name, { headers }] of Object.entries(document.components.responses)) {
      assert.deepInclude(headers, { "X-Request-Id": header }, name)
    }
    assert.property(document.components.responses["MethodNotAllowed"]?.headers, "Allow")
    const id = "chosen-by-the-client:1"
    const { headers } = await call(target, "/account", undefined, { headers: { "x-request-id": id } })
    assert.strictEqual(headers.get("x-request-id"), id)
  })

  documented("requires a body where the server refuses an empty one", async ({ document, target }) => {
    const posts = operationsOf(document).filter(({ path }) => document.paths[path]?.["post"] !== undefined)
    assert.isAbove(posts.length, 20, "finds the operations")
    for (const { path, operation } of posts) {
      const { status } = await call(target, path, undefined, { method: "POST" })
      assert.isAtLeast(status, 400, path)
      assert.isTrue(operation.requestBody?.required, path)
    }
  })

  documented("has both forms of a time that the server accepts", async ({ document, target }) => {
    const times = bodies(document).flatMap(({ path, schema, example }) =>
      ["since", "expires_at", "from", "to"].flatMap((name) => {
        const field = schema.properties?.[name]
        return field === undefined ? [] : [{ path, name, field, example }]
      })
    )
    assert.includeMembers(
      times.map(({ path, name }) => `${path} ${name}`),
      ["/api.PromoteRule since", "/rules/reapply since", "/keys/create expires_at", "/matches/histogram from"]
    )
    for (const { path, name, field, example } of times) {
      assert.deepStrictEqual(field.anyOf, [{ format: "date-time" }, { format: "date" }], `${path} ${name}`)
      const refuses = async (value: string) => {
        const { body } = await call(target, path, { ...example, [name]: value })
        return [...(body["details"]?.["issues"] ?? [])].some((issue) =>
          /Expected a time such as/.test(String(issue["message"]))
        )
      }
      assert.isFalse(await refuses("2990-01-31"), path)
      assert.isFalse(await refuses("2990-01-31T12:00:00Z"), path)
      assert.isTrue(await refuses("tomorrow"), path)
    }
  })

  documented("types the details of errors", ({ document }) => {
    const { Error: whole, ErrorDetails, ArgumentIssue } = document.components.schemas
    assert.deepStrictEqual(ErrorDetails?.properties?.["issues"]?.items, { $ref: "#/components/schemas/ArgumentIssue" })
    assert.includeMembers(Object.keys(ArgumentIssue?.properties ?? {}), ["path", "message", "span", "fix"])
    const error = (issues: unknown) => ({ code: "invalid_argument", message: "m", details: { issues } })
    const issue = { path: "overrides.x", message: "m", span: { start: 0, end: 1 }, fix: { message: "m", text: "t" } }
    assert.deepStrictEqual(problems(document, whole, error([issue])), [])
    assert.isNotEmpty(problems(document, whole, error([{ ...issue, span: 7 }])))
    for (const { content } of Object.values(document.components.responses)) {
      for (const { value } of Object.values(content["application/json"]?.examples ?? {})) {
        const { details } = value as { readonly details: object }
        assert.containsAllKeys({ ...ErrorDetails?.properties, none: {} }, [...Object.keys(details), "none"])
      }
    }
  })

  documented("has examples of errors that the server sends", async ({ document, target }) => {
    for (const [name, { content }] of Object.entries(document.components.responses)) {
      const media = content["application/json"]
      assert.isNotEmpty(Object.keys(media?.examples ?? {}), name)
      for (const { value } of Object.values(media?.examples ?? {})) {
        assert.deepStrictEqual(problems(document, media?.schema, value), [], name)
      }
    }
    const rule_id = "rule_01kzyn3v8jf9g8w3q5r7t2x4c6"
    const plain = { headers: { "content-type": "text/plain" } }
    const broken = { ...draft("a", ["x"]), overrides: { x: "earthquake lnag:en" } }
    const sent: ReadonlyArray<readonly [response: string, example: string, answer: { readonly body: Json }]> = [
      ["InvalidArgument", "field", await call(target, "/matches", { limit: 0 })],
      ["InvalidArgument", "filter", await call(target, "/api.CreateRule", broken)],
      ["Unauthenticated", "key", await call(target, "/matches", {}, { headers: { authorization: "" } })],
      ["Unauthenticated", "header", await call(target, "/matches", {}, { headers: { authorization: "none" } })],
      ["Unauthenticated", "refused", await call(target, "/matches", {}, { headers: { authorization: "Bearer no" } })],
      ["NotFound", "rule", await call(target, "/matches", { rule_id })],
      ["MethodNotAllowed", "method", await call(target, "/matches")],
      ["TooLarge", "body", await call(target, "/matches", { cursor: "x".repeat(1_048_564) })],
      ["WrongContentType", "type", await call(target, "/matches", {}, plain)]
    ]
    for (const [response, example, { body }] of sent) {
      const examples = document.components.responses[response]?.content["application/json"]?.examples
      assert.deepStrictEqual(examples?.[example]?.value, body as unknown, example)
    }
  })

  documented("types the payload of a match by its platform", async ({ document, target }) => {
    const { Match, XMatch } = document.components.schemas
    assert.deepStrictEqual(Match?.discriminator, {
      propertyName: "platform",
      mapping: { x: "#/components/schemas/XMatch", firehose: "#/components/schemas/FirehoseMatch" }
    })
    assert.deepStrictEqual(XMatch?.properties?.["platform"], { type: "string", enum: ["x"] })
    await call(target, "/api.CreateRule", draft("comet", ["x", "firehose"]))
    // A field of another type than usual is stored as it is.
    const { data } = xPost("1", "A comet")
    await call(target, "/local/events", [{ data: { ...data, lang: 7, new_field: [1] } }])
    await call(target, "/local/events", firehoseUpdate("https://a.example", "comet"))
    const matches = [...((await call(target, "/matches", {})).body["matches"] ?? [])]
    const platforms = matches.map((match) => String(match["platform"]))
    assert.sameMembers(platforms, ["x", "firehose"])
    const [page, post] = platforms[0] === "x" ? [matches[1], matches[0]] : matches
    assert.deepStrictEqual(post?.["payload"]?.["data"]?.["new_field"] as unknown, [1])
    assert.deepStrictEqual(problems(document, Match, page), [])
    assert.deepStrictEqual(problems(document, Match, { ...page, platform: "x", payload: { data: {} } }), [
      "$ fits 0 of the schemas"
    ])
    assert.deepStrictEqual(problems(document, Match, { ...page, payload: {} }), [], "of a redacted match")
  })
})

// ---- helpers ----

interface Body {
  readonly path: string
  readonly schema: SchemaObject
  readonly example: Readonly<Record<string, unknown>>
}

/** The JSON bodies of all operations. */
/** The paths of the schemas that have neither a type nor a reference. */
const untypedIn = (schema: SchemaObject, path: string): ReadonlyArray<string> => {
  const { $ref, type, properties = {}, additionalProperties, items, allOf = [], anyOf = [], oneOf = [] } = schema
  const parts: ReadonlyArray<readonly [string, SchemaObject]> = [
    ...Object.entries(properties),
    ...(typeof additionalProperties === "object" ? [["additionalProperties", additionalProperties] as const] : []),
    ...(items === undefined ? [] : [["items", items] as const]),
    ...[...allOf, ...anyOf, ...oneOf].map((part, index) => [String(index), part] as const)
  ]
  return [
    ...($ref === undefined && type === undefined ? [path] : []),
    ...parts.flatMap(([name, part]) => untypedIn(part, `${path}/${name}`))
  ]
}

const bodies = (document: Document): ReadonlyArray<Body> =>
  allContracts.flatMap(({ path, method, example }) => {
    const schema = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content["application/json"]?.schema
    return schema === undefined ? [] : [{ path, schema, example: example.request as Body["example"] }]
  })
