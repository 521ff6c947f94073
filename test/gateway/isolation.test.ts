/**
 * Every operation of every door, as another account and as nobody. Which operations there are is asked of the doors
 * themselves: a new one is tested here without a word about it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { v7 } from "uuid"
import { z } from "zod"
import { fromUuid } from "../../core/model/Ids.ts"
import { platformSchemas } from "../../gateway/platformSchemas.ts"
import { makeRouter } from "../../gateway/trpc.ts"
import { PLATFORM_IDS } from "../platforms.ts"
import { call, draft, firehoseUpdate, type Target } from "./client.ts"
import { serve, service } from "./inProcess.ts"

describe("Every operation", () => {
  it.scopedLive(
    "answers for another account's ids as for unknown ones, shows nothing of it, and changes nothing of it",
    () =>
      Effect.gen(function* () {
        const as = yield* serve
        const [ann, bob] = [yield* as("ann"), yield* as("bob")]
        const owned = yield* Effect.promise(() => furnish(ann))
        const before = yield* Effect.promise(() => everythingOf(ann))
        const operations = yield* Effect.promise(() => operationsOf(bob))
        assert.isAbove(operations.length, 20)
        for (const operation of operations) {
          for (const inputs of variantsOf(operation, owned)) {
            const toForeign = yield* Effect.promise(() => operation.send(bob, inputs.foreign))
            const toUnknown = yield* Effect.promise(() => operation.send(bob, inputs.unknown))
            const what = `${operation.name} with ${JSON.stringify(inputs.foreign)}`
            assert.strictEqual(masked(toForeign), masked(toUnknown), what)
            const sent = JSON.stringify(inputs.foreign)
            for (const secret of [SECRET, ...owned.values()]) {
              if (!sent.includes(secret)) assert.notInclude(toForeign, secret, what)
            }
          }
        }
        assert.deepStrictEqual(yield* Effect.promise(() => everythingOf(ann)), before)
      }).pipe(Effect.provide(service)),
    60_000
  )

  it.scopedLive("is refused without a key, whatever is sent", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const ann = yield* as("ann")
      const operations = yield* Effect.promise(() => operationsOf(ann))
      for (const key of ["", "es_unknown"]) {
        for (const operation of operations) {
          const answer = yield* Effect.promise(() => operation.send({ ...ann, key }, operation.example))
          // A subscription that is open tells why it ends, or its client would try for ever.
          assert.match(
            answer,
            /^(401|200 event: connected\s.*event: serialized-error\s).*unauthenticated/s,
            operation.name
          )
        }
      }
    }).pipe(Effect.provide(service))
  )
})

// ---- helpers ----

type Input = Readonly<Record<string, unknown>>

interface Operation {
  readonly name: string
  /** Names of what it takes. */
  readonly fields: ReadonlyArray<string>
  readonly example: Input
  /** The status and the whole answer; of a stream the beginning. */
  readonly send: (target: Target, input: Input) => Promise<string>
}

/** In everything that Ann has. */
const SECRET = "annssecret"

/** Something of every kind that has an id; the ids by kind. */
const furnish = async (target: Target): Promise<ReadonlyMap<string, string>> => {
  await call(target, "/api.CreateRule", { ...draft(SECRET), name: SECRET, intent: SECRET })
  await call(target, "/local/events", firehoseUpdate(`http://${SECRET}.example`, SECRET))
  await call(target, "/webhooks/create", { url: `https://${SECRET}.example/hook`, description: SECRET })
  const ids = new Map<string, string>()
  for (const [id, kind = ""] of JSON.stringify(await everythingOf(target)).matchAll(/\b([a-z]+)_[0-9a-z]{26}\b/g)) {
    ids.set(kind, id)
  }
  return ids
}

/** What the operations that need nothing have to tell, without what changes with time. */
const everythingOf = async (target: Target): Promise<ReadonlyArray<string>> => {
  const [rules, matches, webhooks] = [
    await call(target, "/api.ListRules"),
    await call(target, "/matches", {}),
    await call(target, "/webhooks")
  ]
  return [rules.body, matches.body["matches"], webhooks.body].map((part) => JSON.stringify(part))
}

const operationsOf = async (target: Target): Promise<ReadonlyArray<Operation>> => [
  ...(await restOperations(target)),
  ...trpcOperations(),
  ...(await tools(target))
]

interface Documented {
  readonly operationId?: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly properties?: object }; readonly example?: Input }>
    >
  }
}

const restOperations = async (target: Target): Promise<ReadonlyArray<Operation>> => {
  const { body } = await call(target, "/openapi.json")
  const paths = body["paths"] as unknown as Readonly<Record<string, Readonly<Record<string, Documented>>>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]): Operation => {
      const json = requestBody?.content["application/json"]
      return {
        name: `${method.toUpperCase()} ${path}`,
        fields: [
          ...parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name),
          ...Object.keys(json?.schema.properties ?? {})
        ],
        example: json?.example ?? {},
        send: (target, input) =>
          method === "get"
            ? answerOf(target, `${path}?${new URLSearchParams(textual(input))}`)
            : answerOf(target, path, input)
      }
    })
  )
}

