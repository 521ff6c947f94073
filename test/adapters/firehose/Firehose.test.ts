/** Rules on Firehose: registration, ownership, refusals and failures. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import type { FaultRequest } from "../../../simulator/faults.ts"
import type { SettingsPatch } from "../../../simulator/settings.ts"
import { MANAGER, settle, stage, TAP } from "../../simulator/stage.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { collect, makeAdapter, passInSteps, TOKEN } from "./platform.ts"

const platform = "firehose"

const setUp = (settings: SettingsPatch = {}, token = TOKEN) =>
  Effect.gen(function* () {
    const on = yield* stage(settings)
    return { ...on, ...(yield* makeAdapter(on.handler, token)) }
  })

/** The rules that Firehose holds. */
const held = (on: { readonly call: Effect.Effect.Success<ReturnType<typeof stage>>["call"] }) =>
  Effect.map(on.call("/v1/rules", { headers: TAP }), ({ body }): ReadonlyArray<Record<string, unknown>> => body.data)

const calls = (on: Effect.Effect.Success<ReturnType<typeof stage>>) =>
  Effect.map(on.control.state, ({ calls }) => calls["firehose.rules"]?.calls ?? 0)

describe("the platform", () => {
  it.scoped("is remote, has no rule limit per account and checks texts locally", () =>
    Effect.gen(function* () {
      const on = yield* setUp()
      assert.isTrue(on.platform.capabilities.isRemote)
      assert.isTrue(Option.isNone(on.platform.capabilities.rulesPerAccount))
      assert.strictEqual(on.platform.syntax.rule_type, "regular")
      assert.isDefined(on.platform.language.check("title:cat").rule)
      assert.isUndefined(on.platform.language.check("title:").rule)
      assert.strictEqual(yield* calls(on), 0)
    })
  )
})

