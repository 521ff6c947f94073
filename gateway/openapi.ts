/** The OpenAPI document: what trpc-to-openapi makes of the router, with our error shape, names and examples. */
import { generateOpenApiDocument } from "trpc-to-openapi"
import { WatchQuery } from "../core/matches/Matches.ts"
import type { Language } from "../core/syntax/language.ts"
import { fieldsOf, type NamedSchemas, REFERENCE_PREFIX } from "./carrier.ts"
import type { AnyEndpoint } from "./endpoint.ts"
import { ERROR_CODES } from "./errors.ts"
import { STREAM_PATH, STREAM_TYPE } from "./live.ts"
import { EVENTS_PATH, LINES_TYPE } from "./local.ts"
import { endpoints } from "./operations.ts"
import { platformSchemas } from "./platformSchemas.ts"
import { makeRouter } from "./trpc.ts"

type Json = Record<string, unknown>

export const openApiDocument = (languages: ReadonlyArray<Language>): Json => {
  const schemas = platformSchemas(languages.map(({ id }) => id))
  const named: NamedSchemas = {}
  const generated = generateOpenApiDocument(makeRouter(schemas, named), {
    title: "Earshot",
    version: "1",
    description: DESCRIPTION,
    baseUrl: "/",
    securitySchemes: {
      apiKey: { type: "http", scheme: "bearer", description: "An API key of the account: `Bearer <API_KEY>`" }
    }
  })
  const paths = generated.paths as Record<string, Record<string, Json>>
  for (const operation of endpoints) {
    const documented = paths[operation.path]?.[operation.method.toLowerCase()]
    if (documented !== undefined) complete(operation, documented)
  }
  paths[EVENTS_PATH] = { post: localEvents(languages) }
  paths[STREAM_PATH] = { get: streamOperation(fieldsOf(schemas(WatchQuery), "strict", named).properties) }
  return {
    ...generated,
    info: { ...generated.info, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    security: [{ apiKey: [] }],
    tags: TAGS,
    paths,
    components: {
      ...generated.components,
      schemas: { ...usedIn(paths, named), Error: ERROR },
      responses: Object.fromEntries(
        Object.values(ERRORS).map(({ name, description, headers }) => [
          name,
          {
            description,
            headers,
            content: { "application/json": { schema: { $ref: `${REFERENCE_PREFIX}Error` } } }
          }
        ])
      )
    }
  }
}

// ---- helpers ----

/** The named schemas that the paths lead to; others belong to procedures that have no path. */
const usedIn = (paths: Json, named: NamedSchemas): Json => {
  const used: Json = {}
  const visit = (part: unknown): void => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const schema = named[name]
      if (schema === undefined || name in used) continue
      used[name] = schema
      visit(schema)
    }
  }
  visit(paths)
  return used
}

/** Adds what trpc-to-openapi cannot say: examples, and the errors that every operation shares. */
const complete = (operation: AnyEndpoint, documented: Json): void => {
  const { request, response } = operation.example
  const ok = (documented["responses"] as Record<string, Json>)["200"]
  Object.assign(mediaOf(ok), { example: response })
  if (request !== undefined) Object.assign(mediaOf(documented["requestBody"]), { example: request })
  documented["responses"] = { 200: { ...ok, description: "Done" }, ...errorResponses }
  documented["security"] = [{ apiKey: [] }]
}

const mediaOf = (holder: unknown): Json =>
  (holder as { content: Record<string, Json> }).content["application/json"] ?? {}

const DESCRIPTION =
  "Rule-based live event monitoring. Define a rule with a filter for each platform; Earshot watches the platforms and stores what matched."

const TAGS = [
  { name: "rules", description: "What to watch for" },
  { name: "matches", description: "What was found" },
  { name: "platforms", description: "Where to watch, and how to write a filter for it" },
  { name: "webhooks", description: "Where matches are sent as they are found" },
  { name: "local", description: "Events for the platforms that run in process" }
]

const ERROR = {
  type: "object",
  description: "Every error of every operation",
  required: ["code", "message", "details"],
  properties: {
    code: {
      type: "string",
      description: "What went wrong, as a stable name",
      enum: ERROR_CODES
    },
    message: { type: "string", description: "What went wrong, in words" },
    details: {
      type: "object",
      description: "Facts by name; for invalid_argument, issues lists each problem with its path",
      additionalProperties: true
    }
  }
}

const RETRY_AFTER = { "Retry-After": { description: "Seconds to wait", schema: { type: "integer" } } }

