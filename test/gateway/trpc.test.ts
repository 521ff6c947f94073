/** The tRPC router with a real client: the same results and errors as REST, and exact types. */
import { afterAll, assert, beforeAll, describe, expectTypeOf, it } from "@effect/vitest"
import { createTRPCClient, httpBatchLink, httpLink, TRPCClientError } from "@trpc/client"
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { KEY, RUNTIMES, type Served, START_MILLIS, serveOn } from "../program.ts"
import { call, draft, type Target, xPost } from "./client.ts"
import { exchange, requestText } from "./raw.ts"

for (const runtime of RUNTIMES) {
  describe(`tRPC on ${runtime}`, () => {
    let running: Served | undefined
    const target = (): Target => {
      if (running === undefined) throw new Error("The service is not running")
      return { url: running.url, host: running.host, port: running.port, key: KEY }
    }
    beforeAll(async () => {
      running = await serveOn(runtime)
    }, START_MILLIS)
    afterAll(async () => {
      assert.strictEqual((await running?.stop())?.code, 0)
    }, START_MILLIS)

    const links = { httpLink, httpBatchLink }
    const clientOf = (link: keyof typeof links = "httpLink", key = KEY) =>
      createTRPCClient<AppRouter>({
        links: [links[link]({ url: `${target().url}/trpc`, headers: { authorization: `Bearer ${key}` } })]
      })

    for (const link of ["httpLink", "httpBatchLink"] as const) {
      it(`returns the same as REST with ${link}`, async () => {
        const client = clientOf(link)
        const created = await client.rules.create.mutate(draft(`typed ${link}`, ["x"]))
        await call(target(), "/local/events", [
          xPost(`1-${link}`, `typed ${link}`),
          xPost(`2-${link}`, `typed ${link}`)
        ])
        const query = { rule_id: created.rule_id, limit: 1 }
        const [rules, page, all, help, some] = await Promise.all([
          client.rules.list.query(),
          client.matches.list.query(query),
          client.matches.list.query(),
          client.platforms.syntax.query(),
          client.platforms.syntax.query({ platforms: ["x"] })
        ])
        assert.deepStrictEqual<unknown>(rules, (await call(target(), "/api.ListRules")).body)
        // The coverage depends on the time of the call.
        const { coverage: _, ...first } = page
        const { coverage: __, ...restPage } = (await call(target(), "/matches", query)).body
        assert.deepStrictEqual<unknown>(first, restPage)
        assert.deepStrictEqual<unknown>(all.matches, (await call(target(), "/matches", {})).body["matches"])
        assert.deepStrictEqual<unknown>(help, (await call(target(), "/platforms/syntax", {})).body)
        assert.deepStrictEqual<unknown>(some, (await call(target(), "/platforms/syntax", { platforms: ["x"] })).body)
        assert.lengthOf(page.matches, 1)
        assert.isDefined(page.next_cursor)
        assert.deepStrictEqual(await client.rules.delete.mutate({ rule_id: created.rule_id }), {
          rule_id: created.rule_id
        })
      })
    }

    it("has the code, message and details of REST in data", async () => {
      const client = clientOf()
      const rule_id = "rule_unknown"
      const cases: ReadonlyArray<readonly [() => Promise<unknown>, string, unknown]> = [
        [() => client.rules.delete.mutate({ rule_id }), "/api.DeleteRule", { rule_id }],
        [() => client.matches.list.query({ limit: 0 }), "/matches", { limit: 0 }],
        [() => client.matches.list.query({ rule_id }), "/matches", { rule_id }],
        [() => client.rules.create.mutate({ ...draft(), name: "" }), "/api.CreateRule", { ...draft(), name: "" }],
        // @ts-expect-error an unknown field does not compile
        [() => client.matches.list.query({ limits: 5 }), "/matches", { limits: 5 }],
        // @ts-expect-error a value of the wrong type does not compile
        [() => client.matches.list.query({ limit: "5" }), "/matches", { limit: "5" }]
      ]
      for (const [failing, path, body] of cases) {
        const { data, message } = await errorOf(failing())
        const rest = await call(target(), path, body)
        const { code, message: inner, details } = data
        assert.deepStrictEqual<unknown>({ code, message: inner, details }, rest.body)
        assert.strictEqual(message, String(rest.body["message"]))
        assert.strictEqual(data.httpStatus, rest.status)
      }
    })

    it("coerces no values, also after a REST call", async () => {
      for (const limit of ["5", null, true]) {
        await call(target(), "/matches", { limit: 5 })
        const { data } = await errorOf(clientOf().matches.list.query({ limit: limit as never }))
        assert.deepStrictEqual([data.httpStatus, data.code], [400, "invalid_argument"])
      }
    })

    it("refuses an input that is not an object, also for procedures without input", async () => {
      for (const input of ['"abc"', "[1]", "5", '{"a":1}']) {
        for (const path of ["rules.list", "matches.list"]) {
          const answer = await raw("GET", `${path}?input=${encodeURIComponent(input)}`)
          assert.strictEqual(answer.status, 400, `${path} ${input}`)
          assert.strictEqual(answer.body.error?.data.code, "invalid_argument")
        }
      }
    })

    it("refuses a wrong key with tRPC's envelope and the WWW-Authenticate header", async () => {
      const { data } = await errorOf(clientOf("httpLink", "wrong").rules.list.query())
      assert.deepStrictEqual([data.httpStatus, data.code, data.details], [401, "unauthenticated", {}])
      const batched = await errorOf(clientOf("httpBatchLink", "wrong").rules.list.query())
      assert.strictEqual(batched.data.code, "unauthenticated")
      const answer = await exchange(target(), requestText("GET", "/trpc/rules.list"))
      assert.strictEqual(answer?.headers["www-authenticate"], "Bearer")
    })

    const raw = async (method: string, path: string, body = "", contentType = "application/json") => {
      const headers = { authorization: `Bearer ${KEY}`, "content-type": contentType }
      const answer = await exchange(target(), requestText(method, `/trpc/${path}`, headers, body))
      assert.isDefined(answer)
      assert.isDefined(answer.headers["x-request-id"])
      assert.isUndefined(answer.headers["retry-after"], "none of these errors goes away")
      return { status: answer.status, allow: answer.headers["allow"], body: JSON.parse(answer.body) as Envelope }
    }

    it("responds 404 to an unknown procedure and 405 to the wrong method", async () => {
      const unknown = await raw("GET", "rules.frobnicate")
      assert.deepStrictEqual([unknown.status, unknown.body.error?.data.code], [404, "not_found"])
      const wrongMethod = await raw("GET", "rules.create")
      assert.deepStrictEqual([wrongMethod.status, wrongMethod.allow], [405, "POST"])
      assert.deepInclude(wrongMethod.body.error?.data, {
        code: "unimplemented",
        message: 'Unsupported GET-request to mutation procedure at path "rules.create": use POST',
        details: { allowed: ["POST"] }
      })
      const prototype = await raw("GET", "constructor")
      assert.strictEqual(prototype.status, 404)
    })

    it("responds with invalid_argument to invalid JSON", async () => {
      for (const body of ["{", "", "nonsense"]) {
        const answer = await raw("POST", "rules.create", body)
        assert.deepStrictEqual([answer.status, answer.body.error?.data.code], [400, "invalid_argument"], body)
        assert.match(answer.body.error?.data.details.issues?.[0]?.message ?? "", /^Request body is not valid JSON: /)
      }
      const wrongType = await raw("POST", "rules.create", "{}", "text/plain")
      assert.deepStrictEqual([wrongType.status, wrongType.body.error?.data.code], [415, "invalid_argument"])
      assert.deepStrictEqual(wrongType.body.error?.data.details, { expected: ["application/json"] })
      assert.include(wrongType.body.error?.data.message ?? "", 'but is "text/plain"')
      const query = await raw("GET", "matches.list?input=%7B")
      assert.deepStrictEqual([query.status, query.body.error?.data.code], [400, "invalid_argument"])
      const { message, details } = query.body.error?.data ?? {}
      assert.match(message ?? "", /^Request is not valid: "input": Is not valid JSON: /)
      assert.strictEqual(details?.issues?.[0]?.path, "input")
    })

    it("limits the body to 1 MiB", async () => {
      const { data } = await errorOf(clientOf().rules.create.mutate({ ...draft(), intent: "i".repeat(1_048_576) }))
      assert.deepStrictEqual([data.httpStatus, data.code], [413, "invalid_argument"])
      assert.match(data.message, /at most 1048576 bytes/)
    })

    it("limits a batch to 20 calls", async () => {
      const batch = (size: number) =>
        raw("GET", `${Array.from({ length: size }, () => "rules.list").join(",")}?batch=1&input=%7B%7D`)
      assert.strictEqual((await batch(20)).status, 200)
      assert.strictEqual((await batch(21)).status, 400)
    })
  })
}