const textual = (input: Input) =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, String(value)]))

const trpcOperations = (): ReadonlyArray<Operation> =>
  Object.entries(
    makeRouter(platformSchemas(PLATFORM_IDS))._def.procedures as unknown as Readonly<Record<string, Procedure>>
  ).map(
    ([
      path,
      {
        _def: { type, inputs }
      }
    ]): Operation => ({
      name: `${path} of tRPC`,
      fields: Object.keys(z.toJSONSchema(inputs[0] ?? z.object({}), { unrepresentable: "any" }).properties ?? {}),
      example: {},
      send: (target, input) =>
        type === "mutation"
          ? answerOf(target, `/trpc/${path}`, input)
          : answerOf(target, `/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`)
    })
  )

interface Procedure {
  readonly _def: { readonly type: "query" | "mutation" | "subscription"; readonly inputs: ReadonlyArray<z.ZodType> }
}

const tools = async (target: Target): Promise<ReadonlyArray<Operation>> => {
  const client = new Client({ name: "test", version: "1" })
  const requestInit = { headers: { authorization: `Bearer ${target.key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${target.url}/mcp`), { requestInit }))
  const listed = await client.listTools()
  await client.close()
  return listed.tools.map(
    ({ name, inputSchema }): Operation => ({
      name: `the tool ${name}`,
      fields: Object.keys(inputSchema.properties ?? {}),
      example: {},
      send: (target, input) =>
        answerOf(target, "/mcp", {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name, arguments: input }
        })
    })
  )
}

/** Once as in its example, and once more with each id that it may be given besides. */
const variantsOf = ({ name, fields, example }: Operation, owned: ReadonlyMap<string, string>) => {
  const kinds = new Map(fields.flatMap((field) => kindOf(field).map((kind) => [field, kind] as const)))
  for (const [field, value] of Object.entries(example)) {
    const looksLikeAnId = /^[a-z]+_[0-9a-z]{26}$/.test([value].flat().join())
    assert.isTrue(!looksLikeAnId || kinds.has(field), `${name}: no kind is known of the id "${field}"`)
  }
  const quick = fields.includes("timeout_seconds") ? { timeout_seconds: 1 } : {}
  const given = [...kinds.keys()].filter((field) => field in example)
  const others = [...kinds.keys()].filter((field) => !(field in example))
  return [given, ...others.map((field) => [...given, field])].map((chosen) => {
    const withIds = (idOf: (kind: string) => string) => ({
      ...example,
      ...quick,
      ...Object.fromEntries(
        chosen.map((field) => {
          const id = idOf(kinds.get(field) ?? "")
          return [field, field.endsWith("s") ? [id] : id]
        })
      )
    })
    return {
      foreign: withIds((kind) => {
        const id = owned.get(kind)
        assert(id !== undefined, `${name}: Ann has nothing of the kind "${kind}"; let furnish make one`)
        return id
      }),
      // As many letters, of the same time.
      unknown: withIds((kind) => fromUuid("rule", v7()).replace("rule", kind))
    }
  })
}

const kindOf = (field: string): ReadonlyArray<string> => {
  if (["cursor", "after", "lastEventId"].includes(field)) return ["match"]
  const [, kind] = /^(?!platform_)(\w+?)_ids?$/.exec(field) ?? []
  return kind === undefined ? [] : [kind]
}

const masked = (answer: string): string =>
  answer
    .replaceAll(/\b[a-z]+_[0-9a-z]{26}\b/g, "ID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    // What fences in the text of strangers is new each time.
    .replaceAll(/\b[0-9a-f]{16,}\b/g, "SECRET")

const answerOf = async ({ url, key }: Target, path: string, body?: unknown): Promise<string> => {
  const leave = new AbortController()
  const answer = await fetch(url + path, {
    signal: leave.signal,
    headers: {
      "x-request-id": "same",
      accept: "application/json, text/event-stream",
      ...(key !== "" && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" })
    },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) })
  })
  const isEndless = /^\/(trpc\/matches\.watch|matches\/stream)/.test(path) && answer.status === 200
  const text = isEndless ? await beginningOf(answer) : await answer.text()
  leave.abort()
  return `${answer.status} ${text}`
}

/** The first events; all of them where it ends. */
const beginningOf = async (answer: Response): Promise<string> => {
  const reader = answer.body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  while (text.split("\n\n").length < 3) {
    const { value, done } = (await reader?.read()) ?? { done: true }
    if (done) break
    text += decoder.decode(value)
    if (text.startsWith("id:")) break
  }
  return text
}
