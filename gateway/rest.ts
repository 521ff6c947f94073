/** The documented endpoints: each operation straight from its path into its use case. */
import { Effect } from "effect"
import type { Keys } from "../core/Keys.ts"
import { authenticate } from "./auth.ts"
import { readJson } from "./body.ts"
import { decoder } from "./decode.ts"
import type { DoorFailure } from "./errors.ts"
import { type AnyEndpoint, endpoints, type Services } from "./operations.ts"
import { json, type Reply, type Route } from "./route.ts"

export const restRoutes: ReadonlyArray<Route<Services | Keys>> = endpoints.map((operation) => ({
  method: operation.method,
  path: operation.path,
  handle: serve(operation)
}))

// ---- helpers ----

function serve(operation: AnyEndpoint) {
  const decode = decoder(operation.input)
  const readInput = operation.method === "GET" ? readQuery : readJson
  return (request: Request): Effect.Effect<Reply, DoorFailure, Services | Keys> =>
    Effect.gen(function* () {
      const account = yield* authenticate(request)
      const input = yield* decode(yield* readInput(request))
      return json(200, yield* operation.handle(account, input))
    })
}

function readQuery(request: Request): Effect.Effect<unknown> {
  const start = request.url.indexOf("?")
  return Effect.succeed(start < 0 ? {} : Object.fromEntries(new URLSearchParams(request.url.slice(start + 1))))
}
