/** `GET /oauth/authorize`: checks the request of a client, then sends the browser to the person's decision. */
import { Clock, Effect, Either, Predicate } from "effect"
import { type Client, Clients } from "../../core/grants/Clients.ts"
import type { GrantScope } from "../../core/grants/Grant.ts"
import { accessRequestOf, Grants, type Issuer, isResource, scopesIn } from "../../core/grants/Grants.ts"
import { PerMinute } from "../../core/grants/PerMinute.ts"
import { isLocal, isRedirectOf, redirectHost } from "../../core/grants/redirects.ts"
import type { StoreUnavailable } from "../../core/model/Errors.ts"
import { truncated } from "../../core/text/truncated.ts"
import { CONSOLE_PATH } from "../http/console.ts"
import { queryOf } from "../http/rest.ts"
import type { OpenRoute, Reply } from "../http/route.ts"
import { AUTHORIZE_PATH } from "./metadata.ts"
import { page, SAFE_HEADERS } from "./page.ts"

export const authorizeRoute = ({ issuer, resource }: Issuer): OpenRoute<Grants | Clients> => {
  const requests = new PerMinute(REQUESTS_PER_MINUTE)
  return {
    method: "GET",
    path: AUTHORIZE_PATH,
    reply: (request) =>
      Effect.gen(function* () {
        const wait = requests.take(yield* Clock.currentTimeMillis)
        if (wait > 0) return tooMany(wait)
        const query = queryOf(request)
        const target = yield* Effect.either(targetOf(query))
        if (Either.isLeft(target))
          return page({ status: 400, title: "This sign-in cannot go on", message: target.left })
        const { client, redirectUri } = target.right
        const asked = read(query, resource)
        if (Either.isLeft(asked)) return yield* refusal({ ...target.right, state: stateOf(query), ...asked.left })
        const grants = yield* Grants
        const text = yield* grants.ask(accessRequestOf(client, { redirectUri, ...asked.right }))
        // The browser does not send the fragment: the request is in no log.
        return redirect(`${issuer}${CONSOLE_PATH}/consent#request=${text}`)
      })
  }
}

// ---- helpers ----

/** Of all browsers together: it needs no key. */
const REQUESTS_PER_MINUTE = 600

const MAX_STATE = 1_000

type Query = ReturnType<typeof queryOf>

interface Target {
  readonly client: Client
  readonly redirectUri: string
}

interface Refusal {
  /** As in RFC 6749. */
  readonly error: string
  readonly reason: string
}

/** Fails with a message for the reader: nothing may be sent to an address that the client does not have. */
const targetOf = (query: Query): Effect.Effect<Target, string, Clients> =>
  Effect.gen(function* () {
    const { client_id: clientId, redirect_uri: redirectUri } = query
    if (!Predicate.isString(clientId)) return yield* Effect.fail(`The request has ${countOf(clientId)} client_id.`)
    const client = yield* (yield* Clients)
      .find(clientId)
      .pipe(Effect.mapError((failure) => describe(failure, clientId)))
    if (!Predicate.isString(redirectUri))
      return yield* Effect.fail(`The request has ${countOf(redirectUri)} redirect_uri.`)
    if (!isRedirectOf(client.redirectUris, redirectUri)) {
      return yield* Effect.fail(
        `The client "${client.name}" wants to be called back at "${truncated(redirectUri, 200)}", which is not an address of this client.`
      )
    }
    const state = query["state"]
    return Predicate.isString(state) && state.length > MAX_STATE
      ? yield* Effect.fail(`The state of the request is longer than ${MAX_STATE} characters.`)
      : { client, redirectUri }
  })

const countOf = (value: unknown): string => (value === undefined ? "no" : "more than one")

const describe = (
  failure: { readonly _tag: "ClientUnknown"; readonly reason: string } | StoreUnavailable,
  id: string
) =>
  failure._tag === "ClientUnknown"
    ? `The client "${truncated(id, 200)}" is not known: ${failure.reason}.`
    : `${failure.message}.`

const stateOf = ({ state }: Query): string | null => (Predicate.isString(state) ? state : null)

const PARAMETERS = ["response_type", "code_challenge", "code_challenge_method", "scope", "state", "resource"]

interface Asked {
  readonly challenge: string
  readonly state: string | null
  readonly scope: GrantScope
}

const read = (query: Query, resource: string): Either.Either<Asked, Refusal> => {
  const refuse = (error: string, reason: string) => Either.left({ error, reason })
  const repeated = PARAMETERS.find((name) => Array.isArray(query[name]))
  if (repeated !== undefined) return refuse("invalid_request", `${repeated} is given more than once`)
  const text = (name: string) => String(query[name] ?? "")
  if (query["request"] !== undefined) return refuse("request_not_supported", "request is not supported")
  if (query["request_uri"] !== undefined) return refuse("request_uri_not_supported", "request_uri is not supported")
  if (text("response_type") !== "code") return refuse("unsupported_response_type", "response_type must be code")
  if (!/^[\w-]{43}$/.test(text("code_challenge"))) {
    return refuse("invalid_request", "code_challenge must be a SHA-256 digest in base64url, of 43 characters")
  }
  // Without it the method is plain, which protects nothing.
  if (text("code_challenge_method") !== "S256") return refuse("invalid_request", "code_challenge_method must be S256")
  if (query["resource"] !== undefined && !isResource(text("resource"), resource)) {
    return refuse("invalid_target", `resource must be ${resource}`)
  }
  const scopes = scopesIn(text("scope"))
  if (scopes.length === 0 && text("scope").trim() !== "") {
    return refuse("invalid_scope", "scope must have read or write")
  }
  return Either.right({
    challenge: text("code_challenge"),
    state: stateOf(query),
    scope: scopes.length === 0 || scopes.includes("write") ? "write" : "read"
  })
}

/**
 * Goes back to the client. Everybody can register a client with any address, so only addresses that are known, or on
 * the reader's own computer, are opened without asking (RFC 9700, section 4.11.2).
 */
const refusal = ({ client, redirectUri, state, error, reason }: Target & Refusal & { readonly state: string | null }) =>
  Effect.map(Grants, (grants): Reply => {
    const href = grants.refusalOf({ redirectUri, state, error, reason })
    if (client.kind === "known" || isLocal(redirectUri)) return redirect(href)
    return page({
      status: 400,
      title: "This sign-in cannot go on",
      message: `The request of the client "${client.name}" is not valid: ${reason}.`,
      link: { href, text: `Go back to ${redirectHost(redirectUri)}` }
    })
  })

const redirect = (location: string): Reply => ({ status: 302, headers: { ...SAFE_HEADERS, location }, body: null })

const tooMany = (seconds: number): Reply => {
  const message = `Too many people are signing in at the moment. Try again in ${seconds} seconds.`
  const reply = page({ status: 429, title: "Try again shortly", message })
  return { ...reply, headers: { ...reply.headers, "retry-after": String(seconds) } }
}
