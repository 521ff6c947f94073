/** Sign-in with OAuth over HTTP, and the attacks of RFC 9700 on it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { issuerAt } from "../../../core/grants/Grants.ts"
import { eventually } from "../../eventually.ts"
import { localPlatforms } from "../../platforms.ts"
import { memoryStores } from "../../stores/memoryStores.ts"
import { answerOf, assertError, call, draft, xPost } from "../client.ts"
import { serve, serveWith, service, serviceOn } from "../inProcess.ts"
import { withEventClient } from "../mcp/eventClient.ts"
import { rpc } from "../mcp/rpc.ts"
import {
  assertRefused,
  authorize,
  CALLBACK,
  clientOf,
  codeFor,
  connected,
  decide,
  exchange,
  grantsOf,
  KNOWN_CLIENT,
  KNOWN_REDIRECT,
  newProof,
  post,
  refresh,
  register,
  requestIn,
  signInServer,
  statusWith
} from "./flow.ts"

const served = signInServer()

/** Of an account per minute. */
const REQUESTS = 5

describe("the metadata", () => {
  served("is found from the 401 of /mcp, at both addresses", async ({ ann }) => {
    const { status, headers } = await answerOf(await fetch(`${ann.url}/mcp`, { method: "POST", body: "{}" }))
    assert.strictEqual(status, 401)
    assert.strictEqual(
      headers.get("www-authenticate"),
      `Bearer resource_metadata="${ann.url}/.well-known/oauth-protected-resource/mcp", scope="read write"`
    )
    const wrong = await call({ ...ann, key: "eat_no" }, "/mcp", {})
    assert.match(wrong.headers.get("www-authenticate") ?? "", /, error="invalid_token"$/)
    const elsewhere = await call({ ...ann, key: "eat_no" }, "/api.ListRules")
    assert.strictEqual(elsewhere.headers.get("www-authenticate"), "Bearer")
    const root = await call(ann, "/.well-known/oauth-protected-resource")
    const below = await call(ann, "/.well-known/oauth-protected-resource/mcp")
    assert.deepStrictEqual(root.body, below.body)
    assert.deepInclude(below.body as unknown as object, {
      resource: `${ann.url}/mcp`,
      authorization_servers: [ann.url],
      scopes_supported: ["read", "write"],
      bearer_methods_supported: ["header"]
    })
    const server = (await call(ann, "/.well-known/oauth-authorization-server")).body as unknown as Record<
      string,
      unknown
    >
    assert.deepInclude(server, {
      issuer: ann.url,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true
    })
    for (const name of ["authorization", "token", "revocation", "registration"]) {
      assert.isTrue(String(server[`${name}_endpoint`]).startsWith(`${ann.url}/oauth/`), name)
    }
  })

  it.scopedLive("says that sign-in is off, without EARSHOT_PUBLIC_URL", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      yield* Effect.promise(async () => {
        for (const path of [
          "/.well-known/oauth-protected-resource",
          "/.well-known/oauth-protected-resource/mcp",
          "/.well-known/oauth-authorization-server",
          "/oauth/authorize"
        ]) {
          assertError(await call(ann, path), 404, "not_found", /is off: EARSHOT_PUBLIC_URL is not set\. Use an API key/)
        }
        assertError(await answerOf(await fetch(`${ann.url}/oauth/register`, { method: "POST" })), 404, "not_found")
        const { headers } = await call({ ...ann, key: "no" }, "/mcp", {})
        assert.strictEqual(headers.get("www-authenticate"), "Bearer")
        assertError(
          await call(ann, "/grants/decide", { request: "x", decision: "write" }),
          400,
          "invalid_argument",
          /ten minutes/
        )
      })
    }).pipe(Effect.provide(service))
  )
})