describe("register", () => {
  it.scoped("creates rules with our tag and the defaults, and keeps the order of the texts", () =>
    Effect.gen(function* () {
      const on = yield* setUp()
      const outcomes = yield* on.platform.register(["title:cat", "dog", "title:cat"])
      const rules = yield* held(on)
      assert.deepStrictEqual(
        rules.map(({ value, quality, nsfw }) => ({ value, quality, nsfw })),
        ["title:cat", "dog"].map((value) => ({ value, quality: true, nsfw: false }))
      )
      for (const { tag } of rules) assert.match(String(tag), /^earshot:memory:[0-9a-f]{8}\.1$/)
      const [cat, dog] = rules.map(({ id, value }) => ({ platformRuleId: id, translatedValue: value }))
      assert.deepStrictEqual(outcomes.map(Either.getOrUndefined), [cat, dog, cat])
      assert.strictEqual(yield* calls(on), 4, "one list, two creates, one of this test")
    })
  )

  it.scoped("returns the same rule for the same text, also after a restart", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const store = Layer.succeedContext(yield* Layer.build(memoryRules))
      const before = yield* makeAdapter(on.handler, TOKEN, undefined, store)
      const first = yield* before.platform.register(["cat"])
      const again = yield* makeAdapter(on.handler, TOKEN, undefined, store)
      assert.deepStrictEqual(yield* again.platform.register(["cat"]), first)
      assert.lengthOf(yield* held(on), 1)
    })
  )

  it.scoped("finds a rule whose create response was lost", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      let isLost = true
      const { platform } = yield* makeAdapter(async (request) => {
        const answer = await on.handler(request)
        if (request.method !== "POST" || !isLost) return answer
        isLost = false
        throw new TypeError("fetch failed")
      })
      const error = yield* Effect.flip(platform.register(["cat"]))
      assert.strictEqual(error._tag, "PlatformUnavailable")
      const [outcome] = yield* platform.register(["cat"])
      const rules = yield* held(on)
      assert.lengthOf(rules, 1)
      assert.strictEqual(outcome?.pipe(Either.getOrThrow).platformRuleId, rules[0]?.["id"])
    })
  )

  it.scoped("creates its own rule next to a foreign one with the same text", () =>
    Effect.gen(function* () {
      const on = yield* setUp()
      const [foreign] = yield* on.addFirehose("cat")
      yield* on.call("/v1/rules", { method: "POST", headers: TAP, body: { value: "cat", tag: "earshot:other" } })
      const [outcome] = yield* on.platform.register(["cat"])
      assert.lengthOf(yield* held(on), 3)
      assert.notStrictEqual(outcome?.pipe(Either.getOrThrow).platformRuleId, foreign)
    })
  )

  for (const error_body of ["message", "nested"] as const) {
    it.scoped(`refuses a text with Firehose's message and continues, with the error body "${error_body}"`, () =>
      Effect.gen(function* () {
        const on = yield* setUp({ firehose: { error_body } })
        const [bad, good] = yield* on.platform.register(["nonsense:cat", "dog"])
        assert.isTrue(good !== undefined && Either.isRight(good))
        const refusal = bad?.pipe(Either.flip, Either.getOrThrow)
        assert.strictEqual(refusal?._tag, "PlatformRefused")
        assert.match(refusal?.reason ?? "", /nonsense/)
        assert.notMatch(refusal?.message ?? "", /\.$/)
        assert.property(refusal?.upstream, error_body === "message" ? "message" : "error")
      })
    )

    it.scoped(`reports a reached rule limit, with the error body "${error_body}"`, () =>
      Effect.gen(function* () {
        const on = yield* setUp({ firehose: { error_body } })
        yield* on.control.inject({ kind: "lower-caps", platform, rules: 1 })
        const [first, second] = yield* on.platform.register(["cat", "dog"])
        assert.isTrue(first !== undefined && Either.isRight(first))
        const refusal = second?.pipe(Either.flip, Either.getOrThrow)
        assert.strictEqual(refusal?._tag, "PlatformLimitReached")
        assert.match(refusal?.reason ?? "", /^Rule limit reached: your organization may have 1 rules$/)
        assert.strictEqual((yield* on.control.state).faults_fired["firehose.lower-caps"], 1)
      })
    )
  }

  it.scoped("refuses the text of a foreign rule when Firehose allows no duplicates", () =>
    Effect.gen(function* () {
      const on = yield* setUp({ firehose: { duplicates: "refused" } })
      yield* on.addFirehose("cat")
      const [outcome] = yield* on.platform.register(["cat"])
      const refusal = outcome?.pipe(Either.flip, Either.getOrThrow)
      assert.deepStrictEqual([refusal?._tag, refusal?.reason], ["PlatformRefused", "The value has already been taken"])
      assert.deepStrictEqual(yield* on.platform.register(["dog"]), yield* on.platform.register(["dog"]))
    })
  )

  it.scoped("stays within the rate limit, and the next call finds the rules created so far", () =>
    Effect.gen(function* () {
      const on = yield* setUp({ firehose: { rule_cap: 100 } })
      const texts = Array.from({ length: 80 }, (_, at) => `cat${at}`)
      const error = yield* Effect.flip(on.platform.register(texts))
      assert.strictEqual(error._tag, "PlatformUnavailable")
      assert.strictEqual(error._tag === "PlatformUnavailable" && error.retryAfterSeconds, 60)
      assert.strictEqual(yield* calls(on), 55)
      yield* Effect.flip(on.platform.inventory)
      assert.strictEqual(yield* calls(on), 55, "no call is sent")
      yield* passInSteps(60)
      yield* on.platform.register(texts)
      const rules = yield* held(on)
      assert.deepStrictEqual(
        rules.map(({ value }) => value),
        texts
      )
      assert.deepStrictEqual((yield* on.control.state).violations, [])
    })
  )

  it.scoped("makes no call for an empty list", () =>
    Effect.gen(function* () {
      const on = yield* setUp()
      assert.deepStrictEqual(yield* on.platform.register([]), [])
      yield* on.platform.unregister([])
      assert.strictEqual(yield* calls(on), 0)
    })
  )
})

describe("unregister", () => {
  it.scoped("removes our rules and ignores unknown and foreign ids", () =>
    Effect.gen(function* () {
      const on = yield* setUp()
      const [foreign = ""] = yield* on.addFirehose("bird")
      const outcomes = yield* on.platform.register(["cat", "dog", "cow"])
      const [cat = "", dog = ""] = outcomes.map((one) => Either.getOrThrow(one).platformRuleId)
      yield* on.platform.unregister([cat, "gone", foreign])
      yield* on.platform.unregister([cat])
      assert.deepStrictEqual((yield* held(on)).map(({ value }) => value).toSorted(), ["bird", "cow", "dog"])
      assert.isDefined((yield* held(on)).find(({ id }) => id === dog))
    })
  )

  it.scoped("tolerates a rule that disappears between the list and the delete", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const { platform } = yield* makeAdapter(async (request) => {
        if (request.method === "DELETE") await on.handler(request.clone())
        return on.handler(request)
      })
      const [outcome] = yield* platform.register(["cat"])
      yield* platform.unregister([outcome?.pipe(Either.getOrThrow).platformRuleId ?? ""])
      assert.deepStrictEqual(yield* held(on), [])
      assert.strictEqual((yield* on.control.state).calls["firehose.rules"]?.statuses[404], 1)
    })
  )
})

