/** `POST /oauth/token` and `POST /oauth/revoke`: clients get, renew and give up their tokens. */
import { Clock, Effect, Either, Option } from "effect"
import { type Admit, Grants, type Tokens } from "../../core/grants/Grants.ts"
import { PerMinute } from "../../core/grants/PerMinute.ts"
import type { LimitReached, StoreUnavailable, TokenRefused } from "../../core/model/Errors.ts"
import { Quotas } from "../../core/quotas/Quotas.ts"
import { toWire } from "../errors.ts"
import { contentType, decodeText, readBytes } from "../http/body.ts"
import { json, type OpenRoute, type Reply } from "../http/route.ts"
import { REVOKE_PATH, TOKEN_PATH } from "./metadata.ts"

export const tokenRoutes = (): ReadonlyArray<OpenRoute<Grants | Quotas>> => {
  const refusals = new PerMinute(REFUSALS_PER_MINUTE)
  return [
    { method: "POST", path: TOKEN_PATH, reply: limited(issue, refusals) },
    { method: "POST", path: REVOKE_PATH, reply: limited(revoke, refusals) }
  ]
}

/** The error of an OAuth endpoint. */
export const refusal = (status: number, error: string, reason: string): Reply =>
  json(status, { error, error_description: reason })

/** Beyond the limit, which holds for all clients together. */
export const tooMany = (seconds: number): Reply => {
  const reply = refusal(429, "temporarily_unavailable", `Too many requests: try again in ${seconds} seconds`)
  return { ...reply, headers: { ...reply.headers, "retry-after": String(seconds) } }
}

// ---- helpers ----

/** Of all clients together. A client with a valid token is served all the same: nobody can lock others out. */
const REFUSALS_PER_MINUTE = 600

const MAX_BODY = 16_384

const FORM = "application/x-www-form-urlencoded"

/** The parameters of a form; none is empty. */
type Form = ReadonlyMap<string, string>

function limited(
  work: (form: Form) => Effect.Effect<Reply, TokenRefused | LimitReached | StoreUnavailable, Grants | Quotas>,
  refusals: PerMinute
) {
  return (request: Request): Effect.Effect<Reply, never, Grants | Quotas> =>
    Effect.gen(function* () {
      const form = yield* Effect.promise(() => readForm(request))
      if (Either.isLeft(form)) return form.left
      const reply = yield* work(form.right).pipe(
        Effect.catchTags({
          TokenRefused: ({ error, reason }) =>
            Effect.succeed(refusal(error === "invalid_client" ? 401 : 400, error, reason)),
          LimitReached: laterOf,
          StoreUnavailable: laterOf
        })
      )
      if (reply.status === 200) return reply
      const wait = refusals.take(yield* Clock.currentTimeMillis)
      return wait > 0 ? tooMany(wait) : reply
    })
}

/** The client keeps its tokens and tries again. */
const laterOf = (failure: LimitReached | StoreUnavailable): Effect.Effect<Reply> => {
  const { status, message, headers } = toWire(failure)
  const reply = refusal(status, "temporarily_unavailable", message)
  return Effect.succeed({ ...reply, headers: { ...reply.headers, ...headers } })
}

const readForm = async (request: Request): Promise<Either.Either<Form, Reply>> => {
  const invalid = (reason: string) => Either.left(refusal(400, "invalid_request", reason))
  const type = contentType(request, [FORM])
  if (Either.isLeft(type)) return invalid(type.left.message)
  const bytes = await readBytes(request, MAX_BODY)
  if (Either.isLeft(bytes)) return invalid(bytes.left.message)
  const text = decodeText(bytes.right)
  if (Either.isLeft(text)) return invalid("The body is not valid UTF-8")
  const form = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text.right)) {
    if (form.has(name)) return invalid(`${name.slice(0, 100)} is given more than once`)
    // An empty parameter counts as absent (RFC 6749, section 3.1).
    if (value !== "") form.set(name, value)
  }
  return Either.right(form)
}

function issue(form: Form) {
  const given = (name: string) => Option.fromNullable(form.get(name))
  const clientId = form.get("client_id")
  if (clientId === undefined) return missing("client_id")
  const common = { clientId, resource: given("resource") }
  switch (form.get("grant_type")) {
    case "authorization_code": {
      const [code, verifier] = [form.get("code"), form.get("code_verifier")]
      if (code === undefined) return missing("code")
      if (verifier === undefined) return missing("code_verifier")
      const asked = { ...common, code, verifier, redirectUri: given("redirect_uri") }
      return withGrants((grants, admit) => grants.exchange({ ...asked, admit }))
    }
    case "refresh_token": {
      const token = form.get("refresh_token")
      if (token === undefined) return missing("refresh_token")
      return withGrants((grants, admit) => grants.refresh({ ...common, token, scope: given("scope"), admit }))
    }
    case undefined:
      return missing("grant_type")
    default:
      return Effect.succeed(
        refusal(400, "unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
      )
  }
}

const withGrants = <E>(get: (grants: Grants["Type"], admit: Admit) => Effect.Effect<Tokens, E>) =>
  Effect.gen(function* () {
    const quotas = yield* Quotas
    // Of the account, like its other requests.
    return issued(yield* get(yield* Grants, quotas.admit))
  })

const issued = ({ accessToken, refreshToken, expiresInSeconds, scope }: Tokens): Reply =>
  json(200, {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: expiresInSeconds,
    refresh_token: refreshToken,
    scope: scope === "write" ? "read write" : "read"
  })

/** RFC 7009: the answer does not tell whether there was such a token. */
function revoke(form: Form) {
  const token = form.get("token")
  if (token === undefined) return missing("token")
  return Effect.flatMap(Grants, (grants) =>
    Effect.as(grants.giveUp({ token, clientId: Option.fromNullable(form.get("client_id")) }), json(200, {}))
  )
}

const missing = (name: string) => Effect.succeed(refusal(400, "invalid_request", `${name} is missing`))