describe("a client", () => {
  served("gets what the person allows, on every interface, until it is revoked", async ({ ann, bob }) => {
    const { access, client } = await connected(ann)
    assert.match(access, /^eat_[0-9A-Za-z]{38}$/)
    const agent = { ...ann, key: access }
    const { body: rule } = await call(agent, "/api.CreateRule", draft("storm", ["x"]))
    assert.match(String(rule["rule_id"]), /^rule_/)
    assert.strictEqual(String((await call(agent, "/account")).body["scope"]), "write")
    assert.strictEqual(await statusWith(ann, access, "/trpc/rules.list"), 200)
    const initialize = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }
    const accept = { headers: { accept: "application/json, text/event-stream" } }
    assert.strictEqual((await call(agent, "/mcp", initialize, accept)).status, 200)
    for (const path of ["/keys", "/grants"]) assertError(await call(agent, path), 403, "permission_denied")
    const [grant, ...others] = await grantsOf(ann)
    assert.deepStrictEqual(others, [])
    assert.deepInclude(grant, { scope: "write", ended_by: null })
    assert.deepStrictEqual(await grantsOf(bob), [])
    assert.notInclude(JSON.stringify((await call(ann, "/grants")).body), client.slice(0, 60))
    const id = grant?.id ?? ""
    assertError(await call(bob, "/grants/revoke", { grant_id: id }), 404, "not_found", /Cannot find grant/)
    assert.strictEqual(await statusWith(ann, access), 200)
    assert.strictEqual((await call(ann, "/grants/revoke", { grant_id: id })).status, 200)
    assertError(await call(agent, "/api.ListRules"), 401, "unauthenticated", /access token/)
    assert.deepInclude((await grantsOf(ann))[0], { ended_by: "revoked" })
  })

  served("with read cannot write, and /mcp asks it to get more", async ({ ann }) => {
    const { access } = await connected(ann, "read")
    const agent = { ...ann, key: access }
    assert.strictEqual(await statusWith(ann, access), 200)
    assertError(await call(agent, "/api.CreateRule", draft("storm", ["x"])), 403, "permission_denied")
    const tool = (name: string, key: string) =>
      call(
        { ...ann, key },
        "/mcp",
        { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: { rule_id: "rule_1" } } },
        { headers: { accept: "application/json, text/event-stream" } }
      )
    const denied = await tool("delete_rule", access)
    assertError(denied, 403, "permission_denied")
    assert.match(
      denied.headers.get("www-authenticate") ?? "",
      /resource_metadata="[^"]+", scope="read write", error="insufficient_scope"/
    )
    assert.strictEqual((await tool("get_rule", access)).status, 200)
    const reader = (await call(ann, "/keys/create", { name: "r", scope: "read" })).body["secret"]
    assert.strictEqual((await tool("delete_rule", String(reader))).status, 200, "a key cannot get more")
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
    const params = { name: "match.created", delivery: { mode: "webhook", url: "https://client.example/", secret } }
    const subscribe = { jsonrpc: "2.0", id: 1, method: "events/subscribe", params }
    const accept = { headers: { accept: "application/json, text/event-stream" } }
    const refused = await call(agent, "/mcp", subscribe, accept)
    assertError(refused, 403, "permission_denied")
    assert.match(refused.headers.get("www-authenticate") ?? "", /error="insufficient_scope"/)
    const batch = await call(agent, "/mcp", [{ ...subscribe, id: 2, method: "events/list" }, subscribe], accept)
    assert.deepStrictEqual([batch.status, [...batch.body].length], [200, 2], "the other call has an answer")
  })

  served("keeps its subscription when its tokens change, and loses it with the grant", async ({ ann }) => {
    await call(ann, "/api.CreateRule", draft("storm", ["x"]))
    const { access, refresh: token, client } = await connected(ann)
    await withEventClient({ ...ann, key: access }, async (events) => {
      const { key, id, ...first } = await events.subscribe("match.created", {})
      const renewed = await refresh(ann, client, token)
      const again = { name: first.name, arguments: {}, delivery: first.delivery }
      const same = await rpc({ ...ann, key: String(renewed.body["access_token"]) }, "events/subscribe", again)
      assert.strictEqual(same.result?.["id"], id)
      const [listed] = [...((await call(ann, "/webhooks")).body["webhooks"] ?? [])]
      const [granted] = await grantsOf(ann)
      assert.deepInclude(listed?.["subscription"] as object | undefined, {
        client: granted?.client_name,
        grant_id: granted?.id
      })
      // With the person's own key it is another one, which the client does not know.
      const foreign = await rpc(ann, "events/subscribe", again)
      assert.deepInclude(foreign.error?.data, { reason: "http_4xx" })
      // The client signs in again.
      const { body } = await exchange(ann, await codeFor(ann, { client }))
      const moved = await rpc({ ...ann, key: String(body["access_token"]) }, "events/subscribe", again)
      assert.strictEqual(moved.result?.["id"], id)
      const [grant, other] = await grantsOf(ann)
      await call(ann, "/grants/revoke", { grant_id: grant?.id })
      await call(ann, "/local/events", xPost("1", "A storm"))
      await eventually(() => assert.lengthOf(events.received, 1))
      await call(ann, "/grants/revoke", { grant_id: other?.id })
      // Deliveries look for what has ended.
      await call(ann, "/local/events", xPost("2", "Another storm"))
      await eventually(() => assert.lengthOf(events.terminated, 1))
      assert.lengthOf(events.received, 1)
      await eventually(() => assert.isFalse(events.store.has(key)))
      await eventually(async () => {
        assert.deepStrictEqual([...((await call(ann, "/webhooks")).body["webhooks"] ?? [])], [])
      })
    })
  })

  served("loses access with the key that allowed it", async ({ ann }) => {
    const created = await call(ann, "/keys/create", { name: "to be revoked", scope: "write" })
    const person = { ...ann, key: String(created.body["secret"]) }
    const { access, refresh: token, client } = await connected(person)
    assert.strictEqual(await statusWith(ann, access), 200)
    await call(ann, "/keys/revoke", { key_id: String(created.body["key"]?.["id"]) })
    assert.strictEqual(await statusWith(ann, access), 401)
    assertRefused(await refresh(ann, client, token), "invalid_grant")
    assert.deepInclude((await grantsOf(ann))[0], { ended_by: "key" })
  })

  served("cannot allow itself or others anything, and neither can a read key", async ({ ann, reader }) => {
    const { access } = await connected(ann)
    const client_id = await clientOf(ann)
    const request = requestIn(await authorize(ann, { client_id, code_challenge: newProof().challenge }))
    const agent = { ...ann, key: access }
    assertError(await call(agent, "/grants/decide", { request, decision: "read" }), 403, "permission_denied", /API key/)
    assertError(await call(reader, "/grants/decide", { request, decision: "read" }), 403, "permission_denied")
    assert.strictEqual((await call(reader, "/grants/request", { request })).status, 200)
  })

  served("gives up its access with either token", async ({ ann }) => {
    for (const kind of ["access", "refresh"] as const) {
      const { client, ...tokens } = await connected(ann)
      const other = await clientOf(ann)
      for (const [client_id, works] of [
        [other, 200],
        [client, 401]
      ] as const) {
        const revoked = await post(ann, "/oauth/revoke", { token: tokens[kind], client_id })
        assert.deepStrictEqual([revoked.status, revoked.body as unknown], [200, {}])
        assert.strictEqual(await statusWith(ann, tokens.access), works)
      }
      assertRefused(await refresh(ann, client, tokens.refresh), "invalid_grant")
    }
    assert.strictEqual((await post(ann, "/oauth/revoke", { token: "eat_unknown" })).status, 200)
    assertRefused(await post(ann, "/oauth/revoke", {}), "invalid_request", /token is missing/)
  })
})

