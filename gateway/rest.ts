/** The REST routes of all operations. */
import { Effect, Either, Option } from "effect"
import { readJson } from "./body.ts"
import { decoder } from "./decode.ts"
import { type AnyEndpoint, changesState, perform, type Services } from "./endpoint.ts"
import { keyOf, replyOf } from "./idempotency.ts"
import { endpoints } from "./operations.ts"
import type { PlatformSchemas } from "./platformSchemas.ts"
import type { KeyedRoute, Work } from "./route.ts"

export const restRoutes = (schemas: PlatformSchemas): ReadonlyArray<KeyedRoute<Services>> =>
  endpoints.map((endpoint) => routeOf(endpoint, schemas))

/** The query parameters. A repeated one becomes an array, which the decoder refuses. */
export const queryOf = (request: Request): Readonly<Record<string, string | ReadonlyArray<string>>> => {
  const start = request.url.indexOf("?")
  if (start < 0) return {}
  const params = new URLSearchParams(request.url.slice(start + 1))
  const query = new Map<string, string | Array<string>>()
  for (const [name, value] of params) {
    const before = query.get(name)
    if (Array.isArray(before)) before.push(value)
    else query.set(name, before === undefined ? value : [before, value])
  }
  return Object.fromEntries(query)
}

// ---- helpers ----

function routeOf(endpoint: AnyEndpoint, schemas: PlatformSchemas): KeyedRoute<Services> {
  const { method, path, scope, showsLimits = false } = endpoint
  const decode = decoder(schemas(endpoint.input))
  const allIsOptional = endpoint.needsFields !== true && Either.isRight(decode({}))
  const toWork = (data: unknown, key: Option.Option<string>) =>
    Either.map(
      decode(data),
      (input): Work<Services> =>
        ({ account }) =>
          Effect.map(perform(endpoint, account, { input, key }), replyOf)
    )
  const readBody = async (request: Request) => {
    const key = changesState(endpoint) ? keyOf(request) : NO_KEY
    if (Either.isLeft(key)) return Either.left(key.left)
    return Either.flatMap(await readJson(request, { allIsOptional }), (data) => toWork(data, key.right))
  }
  const readQuery = (request: Request) => toWork(queryOf(request), Option.none())
  return { method, path, scope, showsLimits, read: method === "GET" ? readQuery : readBody }
}

const NO_KEY = Either.right(Option.none<string>())
