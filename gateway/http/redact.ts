/** `POST /matches/redact`: the operator removes posts from everything that is stored. */
import { Effect, Either, Option } from "effect"
import type { PlatformSchemas } from "../../api/platformSchemas.ts"
import { Redactions, RedactRequest } from "../../core/compliance/Redactions.ts"
import { Idempotency } from "../../core/idempotency/Idempotency.ts"
import { decoder } from "../decode.ts"
import { operatorsOnly } from "../errors.ts"
import { keyOf } from "../operations/idempotency.ts"
import { readJson } from "./body.ts"
import { type KeyedRoute, type OperatorRoute, replyOf } from "./route.ts"

export const REDACT_PATH = "/matches/redact"

export const redactRoute = (schemas: PlatformSchemas): OperatorRoute<Redactions | Idempotency> => {
  const decode = decoder(schemas(RedactRequest))
  return {
    method: "POST",
    path: REDACT_PATH,
    readOperators: async (request) => {
      const key = keyOf(request)
      if (Either.isLeft(key)) return Either.left(key.left)
      return Either.map(Either.flatMap(await readJson(request, { allIsOptional: false }), decode), (wanted) => {
        const redact = Effect.flatMap(Redactions, (redactions) => redactions.redact(wanted))
        const operation = "redactMatches"
        const asked = { key: key.right, account: Option.none(), operation, content: wanted, isLong: true }
        return Effect.flatMap(Idempotency, ({ once }) => Effect.map(once(asked, redact), replyOf))
      })
    }
  }
}

/** Matches belong to accounts, posts do not: a key of one account must not remove what others have. */
export const redactRefusal: KeyedRoute<never> = {
  method: "POST",
  path: REDACT_PATH,
  scope: "read",
  read: async () => Either.left(operatorsOnly(REDACT_PATH))
}
