/** A server with sign-in, and the steps of a client, of a browser and of a person, one by one. */
import { createHash, randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Effect, Either, Exit, Layer, Scope as Lifetime, Option } from "effect"
import { issuerAt } from "../../../core/grants/Grants.ts"
import type { Scope } from "../../../core/keys/Key.ts"
import { localPlatforms } from "../../platforms.ts"
import { memoryStores } from "../../stores/memoryStores.ts"
import { call, type Target } from "../client.ts"
import { freePort, serveWith, serviceOn } from "../inProcess.ts"

export interface SignedIn {
  /** With an admin key of an account that no other test uses. */
  readonly ann: Target
  readonly bob: Target
  /** With a read key of Ann's account. */
  readonly reader: Target
}

/** One server for the tests of a file. Returns a function that defines a test. */
export const signInServer = (): ((title: string, test: (context: SignedIn) => Promise<void>) => void) => {
  const lifetime = Effect.runSync(Lifetime.make())
  let as: (account: string, scope?: Scope) => Promise<Target>
  let accounts = 0
  beforeAll(async () => {
    const started = Effect.gen(function* () {
      const port = yield* freePort
      const issuer = issuerAt(`http://127.0.0.1:${port}`)
      const services = yield* Layer.build(serviceOn(localPlatforms(), memoryStores, Option.some(issuer)))
      const newTarget = yield* Effect.provide(serveWith({ port, signIn: Either.right(issuer) }), services)
      return (account: string, scope?: Scope) => Effect.runPromise(Effect.provide(newTarget(account, scope), services))
    })
    as = await Effect.runPromise(Lifetime.extend(started, lifetime))
  })
  afterAll(() => Effect.runPromise(Lifetime.close(lifetime, Exit.void)))
  return (title, test) =>
    it(title, async () => {
      const [ann, bob] = [`ann ${++accounts}`, `bob ${accounts}`]
      await test({ ann: await as(ann), bob: await as(bob), reader: await as(ann, "read") })
    })
}

/** A client that Earshot knows. */
export const KNOWN_CLIENT = "https://claude.ai/oauth/mcp-oauth-client-metadata"
export const KNOWN_REDIRECT = "https://claude.ai/api/mcp/auth_callback"

/** Where nobody listens: the tests read the address that the browser would open. */
export const CALLBACK = "http://localhost:7777/callback"

export const register = async ({ url }: Target, metadata: object = { redirect_uris: [CALLBACK] }) => {
  const response = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(metadata)
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

export const clientOf = async (target: Target, metadata?: object): Promise<string> =>
  String((await register(target, metadata)).body["client_id"])

export interface Proof {
  readonly verifier: string
  readonly challenge: string
}

export const newProof = (): Proof => {
  const verifier = randomBytes(32).toString("base64url")
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") }
}

type Parameters = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The response of the authorization endpoint. Undefined removes a parameter. */
export const authorize = async ({ url }: Target, parameters: Parameters): Promise<Response> => {
  const all: Parameters = {
    response_type: "code",
    redirect_uri: CALLBACK,
    code_challenge_method: "S256",
    state: "a state",
    scope: "read write",
    ...parameters
  }
  const query = new URLSearchParams(
    Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map((one) => [name, String(one)])
    )
  )
  return fetch(`${url}/oauth/authorize?${query}`, { redirect: "manual" })
}

/** The text with which the console asks the person. */
export const requestIn = (response: Response): string => {
  assert.strictEqual(response.status, 302)
  const { pathname, hash } = new URL(response.headers.get("location") ?? "")
  assert.strictEqual(pathname, "/console/consent", response.headers.get("location") ?? "")
  return new URLSearchParams(hash.slice(1)).get("request") ?? ""
}

/** What the person decides: the parameters of the address that the browser then opens. */
export const decide = async (person: Target, request: string, decision = "write"): Promise<URLSearchParams> => {
  const { status, body } = await call(person, "/grants/decide", { request, decision })
  assert.strictEqual(status, 200, JSON.stringify(body))
  return new URL(String(body["redirect_uri"])).searchParams
}

export interface Code {
  readonly client: string
  readonly code: string
  readonly proof: Proof
}

export const codeFor = async (
  person: Target,
  {
    client,
    decision = "write",
    ...parameters
  }: { readonly client?: string; readonly decision?: string } & Parameters = {}
): Promise<Code> => {
  const [proof, client_id] = [newProof(), client ?? (await clientOf(person))]
  const asked = await authorize(person, { client_id, code_challenge: proof.challenge, ...parameters })
  const answer = await decide(person, requestIn(asked), decision)
  return { client: client_id, code: answer.get("code") ?? "", proof }
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, string>>
}

/** Sends a form. Undefined removes a parameter. */
export const post = async ({ url }: Target, path: string, parameters: Readonly<Record<string, string | undefined>>) => {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const response = await fetch(url + path, { method: "POST", body: new URLSearchParams(given) })
  assert.strictEqual(response.headers.get("cache-control"), "no-store")
  const body = (await response.json()) as Answered["body"]
  return { status: response.status, headers: response.headers, body } satisfies Answered
}

export const exchange = (
  target: Target,
  { client, code, proof }: Code,
  more: Readonly<Record<string, string | undefined>> = {}
) =>
  post(target, "/oauth/token", {
    grant_type: "authorization_code",
    client_id: client,
    code,
    code_verifier: proof.verifier,
    redirect_uri: CALLBACK,
    ...more
  })

export const refresh = (
  target: Target,
  client: string,
  token: string | undefined,
  more: Readonly<Record<string, string | undefined>> = {}
) => post(target, "/oauth/token", { grant_type: "refresh_token", client_id: client, refresh_token: token, ...more })

/** With tokens of a new client. */
export const connected = async (person: Target, decision = "write") => {
  const code = await codeFor(person, { decision })
  const { status, body } = await exchange(person, code)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return { ...code, access: String(body["access_token"]), refresh: String(body["refresh_token"]) }
}

export const statusWith = async (target: Target, token: string, path = "/api.ListRules"): Promise<number> =>
  (await call({ ...target, key: token }, path)).status

/** Which grants of the account there are, and how they ended. */
export const grantsOf = async (target: Target) =>
  [...((await call(target, "/grants")).body["grants"] ?? [])].map((grant) => ({
    id: String(grant["id"]),
    client_name: String(grant["client_name"]),
    scope: String(grant["scope"]),
    ended_by: grant["ended_by"] as unknown as string | null
  }))

export const assertRefused = ({ status, body }: Answered, error: string, says?: RegExp): void => {
  assert.deepStrictEqual([status, body["error"]], [error === "invalid_client" ? 401 : 400, error], JSON.stringify(body))
  assert.sameMembers(Object.keys(body), ["error", "error_description"])
  if (says !== undefined) assert.match(String(body["error_description"]), says)
}