const ERRORS = {
  400: {
    name: "InvalidArgument",
    description: "The request is not valid, or the platform cannot serve it",
    headers: {}
  },
  401: { name: "Unauthenticated", description: "The key is missing or not valid", headers: {} },
  404: { name: "NotFound", description: "There is no such thing in this account", headers: {} },
  413: {
    name: "TooLarge",
    description: "The request body is larger than 1 MiB, or as NDJSON larger than 32 MiB",
    headers: {}
  },
  415: { name: "WrongContentType", description: "The request body is not JSON", headers: {} },
  429: { name: "ResourceExhausted", description: "A limit is reached", headers: RETRY_AFTER },
  500: { name: "Internal", description: "A defect on our side; the log has it under the request id", headers: {} },
  503: { name: "Unavailable", description: "The store or the platform is down", headers: RETRY_AFTER }
}

const errorResponses = {
  ...Object.fromEntries(
    Object.entries(ERRORS).map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }])
  ),
  default: { $ref: "#/components/responses/Internal" }
}

const localEvents = (languages: ReadonlyArray<Language>) => {
  const event = { oneOf: languages.map(({ events }) => events.schema) }
  const shapes = languages.map(({ events }) => events.shape).join(", ")
  return {
    operationId: "publishLocalEvents",
    tags: ["local"],
    summary: "Hand in events for the local platforms",
    description: `Each event in the form in which its platform streams it: ${shapes}. As NDJSON in bulk: one event a line, at most 1 MiB a line and 32 MiB in all. Every event is checked before any is taken in: if one is wrong, none is, and details.issues names each wrong line ("line 17"; the first 100). Answers when every match they gave is stored, so a sender is never faster than the store. After unavailable send the same again: nothing is stored twice.`,
    security: [{ apiKey: [] }],
    requestBody: {
      required: true,
      content: {
        [LINES_TYPE]: {
          schema: { type: "string", description: "One event a line, and at least one; empty lines are passed over" },
          example: '{"data":{"id":"1","text":"Felt a strong earthquake just now"}}\n'
        },
        "application/json": {
          schema: { oneOf: [event, { type: "array", minItems: 1, items: event }] },
          example: { data: { id: "1", text: "Felt a strong earthquake just now" } }
        }
      }
    },
    responses: {
      200: {
        description: "Done",
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: ["accepted", "matches"],
              properties: {
                accepted: {
                  type: "object",
                  additionalProperties: { type: "integer" },
                  description: "Events by platform"
                },
                matches: {
                  type: "integer",
                  description: "How often one of the events met a rule of this account, stored now or before"
                }
              }
            },
            example: { accepted: { x: 1 }, matches: 1 }
          }
        }
      },
      ...errorResponses
    }
  }
}

const STREAM_EXAMPLE = [
  "id: match_01kzyn4z6hf3v8y2c5t7w9b1md\nretry: 1000\n: open",
  'id: match_01kzyn5a2me0vb6h9d4s8y1k3p\nevent: match\ndata: {"id":"match_01kzyn5a2me0vb6h9d4s8y1k3p","rule_id":"rule_01kzyn3v8jf9g8w3q5r7t2x4c6","created_at":"2026-11-15T08:31:00.000Z","platform":"x","platform_post_id":"1866223344556677889","payload":{"data":{"id":"1866223344556677889","text":"Felt a strong earthquake just now"}}}',
  "id: match_01kzyn6q0xe4p9r7f2k6j3h5na\n: still here"
]
  .map((block) => `${block}\n\n`)
  .join("")

const streamOperation = (fields: Readonly<Record<string, unknown>>) => ({
  operationId: "streamMatches",
  tags: ["matches"],
  summary: "Be told of matches as they are stored",
  description:
    "A stream of server-sent events that does not end by itself. Each match is an event `match` whose `data` is the match as JSON (the schema `Match`, as `POST /matches` gives it) and whose `id` is the id of the match. With a cursor, what was stored after it comes first; then each match as it is stored: every one once, in the order of their ids. After 15 seconds without a match a comment comes, with an `id` that can be resumed from, too. Whatever ends the connection: ask again with the last `id` as the header `Last-Event-ID`, as event-stream clients do by themselves, and nothing is missed and nothing comes twice. A failure after the start is an event `error` whose `data` is the schema `Error`, and the end of the stream. A client that takes nothing for two minutes is cut off.",
  security: [{ apiKey: [] }],
  parameters: [
    ...Object.entries(fields).map(([name, schema]) => ({
      name,
      in: "query",
      required: false,
      schema
    })),
    {
      name: "Last-Event-ID",
      in: "header",
      required: false,
      description: "The last id that was received. Wins over cursor",
      schema: { type: "string" }
    }
  ],
  responses: {
    200: {
      description: "The stream",
      content: {
        [STREAM_TYPE]: {
          schema: { type: "string", description: "Server-sent events" },
          example: STREAM_EXAMPLE
        }
      }
    },
    ...errorResponses
  }
})
