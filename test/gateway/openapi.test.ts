/** The OpenAPI document: valid, complete, in line with the server, and with valid examples. */
import { assert, describe, it } from "@effect/vitest"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Either, ParseResult } from "effect"
import { changesState } from "../../api/Contract.ts"
import { allContracts } from "../../api/contracts.ts"
import { call } from "./client.ts"
import { type Document, documented, emptyDocument, operationsOf, problems, type SchemaObject } from "./document.ts"
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
    const expected = allContracts.map(({ method, path }) => `${method} ${path}`)
    assert.sameMembers(listed, [...expected, "POST /local/events", "GET /matches/stream", "POST /matches/redact"])
    for (const { name, path, method, tag, summary } of allContracts) {
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
      assert.includeMembers(Object.keys(failures), [
        "400",
        "401",
        "404",
        "405",
        "413",
        "415",
        "429",
        "500",
        "503",
        "default"
      ])
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

  documented("has every message to receivers, with valid examples, and the messages of the stream", ({ document }) => {
    assert.sameMembers(Object.keys(document.webhooks), [
      ...["match.created", "match.redacted", "coverage.gap", "webhook.test"],
      ...["match.created", "match.redacted", "coverage.gap"].map((name) => `subscription.${name}`),
      ...["verification", "gap", "terminated"].map((name) => `subscription.${name}`)
    ])
    for (const [name, { post }] of Object.entries(document.webhooks)) {
      const body = post.requestBody?.content["application/json"]
      assert.deepStrictEqual(problems(document, body?.schema, body?.example), [], name)
      const wrong = { ...(body?.example as object), type: "another", name: "another" }
      assert.notDeepEqual(problems(document, body?.schema, wrong), [], name)
    }
    const messages = document.components.schemas["StreamMessage"]?.oneOf ?? []
    const events = messages.flatMap(({ properties }) => properties?.["event"]?.enum ?? [])
    assert.deepStrictEqual(events, ["match", "match.redacted", "coverage", "error"])
    assert.deepStrictEqual(messages[0]?.properties?.["data"], {
      type: "string",
      contentMediaType: "application/json",
      contentSchema: { $ref: "#/components/schemas/Match" }
    } as object)
  })

  documented(
    "documents the idempotency key of every operation that changes something, and of no other",
    ({ document }) => {
      const keyed = operationsOf(document).filter(({ operation }) => "409" in operation.responses)
      assert.sameMembers(
        keyed.map(({ path }) => path),
        [...allContracts.filter(changesState).map(({ path }) => path), "/local/events", "/matches/redact"]
      )
      for (const { operation, path } of operationsOf(document)) {
        const isKeyed = "409" in operation.responses
        const { parameters = [] } = operation
        assert.strictEqual(
          parameters.some(({ name }) => name === "Idempotency-Key"),
          isKeyed,
          path
        )
        assert.strictEqual("422" in operation.responses, isKeyed, path)
        assert.strictEqual("Idempotent-Replayed" in (operation.responses["200"]?.headers ?? {}), isKeyed, path)
      }
      const bodies = operationsOf(document).map(({ operation }) => operation.requestBody)
      assert.notInclude(JSON.stringify(bodies), "idempotency_key")
    }
  )

  it("has examples that the schemas of core decode", () => {
    for (const { input, output, example, path } of allContracts) {
      const strict = { onExcessProperty: "error" } as const
      assert.isTrue(Either.isRight(ParseResult.decodeUnknownEither(input, strict)(example.request ?? {})), path)
      assert.isTrue(Either.isRight(ParseResult.decodeUnknownEither(output, strict)(example.response)), path)
    }
  })

  documented("describes the actual responses of the server", async ({ document, target }) => {
    const request = allContracts.find(({ name }) => name === "createRule")?.example.request
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
