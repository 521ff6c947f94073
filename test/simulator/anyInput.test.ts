/** Property test: the simulator answers any input without an internal error. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { MANAGER, RULES, STREAM, stage, TAP, X } from "./stage.ts"

const targets: ReadonlyArray<readonly [method: string, path: string, headers: Readonly<Record<string, string>>]> = [
  ["GET", RULES, X],
  ["POST", RULES, X],
  ["GET", `${RULES}/counts`, X],
  ["GET", "/2/connections", X],
  ["DELETE", "/2/connections", X],
  ["GET", "/2/usage/tweets", X],
  ["GET", "/2/tweets/counts/recent", X],
  ["GET", STREAM, X],
  ["POST", "/v1/taps", MANAGER],
  ["POST", "/v1/rules", TAP],
  ["PUT", "/v1/rules/unknown", TAP],
  ["POST", "/v1/validate", TAP],
  ["GET", "/v1/stream", TAP],
  ["GET", "/feeds/4.json", {}],
  ["PATCH", "/control/settings", {}],
  ["POST", "/control/events", {}],
  ["POST", "/control/faults", {}],
  ["POST", "/control/clock", {}]
]

const names = [
  "add",
  "delete",
  "ids",
  "values",
  "value",
  "tag",
  "uuids",
  "name",
  "status",
  "nsfw",
  "quality",
  "kind",
  "platform",
  "x",
  "firehose",
  "feed",
  "data",
  "document",
  "item",
  "id",
  "text",
  "url",
  "dry_run",
  "delete_all",
  "max_results",
  "pagination_token",
  "days",
  "timeout",
  "since",
  "limit",
  "offset",
  "backfill_minutes",
  "tweet.fields",
  "start_time",
  "query",
  "granularity",
  "__proto__",
  "constructor"
]

const name = FastCheck.constantFrom(...names)
const leaf = FastCheck.oneof(
  FastCheck.constantFrom("x", "firehose", "refuse", "cat", "true", "0", "-1", "1e9", "", "(", '"', "\u0000", "\ud800"),
  FastCheck.fullUnicodeString({ maxLength: 20 }),
  FastCheck.double(),
  FastCheck.boolean(),
  FastCheck.constant(null)
)
const { value: anyValue } = FastCheck.letrec((tie) => ({
  value: FastCheck.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    FastCheck.dictionary(name, tie("value"), { maxKeys: 4 }),
    FastCheck.array(tie("value"), { maxLength: 4 })
  )
}))
const anyCall = FastCheck.record({
  target: FastCheck.constantFrom(...targets),
  body: FastCheck.oneof(anyValue, FastCheck.fullUnicodeString({ maxLength: 40 })),
  query: FastCheck.dictionary(name, FastCheck.oneof(FastCheck.fullUnicodeString({ maxLength: 8 }), leaf.map(String)), {
    maxKeys: 2
  })
})

describe("the simulator", () => {
  it.scoped("answers any input with a status below 500", () =>
    Effect.gen(function* () {
      const calls = FastCheck.sample(anyCall, 1_500)
      const sim = yield* stage({
        x: {
          rules_get_limit: 1e6,
          rules_post_limit: 1e6,
          usage_limit: 1e6,
          connections_limit: 1e6,
          recent_counts_limit: 1e6
        }
      })
      const initial = sim.control.settings
      for (const { target, body, query } of calls) {
        const [method, path, headers] = target
        const search = new URLSearchParams(Object.entries(query)).toString()
        const sent = method === "GET" ? {} : { body: body === undefined ? null : body }
        const { status } = yield* sim.call(`${path}?${search}`, { method, headers, ...sent })
        assert.isTrue(status < 500, `${status} for ${method} ${path}?${search} ${JSON.stringify(body)}`)
        yield* sim.control.patch(initial)
        yield* sim.control.clear()
      }
    })
  )
})
