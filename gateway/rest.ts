/** The documented endpoints: each operation straight from its path into its use case. */
import { Effect, Either } from "effect"
import { readJson } from "./body.ts"
import { decoder } from "./decode.ts"
import { type AnyEndpoint, endpoints, type Services } from "./operations.ts"
import { json, type KeyedRoute, type Work } from "./route.ts"

export const restRoutes: ReadonlyArray<KeyedRoute<Services>> = endpoints.map(routeOf)

/** The fields of the query; of a field that comes twice, the last. */
export const queryOf = (request: Request): Readonly<Record<string, string>> => {
  const start = request.url.indexOf("?")
  return start < 0 ? {} : Object.fromEntries(new URLSearchParams(request.url.slice(start + 1)))
}

// ---- helpers ----

function routeOf(endpoint: AnyEndpoint): KeyedRoute<Services> {
  const { method, path, handle } = endpoint
  const decode = decoder(endpoint.input)
  const readInput = method === "GET" ? readQuery : readJson
  return {
    method,
    path,
    read: async (request) =>
      Either.map(
        Either.flatMap(await readInput(request), decode),
        (input): Work<Services> =>
          (account) =>
            Effect.map(handle(account, input), (output) => json(200, output))
      )
  }
}

async function readQuery(request: Request): Promise<Either.Either<unknown>> {
  return Either.right(queryOf(request))
}