describe("the request of a client", () => {
  served("shows a person what is asked for, and carries the answer back", async ({ ann }) => {
    const client_id = await clientOf(ann, { redirect_uris: [CALLBACK], client_name: "A\u202e client\u200b" })
    const asked = await authorize(ann, {
      client_id,
      code_challenge: newProof().challenge,
      scope: "read offline_access",
      resource: `${ann.url}/mcp`
    })
    assert.strictEqual(asked.headers.get("cache-control"), "no-store")
    const request = requestIn(asked)
    const { body } = await call(ann, "/grants/request", { request })
    assert.deepInclude(body as unknown as object, {
      client_name: "A client",
      client_kind: "registered",
      redirect_host: "localhost:7777",
      is_local: true,
      scopes: ["read"],
      resource: `${ann.url}/mcp`
    })
    assertError(
      await call(ann, "/grants/decide", { request, decision: "write" }),
      400,
      "invalid_argument",
      /"read" only/
    )
    const denied = await decide(ann, request, "deny")
    assert.deepStrictEqual(Object.fromEntries(denied), { error: "access_denied", state: "a state", iss: ann.url })
    const allowed = await decide(ann, request, "read")
    assert.sameMembers([...allowed.keys()], ["code", "state", "iss"])
    assert.deepStrictEqual([allowed.get("state"), allowed.get("iss")], ["a state", ann.url])
    for (const decision of ["read", "deny"]) {
      assertError(
        await call(ann, "/grants/decide", { request, decision }),
        400,
        "invalid_argument",
        /Was allowed before/
      )
    }
  })

  served("is refused with a page, never a redirect, for an unknown client or a differing address", async ({ ann }) => {
    const client_id = await clientOf(ann, { redirect_uris: [CALLBACK, "https://app.example/cb?x=1"] })
    const { challenge } = newProof()
    const wrong: ReadonlyArray<Readonly<Record<string, string | ReadonlyArray<string> | undefined>>> = [
      { client_id: undefined },
      { client_id: [client_id, client_id] },
      { client_id: "ecl_unknown" },
      { client_id: `${client_id.slice(0, -8)}AAAAAAAA` },
      { client_id: `${client_id}A` },
      { client_id: "http://client.example/metadata.json" },
      { client_id: "https://client.example" },
      { client_id: "https://127.0.0.1/metadata.json" },
      { client_id: "https://localhost/metadata.json" },
      { client_id: "https://169.254.169.254/metadata.json" },
      { redirect_uri: undefined },
      { redirect_uri: [CALLBACK, CALLBACK] },
      { state: "s".repeat(1_001) },
      ...[
        "http://localhost:7777/callback/",
        "http://localhost:7777/callbac",
        "http://localhost:7777/Callback",
        "http://localhost:7777/callback?x=1",
        "http://localhost:7777/callback#f",
        "http://localhost:7777/callback/../callback",
        "http://localhost:7777/%63allback",
        "http://127.0.0.1:7777/callback",
        "https://localhost:7777/callback",
        "http://localhost.evil.example:7777/callback",
        "http://localhost:7777@evil.example/callback",
        "http://evil.example/callback",
        "http://LOCALHOST:7777/callback",
        "http://localhost:99999/callback",
        "https://app.example/cb",
        "https://app.example/cb?x=1&y=2",
        "https://app.example.evil.example/cb?x=1",
        "https://user@app.example/cb?x=1",
        "https://app.example:8443/cb?x=1",
        "https://app.example\\@evil.example/cb?x=1",
        "https://APP.example/cb?x=1",
        "//app.example/cb?x=1",
        "javascript:alert(1)"
      ].map((redirect_uri) => ({ redirect_uri }))
    ]
    for (const parameters of wrong) {
      const response = await authorize(ann, { client_id, code_challenge: challenge, ...parameters })
      const what = JSON.stringify(parameters)
      assert.strictEqual(response.status, 400, what)
      assert.isNull(response.headers.get("location"), what)
      assert.strictEqual(response.headers.get("content-type"), "text/html; charset=utf-8")
      assert.strictEqual(response.headers.get("x-frame-options"), "DENY")
      assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/)
      assert.notMatch(await response.text(), /<script|<a |href/, what)
    }
    for (const port of [":1", ":65535", ""]) {
      const redirect_uri = `http://localhost${port}/callback`
      requestIn(await authorize(ann, { client_id, code_challenge: challenge, redirect_uri }))
    }
  })

  served("with another mistake goes back to the client with the error, the state and iss", async ({ ann }) => {
    const client_id = await clientOf(ann)
    const { challenge: code_challenge } = newProof()
    const wrong: ReadonlyArray<
      readonly [error: string, parameters: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>]
    > = [
      ["unsupported_response_type", { response_type: "token" }],
      ["unsupported_response_type", { response_type: undefined }],
      ["invalid_request", { code_challenge: undefined }],
      ["invalid_request", { code_challenge: "short" }],
      ["invalid_request", { code_challenge_method: "plain" }],
      ["invalid_request", { code_challenge_method: undefined }],
      ["invalid_request", { scope: ["read", "write"] }],
      ["invalid_request", { resource: [`${ann.url}/mcp`, "https://other.example"] }],
      ["invalid_target", { resource: "https://other.example/mcp" }],
      ["invalid_target", { resource: `${ann.url}/mcp2` }],
      ["invalid_scope", { scope: "admin" }],
      ["request_not_supported", { request: "ey" }],
      ["request_uri_not_supported", { request_uri: "https://a.example" }]
    ]
    for (const [error, parameters] of wrong) {
      const response = await authorize(ann, { client_id, code_challenge, ...parameters })
      const location = new URL(response.headers.get("location") ?? "")
      assert.strictEqual(location.origin + location.pathname, CALLBACK, JSON.stringify(parameters))
      const { error_description: _, ...rest } = Object.fromEntries(location.searchParams)
      assert.deepStrictEqual(rest, { error, state: "a state", iss: ann.url })
    }
    const known = { client_id: KNOWN_CLIENT, redirect_uri: KNOWN_REDIRECT, code_challenge, scope: "admin" }
    assert.match(
      (await authorize(ann, known)).headers.get("location") ?? "",
      /^https:\/\/claude\.ai\/.*error=invalid_scope/
    )
  })

  served("does not make the server an open redirector for clients that registered themselves", async ({ ann }) => {
    const client_id = await clientOf(ann, { redirect_uris: ["https://evil.example/cb"], client_name: "<b>&\"'" })
    const redirect_uri = "https://evil.example/cb"
    const response = await authorize(ann, {
      client_id,
      redirect_uri,
      scope: "nonsense",
      code_challenge: newProof().challenge
    })
    assert.deepStrictEqual([response.status, response.headers.get("location")], [400, null])
    const text = await response.text()
    assert.include(text, "&#60;b&#62;&#38;&#34;&#39;")
    assert.match(text, /href="https:\/\/evil\.example\/cb\?error=invalid_scope&#38;/)
    assert.include(text, "Go back to evil.example")
  })

  served("of a known client needs no document", async ({ ann }) => {
    const asked = await authorize(ann, {
      client_id: KNOWN_CLIENT,
      redirect_uri: KNOWN_REDIRECT,
      code_challenge: newProof().challenge
    })
    const { body } = await call(ann, "/grants/request", { request: requestIn(asked) })
    assert.deepInclude(body as unknown as object, {
      client_id: KNOWN_CLIENT,
      client_name: "Claude",
      client_kind: "known",
      is_local: false
    })
  })

  served("cannot be forged, and the id of a client is no request", async ({ ann }) => {
    const client_id = await clientOf(ann)
    const request = requestIn(await authorize(ann, { client_id, code_challenge: newProof().challenge }))
    const forged = [request.slice(0, -1), `${request}A`, request.slice(4), client_id, client_id.slice(4), "", "é"]
    for (const text of forged) {
      assertError(
        await call(ann, "/grants/decide", { request: text, decision: "write" }),
        400,
        "invalid_argument",
        /request/
      )
    }
    assert.deepStrictEqual(await grantsOf(ann), [])
  })
})