describe("AppRouter", () => {
  it("has exact inputs and outputs", () => {
    interface Registered {
      readonly platform_rule_id: string
      readonly translated_value: string
    }
    interface Listed extends Registered {
      readonly state: "pending" | "active" | "removing" | "failed" | "paused"
      readonly reason?: string
    }
    type Inputs = inferRouterInputs<AppRouter>
    type Outputs = inferRouterOutputs<AppRouter>

    expectTypeOf<keyof AppRouter["_def"]["record"]>().toEqualTypeOf<
      "rules" | "webhooks" | "matches" | "platforms" | "keys" | "grants" | "account"
    >()
    expectTypeOf<Inputs["rules"]["create"]>().toEqualTypeOf<{
      readonly name: string
      readonly intent: string
      readonly platforms: ReadonlyArray<string>
      readonly overrides: { readonly [x: string]: string }
      readonly paused?: boolean
      readonly idempotency_key?: string
    }>()
    expectTypeOf<Inputs["rules"]["list"]>().toEqualTypeOf<void | {
      readonly limit?: number
      readonly cursor?: string
      readonly query?: string
      readonly state?: "active" | "failed" | "paused"
      readonly quiet_for?: string
      readonly sort?: "created" | "last_match" | "matches_day"
      readonly activity?: boolean
    }>()
    expectTypeOf<Inputs["rules"]["delete"]>().toEqualTypeOf<{
      readonly rule_id: string
      readonly idempotency_key?: string
    }>()
    expectTypeOf<Inputs["matches"]["list"]>().toEqualTypeOf<void | {
      readonly rule_id?: string
      readonly platform?: string
      readonly limit?: number
      readonly cursor?: string
    }>()
    expectTypeOf<Inputs["platforms"]["syntax"]>().toEqualTypeOf<void | {
      readonly platforms?: ReadonlyArray<string>
    }>()

    type Created = Outputs["rules"]["create"]
    type Result = Created["platforms"][string]
    type Warning = NonNullable<Result["warnings"]>[number]
    expectTypeOf<Created>().toEqualTypeOf<{
      readonly rule_id: string
      readonly platforms: { readonly [platform: string]: Result }
    }>()
    expectTypeOf<Omit<Result, "warnings">>().toEqualTypeOf<Registered>()
    expectTypeOf<Warning["message"]>().toEqualTypeOf<string>()
    expectTypeOf<Warning["severity"]>().toEqualTypeOf<"error" | "warning">()
    type Rule = Outputs["rules"]["list"]["rules"][number]
    expectTypeOf<Omit<Rule, "platforms">>().toEqualTypeOf<{
      readonly id: string
      readonly name: string
      readonly intent: string
      readonly created_at: string
      readonly version: number
      readonly activity?: {
        readonly last_match_at?: string
        readonly matches_hour: number
        readonly matches_day: number
        readonly state: "active" | "failed" | "paused"
        readonly reason?: string
      }
      readonly shadow?: { readonly since: string; readonly platforms: Rule["platforms"] }
    }>()
    expectTypeOf<Pick<Rule["platforms"][string], keyof Listed>>().toEqualTypeOf<Listed>()
    expectTypeOf<Outputs["rules"]["delete"]>().toEqualTypeOf<{ readonly rule_id: string }>()
    type Page = Outputs["matches"]["list"]
    type Match = Page["matches"][number]
    expectTypeOf<Omit<Page, "coverage">>().toEqualTypeOf<{
      readonly matches: Array<Match>
      readonly next_cursor?: string
    }>()
    expectTypeOf<Page["coverage"]["platforms"][number]["watched_since"]>().toEqualTypeOf<string | undefined>()
    expectTypeOf<Omit<Match, "payload">>().toEqualTypeOf<{
      readonly id: string
      readonly rule_id: string
      readonly rule_version: number
      readonly created_at: string
      readonly platform: string
      readonly platform_post_id: string
      readonly reapplied?: true
      readonly redacted?: { readonly at: string; readonly reason: "deleted" | "withheld" | "edited" | "operator" }
    }>()
    expectTypeOf<Match["payload"][string]>().toEqualTypeOf<unknown>()
  })
})

// ---- helpers ----

/** tRPC's response to a failed call. */
interface Envelope {
  readonly error?: {
    readonly data: {
      readonly code: string
      readonly message: string
      readonly details: {
        readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string }>
        readonly allowed?: ReadonlyArray<string>
        readonly expected?: ReadonlyArray<string>
      }
    }
  }
}

const errorOf = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => assert.fail("The call succeeded"),
    (failure: unknown) => failure
  )
  if (!isClientError(error)) throw error
  const { data, message } = error
  if (!data) throw error
  return { data, message }
}

const isClientError = (error: unknown): error is TRPCClientError<AppRouter> => error instanceof TRPCClientError
