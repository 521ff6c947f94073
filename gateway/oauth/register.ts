/** `POST /oauth/register`: a client registers itself (RFC 7591). Nothing is stored. */
import { Clock, Effect, Either } from "effect"
import { Clients } from "../../core/grants/Clients.ts"
import { PerMinute } from "../../core/grants/PerMinute.ts"
import { contentType, decodeText, JSON_TYPE, parseJson, readBytes } from "../http/body.ts"
import { json, type OpenRoute } from "../http/route.ts"
import { REGISTER_PATH } from "./metadata.ts"
import { refusal, tooMany } from "./token.ts"

export const registerRoute = (): OpenRoute<Clients> => {
  const registrations = new PerMinute(REGISTRATIONS_PER_MINUTE)
  return {
    method: "POST",
    path: REGISTER_PATH,
    reply: (request) =>
      Effect.gen(function* () {
        const wait = registrations.take(yield* Clock.currentTimeMillis)
        if (wait > 0) return tooMany(wait)
        const metadata = yield* Effect.promise(() => readMetadata(request))
        if (Either.isLeft(metadata)) return refusal(400, "invalid_client_metadata", metadata.left)
        const clients = yield* Clients
        const registered = yield* Effect.either(clients.register(metadata.right))
        if (Either.isLeft(registered)) {
          const failure = registered.left
          return failure._tag === "MetadataInvalid" ? refusal(400, failure.error, failure.reason) : yield* failure
        }
        const { clientId, issuedAtSeconds, name, redirectUris } = registered.right
        return json(201, {
          client_id: clientId,
          client_id_issued_at: issuedAtSeconds,
          client_name: name,
          redirect_uris: redirectUris,
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: "none"
        })
      })
  }
}

// ---- helpers ----

/** Of all clients together: they have no key. */
const REGISTRATIONS_PER_MINUTE = 120

const MAX_BODY = 16_384

/** Left: what is wrong. */
const readMetadata = async (request: Request): Promise<Either.Either<unknown, string>> => {
  const type = contentType(request, [JSON_TYPE])
  if (Either.isLeft(type)) return Either.left(type.left.message)
  const bytes = await readBytes(request, MAX_BODY)
  if (Either.isLeft(bytes)) return Either.left(bytes.left.message)
  const text = decodeText(bytes.right)
  if (Either.isLeft(text)) return Either.left("The body is not valid UTF-8")
  return Either.mapLeft(parseJson(text.right), ({ message }) => message)
}
