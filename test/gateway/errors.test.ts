/** The mapping of every core failure to the wire. Defects must not leak details. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Keys } from "../../core/keys/Keys.ts"
import {
  type CoreError,
  CursorExpired,
  InvalidArgument,
  KeyNotFound,
  PlatformLimitReached,
  PlatformNotConfigured,
  PlatformNotReady,
  PlatformRefused,
  PlatformUnavailable,
  RuleLimitReached,
  RuleNotFound,
  StoreUnavailable,
  Unauthenticated
} from "../../core/model/Errors.ts"
import { KeyId } from "../../core/model/Ids.ts"
import { Timestamp } from "../../core/model/Timestamp.ts"
import { Rules } from "../../core/rules/Rules.ts"
import { assertError, call, draft, type Json, type Target } from "./client.ts"
import { serve, service } from "./inProcess.ts"

const SECRET = "password=hunter2 at /srv/secret.ts:12"
const keyId = KeyId.make(`key_${"0".repeat(26)}`)

type Row = readonly [CoreError, status: number, code: string, details: Record<string, unknown>]

const rows: ReadonlyArray<Row> = [
  [
    new InvalidArgument({ issues: [{ path: "overrides.x", message: "Is wrong" }] }),
    400,
    "invalid_argument",
    { issues: [{ path: "overrides.x", message: "Is wrong" }] }
  ],
  [new Unauthenticated({ key: "missing" }), 401, "unauthenticated", {}],
  [new RuleNotFound({ ruleId: "abc" }), 404, "not_found", { rule_id: "abc" }],
  [
    new CursorExpired({ floor: Timestamp.make("2026-11-15T08:31:07.402Z") }),
    400,
    "failed_precondition",
    { floor: "2026-11-15T08:31:07.402Z" }
  ],
  [new KeyNotFound({ keyId }), 404, "not_found", { key_id: keyId }],
  [
    new RuleLimitReached({ platform: "x", limit: 3, used: 3 }),
    429,
    "resource_exhausted",
    { platform: "x", limit: 3, used: 3 }
  ],
  [new PlatformNotConfigured({ platform: "x" }), 400, "failed_precondition", { platform: "x" }],
  [
    new PlatformRefused({ platform: "x", reason: "bad rule", upstream: { title: "bad" } }),
    400,
    "invalid_argument",
    { issues: [{ path: "overrides.x", message: "bad rule" }], platform: "x", upstream: { title: "bad" } }
  ],
  [
    new PlatformLimitReached({ platform: "x", reason: "full", upstream: { title: "cap" } }),
    429,
    "resource_exhausted",
    { platform: "x", upstream: { title: "cap" } }
  ],
  [
    new PlatformNotReady({ platform: "x", reason: "no credit", upstream: { title: "credits" } }),
    400,
    "failed_precondition",
    { platform: "x", upstream: { title: "credits" } }
  ],
  [
    new PlatformUnavailable({ platform: "x", reason: "busy", retryAfterSeconds: 17, upstream: "busy" }),
    503,
    "unavailable",
    { platform: "x", upstream: "busy" }
  ],
  [new PlatformUnavailable({ platform: "x", reason: "timed out" }), 503, "unavailable", { platform: "x" }],
  [new StoreUnavailable({ operation: "rules.reserve", cause: new Error(SECRET) }), 503, "unavailable", {}]
]

describe("a failure", () => {
  for (const [failure, status, code, details] of rows) {
    it.scopedLive(`${failure._tag} is ${status} ${code}, over REST and over tRPC`, () =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("ann")
        const answer = yield* ask(ann, "/api.CreateRule", draft())
        assertError(answer, status, code)
        assert.deepStrictEqual(answer.body as unknown, { code, message: failure.message, details })
        if (status === 503) assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/)
        if (status === 401) assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")

        const typed = yield* ask(ann, "/trpc/rules.create", draft())
        assert.strictEqual(typed.status, status)
        const data = typed.body["error"]?.["data"]
        assert.deepStrictEqual(pick(data, ["code", "message", "details"]), { code, message: failure.message, details })
      }).pipe(Effect.provide(failingWith(Effect.fail(failure))))
    )
  }

  it.scopedLive("of the store during authentication is 503, not 401", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      for (const path of ["/api.CreateRule", "/trpc/rules.create"]) {
        const answer = yield* ask(ann, path, draft())
        assert.strictEqual(answer.status, 503)
        assert.notInclude(JSON.stringify(answer.body), "hunter2")
      }
    }).pipe(
      Effect.provide(
        withKeys({
          authenticate: () => Effect.fail(new StoreUnavailable({ operation: "keys", cause: new Error(SECRET) }))
        })
      )
    )
  )
})

describe("a defect", () => {
  const defects: ReadonlyArray<readonly [string, Effect.Effect<never>]> = [
    ["a thrown error", Effect.die(new Error(SECRET))],
    ["a thrown string", Effect.die(SECRET)],
    ["a thrown core error", Effect.die(new PlatformRefused({ platform: "x", reason: SECRET, upstream: SECRET }))],
    [
      "a throw in plain code",
      Effect.sync(() => {
        throw new TypeError(SECRET)
      })
    ]
  ]
  for (const [what, defect] of defects) {
    it.scopedLive(`${what} is 500 internal, without details`, () =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("ann")
        for (const path of ["/api.CreateRule", "/trpc/rules.create"]) {
          const answer = yield* ask(ann, path, draft())
          const body = path.startsWith("/trpc") ? answer.body["error"]?.["data"] : answer.body
          assert.strictEqual(answer.status, 500)
          assert.deepStrictEqual(pick(body, ["code", "details"]), { code: "internal", details: {} })
          assert.notMatch(JSON.stringify(answer.body), /hunter2|secret|stack|\.ts|TypeError/i)
        }
        assert.strictEqual((yield* ask(ann, "/matches", {})).status, 200, "the next request is served")
      }).pipe(Effect.provide(failingWith(defect)), Effect.provide(quiet))
    )
  }
})

// ---- helpers ----

const ask = (target: Target, path: string, body?: unknown) => Effect.promise(() => call(target, path, body))

/** The service with this outcome of `Rules.create`. */
const failingWith = (outcome: Effect.Effect<never, CoreError>) =>
  Layer.provideMerge(
    // The contract of `create` does not list all failures.
    Layer.mock(Rules, { create: () => outcome as Effect.Effect<never> }),
    service
  )

const withKeys = (replaced: Partial<typeof Keys.Service>) =>
  Layer.provideMerge(
    Layer.effect(
      Keys,
      Effect.map(Keys, (keys) => Keys.of({ ...keys, ...replaced }))
    ),
    service
  )

const pick = (json: Json | undefined, names: ReadonlyArray<string>): unknown =>
  Object.fromEntries(names.map((name) => [name, json?.[name]]))

/** Hides the expected error logs. */
const quiet = Logger.replace(Logger.defaultLogger, Logger.none)