describe("a code", () => {
  served("works once: a second time ends the grant", async ({ ann }) => {
    const code = await codeFor(ann)
    const first = await exchange(ann, code)
    assert.strictEqual(first.status, 200)
    assert.deepInclude(first.body as unknown as object, {
      token_type: "Bearer",
      expires_in: 3_600,
      scope: "read write"
    })
    const access = String(first.body["access_token"])
    assert.strictEqual(await statusWith(ann, access), 200)
    assertRefused(await exchange(ann, code), "invalid_grant", /used before/)
    assert.strictEqual(await statusWith(ann, access), 401)
    assertRefused(await refresh(ann, code.client, first.body["refresh_token"]), "invalid_grant")
    assert.deepInclude((await grantsOf(ann))[0], { ended_by: "reuse" })
  })

  served("works for its client, verifier, address and resource only", async ({ ann }) => {
    const code = await codeFor(ann)
    const other = await codeFor(ann)
    const wrong: ReadonlyArray<readonly [error: string, more: Readonly<Record<string, string | undefined>>]> = [
      ["invalid_request", { client_id: undefined }],
      ["invalid_client", { client_id: "ecl_unknown" }],
      ["invalid_grant", { client_id: other.client }],
      ["invalid_grant", { client_id: KNOWN_CLIENT }],
      ["invalid_request", { code: undefined }],
      ["invalid_grant", { code: "eac_unknown" }],
      ["invalid_grant", { code: other.code }],
      // PKCE cannot be left out, and not be taken from another request: that is code injection.
      ["invalid_request", { code_verifier: undefined }],
      ["invalid_request", { code_verifier: "" }],
      ["invalid_grant", { code_verifier: code.proof.challenge }],
      ["invalid_grant", { code_verifier: other.proof.verifier }],
      ["invalid_grant", { redirect_uri: "http://localhost:7778/callback" }],
      ["invalid_target", { resource: "https://other.example/mcp" }],
      ["unsupported_grant_type", { grant_type: "password" }],
      ["unsupported_grant_type", { grant_type: "client_credentials" }],
      ["invalid_request", { grant_type: undefined }]
    ]
    for (const [error, more] of wrong) assertRefused(await exchange(ann, code, more), error)
    const { body } = await exchange(ann, code, { resource: `${ann.url}/mcp` })
    assert.strictEqual(await statusWith(ann, String(body["access_token"])), 200, "none of them used it up")
  })

  served("is no token, and a token is no code", async ({ ann }) => {
    const { code } = await codeFor(ann)
    const { access, refresh: token, client, proof } = await connected(ann)
    for (const secret of [code, token]) assert.strictEqual(await statusWith(ann, secret), 401)
    assertRefused(await exchange(ann, { client, code: access, proof }), "invalid_grant")
    assertRefused(await refresh(ann, client, access), "invalid_grant")
  })
})