describe("inventory", () => {
  it.scoped("returns all rules with their owner, and neither limit nor usage", () =>
    Effect.gen(function* () {
      const on = yield* setUp()
      yield* on.addFirehose("bird")
      yield* on.platform.register(["cat"])
      const { rules, ruleLimit, usage } = yield* on.platform.inventory
      assert.deepStrictEqual(
        rules.map(({ translatedValue, isOurs }) => [translatedValue, isOurs]),
        [
          ["bird", false],
          ["cat", true]
        ]
      )
      assert.deepStrictEqual([Option.isNone(ruleLimit), Option.isNone(usage)], [true, true])
    })
  )

  it.scoped("fails for a partial list", () =>
    Effect.gen(function* () {
      const list = { data: [{ id: "1", value: "cat" }], meta: { count: 2 } }
      const { platform } = yield* makeAdapter(async () => Response.json(list))
      assert.strictEqual((yield* Effect.flip(platform.inventory))._tag, "PlatformUnavailable")
    })
  )
})

describe("verify", () => {
  it.scoped("accepts valid texts, refuses others with Firehose's message, and creates nothing", () =>
    Effect.gen(function* () {
      const on = yield* setUp()
      assert.deepStrictEqual(yield* on.platform.verify("title:cat"), Either.right("confirmed"))
      const refusal = Either.getOrThrow(Either.flip(yield* on.platform.verify("nonsense:cat")))
      assert.strictEqual(refusal._tag, "PlatformRefused")
      assert.match(refusal.reason, /nonsense/)
      assert.deepStrictEqual(yield* held(on), [])
    })
  )

  const answers: ReadonlyArray<readonly [status: number, body: string]> = [
    [404, '{"message":"Not found."}'],
    [422, '{"message":"The query field is required."}'],
    [400, ""],
    [200, ""],
    [200, "valid"],
    [200, "{}"],
    [200, '{"data":{"valid":"no"}}'],
    [200, '{"data":[]}'],
    [204, ""]
  ]
  for (const [status, body] of answers) {
    it.scoped(`treats ${status} ${JSON.stringify(body)} as no verdict`, () =>
      Effect.gen(function* () {
        const { platform } = yield* makeAdapter(async () => new Response(status === 204 ? null : body, { status }))
        assert.deepStrictEqual(yield* platform.verify("cat"), Either.right("presumed"))
      })
    )
  }
  for (const body of ['{"valid":false}', '{"data":{"valid":false,"diagnostics":"many"}}']) {
    it.scoped(`treats ${body} as refused`, () =>
      Effect.gen(function* () {
        const { platform } = yield* makeAdapter(async () => new Response(body))
        assert.isTrue(Either.isLeft(yield* platform.verify("cat")))
      })
    )
  }
})

describe("a failure", () => {
  interface Case {
    readonly title: string
    readonly settings?: SettingsPatch
    readonly token?: string
    readonly fault?: FaultRequest
    readonly tag: "PlatformNotReady" | "PlatformUnavailable"
    readonly message: RegExp
    readonly retryAfterSeconds?: number
  }
  const managementKey = MANAGER.authorization.slice("Bearer ".length)
  const cases: ReadonlyArray<Case> = [
    {
      title: "an unknown token",
      token: "fh_unknown",
      tag: "PlatformNotReady",
      message: /FIREHOSE_TAP_TOKEN.*management key/
    },
    {
      title: "a management key",
      token: managementKey,
      tag: "PlatformNotReady",
      message: /Firehose rejects FIREHOSE_TAP_TOKEN/
    },
    {
      title: "a management key, reported with 403",
      settings: { firehose: { wrong_key_status: 403, error_body: "nested" } },
      token: managementKey,
      tag: "PlatformNotReady",
      message: /FIREHOSE_TAP_TOKEN has no access.*it says "This action is unauthorized"/
    },
    {
      title: "no credit",
      fault: { kind: "payment-required", platform },
      tag: "PlatformNotReady",
      message: /credit is used up: top it up/
    },
    {
      title: "429 with Retry-After",
      fault: { kind: "rate-limit", platform, headers: true, reset_seconds: 17 },
      tag: "PlatformUnavailable",
      message: /the rate limit is reached/,
      retryAfterSeconds: 17
    },
    {
      title: "429 with Retry-After 0",
      fault: { kind: "rate-limit", platform, headers: true, reset_seconds: 0 },
      tag: "PlatformUnavailable",
      message: /the rate limit is reached/,
      retryAfterSeconds: 1
    },
    {
      title: "429 with a Retry-After of days",
      fault: { kind: "rate-limit", platform, headers: true, reset_seconds: 1_000_000 },
      tag: "PlatformUnavailable",
      message: /the rate limit is reached/,
      retryAfterSeconds: 900
    },
    {
      title: "429 without Retry-After",
      settings: { firehose: { retry_after: false } },
      fault: { kind: "rate-limit", platform, headers: true, reset_seconds: 17 },
      tag: "PlatformUnavailable",
      message: /the rate limit is reached/,
      retryAfterSeconds: 60
    },
    {
      title: "502",
      fault: { kind: "server-error", platform, status: 502 },
      tag: "PlatformUnavailable",
      message: /status 502; it says "Bad Gateway"/
    },
    {
      title: "no response",
      fault: { kind: "refuse", platform },
      tag: "PlatformUnavailable",
      message: /is not available/
    }
  ]
  for (const { title, settings, token, fault, tag, message, retryAfterSeconds } of cases) {
    it.scoped(`is typed and has a clear message: ${title}`, () =>
      Effect.gen(function* () {
        const on = yield* setUp(settings, token)
        if (fault !== undefined) yield* on.control.inject(fault)
        const error = yield* Effect.flip(on.platform.register(["cat"]))
        assert.strictEqual(error._tag, tag)
        assert.match(error.message, message)
        if (error._tag === "PlatformUnavailable") assert.strictEqual(error.retryAfterSeconds, retryAfterSeconds)
        if (fault !== undefined) {
          assert.strictEqual((yield* on.control.state).faults_fired[`firehose.${fault.kind}`], 1)
        }
      })
    )
  }

  it.scoped("with 429 blocks every call until Retry-After is over", () =>
    Effect.gen(function* () {
      const on = yield* setUp()
      yield* on.control.inject({ kind: "rate-limit", platform, headers: true, reset_seconds: 17 })
      yield* Effect.flip(on.platform.inventory)
      yield* passInSteps(10)
      const error = yield* Effect.flip(on.platform.register(["cat"]))
      assert.strictEqual(error._tag === "PlatformUnavailable" && error.retryAfterSeconds, 7)
      assert.strictEqual(yield* calls(on), 1)
      yield* passInSteps(7)
      yield* on.platform.register(["cat"])
    })
  )
})

