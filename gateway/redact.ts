/** `POST /matches/redact`: the operator removes posts from everything that is stored. */
import { Effect, Either } from "effect"
import { Redactions, RedactRequest } from "../core/compliance/Redactions.ts"
import { readJson } from "./body.ts"
import { decoder } from "./decode.ts"
import { operatorsOnly } from "./errors.ts"
import type { PlatformSchemas } from "./platformSchemas.ts"
import { json, type KeyedRoute, type OperatorRoute } from "./route.ts"

export const REDACT_PATH = "/matches/redact"

export const redactRoute = (schemas: PlatformSchemas): OperatorRoute<Redactions> => {
  const decode = decoder(schemas(RedactRequest))
  return {
    method: "POST",
    path: REDACT_PATH,
    readOperators: async (request) =>
      Either.map(Either.flatMap(await readJson(request, { allIsOptional: false }), decode), (wanted) =>
        Effect.gen(function* () {
          const redactions = yield* Redactions
          return json(200, yield* redactions.redact(wanted))
        })
      )
  }
}

/** Matches belong to accounts, posts do not: a key of one account must not remove what others have. */
export const redactRefusal: KeyedRoute<never> = {
  method: "POST",
  path: REDACT_PATH,
  scope: "read",
  read: async () => Either.left(operatorsOnly(REDACT_PATH))
}