describe("a refresh token", () => {
  served("is replaced at each use, and an old one ends the grant", async ({ ann }) => {
    const { client, ...first } = await connected(ann)
    const second = await refresh(ann, client, first.refresh)
    const third = await refresh(ann, client, second.body["refresh_token"])
    for (const { status, body } of [second, third]) assert.strictEqual(status, 200, JSON.stringify(body))
    const tokens = [first.refresh, second.body["refresh_token"], third.body["refresh_token"]]
    assert.strictEqual(new Set(tokens).size, 3)
    assert.strictEqual(await statusWith(ann, first.access), 200, "access tokens work until they expire")
    assertRefused(await refresh(ann, client, first.refresh), "invalid_grant", /used before/)
    for (const token of [first.access, third.body["access_token"]]) {
      assert.strictEqual(await statusWith(ann, String(token)), 401)
    }
    assertRefused(await refresh(ann, client, third.body["refresh_token"]), "invalid_grant")
    assert.deepInclude((await grantsOf(ann))[0], { ended_by: "reuse" })
  })

  served("can be used by several calls at once", async ({ ann }) => {
    const { client, refresh: token } = await connected(ann)
    const answers = await Promise.all(Array.from({ length: 4 }, () => refresh(ann, client, token)))
    for (const { status, body } of answers) {
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.strictEqual(await statusWith(ann, String(body["access_token"])), 200)
    }
  })

  served("works for its client, scope and resource only", async ({ ann }) => {
    const { client, refresh: token } = await connected(ann, "read")
    const other = await clientOf(ann)
    assertRefused(await refresh(ann, other, token), "invalid_grant")
    assertRefused(await refresh(ann, "ecl_unknown", token), "invalid_client")
    assertRefused(await refresh(ann, client, undefined), "invalid_request")
    assertRefused(await refresh(ann, client, token, { scope: "read write" }), "invalid_scope")
    assertRefused(await refresh(ann, client, token, { resource: "https://other.example/mcp" }), "invalid_target")
    const { status, body } = await refresh(ann, client, token, { scope: "read", resource: `${ann.url}/mcp` })
    assert.deepStrictEqual([status, body["scope"]], [200, "read"])
  })
})

