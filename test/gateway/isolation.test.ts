/**
 * Calls every operation of every interface with another account and without a key. The operations are discovered, so
 * new ones are tested automatically.
 */
import { assert, describe, it } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect, Either, Option } from "effect"
import { v7 } from "uuid"
import { z } from "zod"
import { platformSchemas } from "../../api/platformSchemas.ts"
import { builtIn } from "../../app/platforms.ts"
import { issuerAt } from "../../core/grants/Grants.ts"
import { fromUuid } from "../../core/model/Ids.ts"
import { makeRouter } from "../../gateway/trpc/router.ts"
import { localPlatforms } from "../platforms.ts"
import { memoryStores } from "../stores/memoryStores.ts"
import { call, draft, firehoseUpdate, type Target } from "./client.ts"
import { serve, serveWith, service, serviceOn, X_LIMIT } from "./inProcess.ts"
import { connected } from "./oauth/flow.ts"

describe("Every operation", () => {
  it.scopedLive(
    "treats ids of another account like unknown ids, and neither shows nor changes its data",
    () =>
      Effect.gen(function* () {
        const as = yield* serveWith({ signIn: Either.right(ISSUER) })
        const [ann, bob] = [yield* as("ann"), yield* as("bob")]
        const owned = yield* Effect.promise(() => createOneOfEach(ann))
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
      }).pipe(Effect.provide(serviceOn(platforms(), memoryStores, Option.some(ISSUER)))),
    240_000
  )

  it.scopedLive("counts in a backtest only the account's own rules as already matched", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      const overlap = (account: Target) =>
        Effect.promise(async () => {
          await call(account, "/local/events", [
            firehoseUpdate("http://a", "storm rain"),
            firehoseUpdate("http://b", "storm")
          ])
          const { body } = await call(account, "/rules/check", { overrides: { firehose: "storm" }, backtest: {} })
          const backtest = body["platforms"]?.["firehose"]?.["backtest"]
          const counts: ReadonlyArray<unknown> = [backtest?.["matched"], backtest?.["already_matched"]]
          return counts
        })
      yield* Effect.promise(() => call(ann, "/api.CreateRule", draft("rain")))
      assert.deepStrictEqual(yield* overlap(ann), [2, 1])
      assert.deepStrictEqual(yield* overlap(bob), [2, 0])
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("is refused without a valid key", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const ann = yield* as("ann")
      const operations = yield* Effect.promise(() => operationsOf(ann))
      for (const key of ["", "es_unknown"]) {
        for (const operation of operations) {
          const answer = yield* Effect.promise(() => operation.send({ ...ann, key }, operation.example))
          // A subscription sends the error as an event: after an HTTP error its client would retry forever.
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
  /** Names of the input fields. */
  readonly fields: ReadonlyArray<string>
  readonly example: Input
  /** Returns the status and the response; of a stream only the start. */
  readonly send: (target: Target, input: Input) => Promise<string>
}

const ISSUER = issuerAt("https://earshot.example")

const platforms = () => localPlatforms({ x: X_LIMIT }, { webhooks: 20 })

/** Part of everything that Ann owns. */
const SECRET = "annssecret"

/** Returns ids by kind. */
const createOneOfEach = async (target: Target): Promise<ReadonlyMap<string, string>> => {
  await call(target, "/api.CreateRule", { ...draft(SECRET), name: SECRET, intent: SECRET })
  await call(target, "/local/events", firehoseUpdate(`http://${SECRET}.example`, SECRET))
  await call(target, "/webhooks/create", { url: `https://${SECRET}.example/hook`, description: SECRET })
  await connected(target)
  const ids = new Map<string, string>()
  for (const [id, kind = ""] of JSON.stringify(await everythingOf(target)).matchAll(/\b([a-z]+)_[0-9a-z]{26}\b/g)) {
    ids.set(kind, id)
  }
  return ids
}

/** All data of the account, without parts that change with time. */
const everythingOf = async (target: Target): Promise<ReadonlyArray<string>> => {
  const [rules, matches, webhooks, keys, grants] = [
    await call(target, "/api.ListRules"),
    await call(target, "/matches", {}),
    await call(target, "/webhooks"),
    await call(target, "/keys"),
    await call(target, "/grants")
  ]
  return [rules.body, matches.body["matches"], webhooks.body, keys.body, grants.body].map((part) =>
    JSON.stringify(part)
  )
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
    makeRouter(platformSchemas(builtIn))._def.procedures as unknown as Readonly<Record<string, Procedure>>
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

/** The example input, and one variant for each further id field. */
const variantsOf = ({ name, fields, example }: Operation, owned: ReadonlyMap<string, string>) => {
  const kinds = new Map(fields.flatMap((field) => kindOf(field).map((kind) => [field, kind] as const)))
  for (const [field, value] of Object.entries(example)) {
    const looksLikeAnId = /^[a-z]+_[0-9a-z]{26}$/.test([value].flat().join())
    assert.isTrue(!looksLikeAnId || kinds.has(field), `${name}: the kind of the id "${field}" is unknown`)
  }
  const quick = fields.includes("timeout_seconds") ? { timeout_seconds: 1 } : {}
  const required = [...kinds.keys()].filter((field) => field in example)
  const others = [...kinds.keys()].filter((field) => !(field in example))
  return [required, ...others.map((field) => [...required, field])].map((chosen) => {
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
        assert(id !== undefined, `${name}: Ann has no "${kind}": add one to createOneOfEach`)
        return id
      }),
      // Of the same length and time.
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
    .replaceAll(/\bes_\w+…?/g, "KEY")
    .replaceAll(/"resets_in_seconds":\d+/g, '"resets_in_seconds":SECONDS')
    // The secret around untrusted text is new in each response.
    .replaceAll(/\b[0-9a-f]{16,}\b/g, "SECRET")

const answerOf = async ({ url, key }: Target, path: string, body?: unknown): Promise<string> => {
  const aborting = new AbortController()
  const answer = await fetch(url + path, {
    signal: aborting.signal,
    headers: {
      "x-request-id": "same",
      accept: "application/json, text/event-stream",
      ...(key !== "" && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" })
    },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) })
  })
  const isEndless = /^\/(trpc\/matches\.(watch|events)|matches\/stream)/.test(path) && answer.status === 200
  const text = isEndless ? await startOf(answer) : await answer.text()
  aborting.abort()
  return `${answer.status} ${text}`
}

/** The first events of a stream. */
const startOf = async (answer: Response): Promise<string> => {
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