describe("the token", () => {
  const echo = async (request: Request) => {
    const header = request.headers.get("authorization") ?? ""
    if (!request.url.includes("/v1/stream")) {
      return Response.json({ message: `Who is ${header}?`, errors: { value: [header] } }, { status: 422 })
    }
    const update = `{"query_id":"${header}","document":{"url":`
    return new Response(
      `id: ${header.slice(7)}\nevent: update\ndata: ${update}\n\nevent: error\ndata: {"message":"${header}"}\n\n`
    )
  }

  it.scoped("is in no error, status or log, even if Firehose echoes it", () =>
    Effect.gen(function* () {
      const headers: Array<string> = []
      let status = 422
      const { platform, logs } = yield* makeAdapter(async (request) => {
        headers.push(request.headers.get("authorization") ?? "")
        if (request.method === "GET" && request.url.endsWith("/v1/rules") && status === 422) {
          return Response.json({ data: [{ id: "1", value: "cat", tag: "earshot:memory" }] })
        }
        if (request.url.includes("/v1/stream") && headers.length % 3 === 0) throw new Error(`No way for ${headers[0]}`)
        if (status === 422) return echo(request)
        return new Response(headers[0], { status })
      })
      const output: Array<unknown> = [yield* platform.register(["cat", "dog"])]
      yield* collect(platform)
      yield* passInSteps(60)
      output.push(yield* platform.status)
      for (status of [401, 402, 403, 404, 429, 500]) {
        output.push(yield* Effect.either(platform.inventory), yield* Effect.either(platform.verify("cat")))
        yield* passInSteps(61)
        output.push(yield* platform.status)
      }
      assert.include(headers[0], TOKEN)
      assert.isAbove(logs.length, 10)
      assert.include(logs.join("\n"), "***")
      assert.include(JSON.stringify(output), "***")
      for (const text of [...logs, ...output.map((one) => JSON.stringify(one)), ...output.map(String)]) {
        assert.notInclude(text, TOKEN)
      }
    })
  )

  it.scoped("is not in the error when it is not a valid header value", () =>
    Effect.gen(function* () {
      const token = "fh_not\nquite"
      const { platform, logs } = yield* makeAdapter(async () => Response.json({ data: [] }), token)
      const error = yield* Effect.flip(platform.inventory)
      assert.match(error.message, /its URL or token is not valid/)
      for (const text of [error.message, JSON.stringify(error), ...logs]) assert.notMatch(text, /not\\?n?\s?quite/)
    })
  )

  it.scoped("is not sent along a redirect", () =>
    Effect.gen(function* () {
      const urls: Array<string> = []
      const { platform } = yield* makeAdapter(async (request) => {
        urls.push(`${request.url} ${request.redirect}`)
        return new Response(null, { status: 302, headers: { location: "http://elsewhere/" } })
      })
      assert.strictEqual((yield* Effect.flip(platform.inventory))._tag, "PlatformUnavailable")
      yield* settle
      assert.deepStrictEqual(urls, ["http://simulator/v1/rules manual"])
    })
  )
})