describe("the requests of a client for tokens", () => {
  const issuer = issuerAt("https://earshot.example")

  it.scopedLive("count for the account, and leave its tokens alone beyond the limit", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serveWith({ signIn: Either.right(issuer) }))("ann")
      yield* Effect.promise(async () => {
        const { client, refresh: token } = await connected(ann)
        let latest = token
        const answers = []
        // A minute may begin meanwhile.
        while (answers.at(-1)?.status !== 429 && answers.length < 2 * REQUESTS) {
          answers.push(await refresh(ann, client, latest))
          latest = answers.at(-1)?.body["refresh_token"] ?? latest
        }
        const refused = answers.at(-1)
        assert.deepStrictEqual([refused?.status, refused?.body["error"]], [429, "temporarily_unavailable"])
        assert.match(refused?.headers.get("retry-after") ?? "", /^[1-9]\d?$/)
        assert.isAbove(answers.length, 1)
      })
    }).pipe(Effect.provide(serviceOn(localPlatforms({}, { requests: REQUESTS }), memoryStores, Option.some(issuer))))
  )
})

describe("registration", () => {
  served("returns an id that holds what the client says of itself", async ({ ann }) => {
    const { status, body } = await register(ann, {
      redirect_uris: [CALLBACK, "cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app://callback"],
      client_name: "Some client",
      token_endpoint_auth_method: "client_secret_basic",
      scope: "read"
    })
    assert.strictEqual(status, 201)
    const { client_id, client_id_issued_at, ...rest } = body
    assert.match(String(client_id), /^ecl_[\w-]+$/)
    assert.isAbove(Number(client_id_issued_at), 1_700_000_000)
    assert.deepStrictEqual(rest, {
      client_name: "Some client",
      redirect_uris: [CALLBACK, "cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app://callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none"
    })
  })

  served("refuses what no client may have, and says what", async ({ ann }) => {
    const uris: ReadonlyArray<readonly [uri: string, says: RegExp]> = [
      ["http://app.example/cb", /must use https/],
      ["http://localhost.evil.example/cb", /must use https/],
      ["https://app.example/cb#f", /fragment/],
      ["https://user:pass@app.example/cb", /user name/],
      ["https:app.example/cb", /https:\/\/host/],
      ["https://app.example/a b", /characters/],
      ["https://app.example\\evil", /characters/],
      ["javascript:alert(1)", /scheme/],
      ["javascript://app.example/%0aalert(1)", /scheme/],
      ["data:text/html,x", /scheme/],
      ["file:///etc/passwd", /scheme/],
      ["app://callback", /scheme/],
      ["/callback", /absolute/],
      [`https://app.example/${"a".repeat(500)}`, /longer/],
      ["", /characters/]
    ]
    for (const [uri, says] of uris) {
      const { status, body } = await register(ann, { redirect_uris: [uri] })
      assert.deepStrictEqual([status, body["error"]], [400, "invalid_redirect_uri"], uri)
      assert.match(String(body["error_description"]), says)
    }
    const wrong: ReadonlyArray<readonly [error: string, metadata: object]> = [
      ["invalid_redirect_uri", {}],
      ["invalid_redirect_uri", { redirect_uris: [] }],
      ["invalid_redirect_uri", { redirect_uris: "https://app.example" }],
      ["invalid_redirect_uri", { redirect_uris: [1] }],
      ["invalid_redirect_uri", { redirect_uris: Array.from({ length: 11 }, (_, i) => `https://a.example/${i}`) }],
      [
        "invalid_redirect_uri",
        { redirect_uris: Array.from({ length: 4 }, (_, i) => `https://a.example/${i}${"a".repeat(450)}`) }
      ],
      ["invalid_client_metadata", { redirect_uris: [CALLBACK], client_name: 7 }],
      ["invalid_client_metadata", []],
      ["invalid_client_metadata", { redirect_uris: [CALLBACK], logo: "l".repeat(20_000) }]
    ]
    for (const [error, metadata] of wrong) {
      const { status, body } = await register(ann, metadata)
      assert.deepStrictEqual([status, body["error"]], [400, error], JSON.stringify(metadata).slice(0, 100))
    }
  })

  served("is limited per minute, and so are refused tokens, but no valid ones", async ({ ann, bob }) => {
    const client = await clientOf(ann)
    const valid = await connected(bob)
    const codes = await Promise.all(
      Array.from({ length: 250 }, async () => (await register(ann, { redirect_uris: ["no"] })).status)
    )
    assert.include(codes, 429)
    const answers = []
    // Twice the limit, as a minute may begin meanwhile.
    while (answers.length < 1_250 && answers.at(-1)?.status !== 429) {
      answers.push(...(await Promise.all(Array.from({ length: 50 }, () => refresh(ann, client, "ert_unknown")))))
    }
    const limited = answers.find(({ status }) => status === 429)
    assert.strictEqual(limited?.body["error"], "temporarily_unavailable")
    assert.match(limited?.headers.get("retry-after") ?? "", /^[1-9]\d?$/)
    assert.strictEqual((await refresh(bob, valid.client, valid.refresh)).status, 200)
  })
})
