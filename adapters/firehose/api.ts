/** Rate-limited client for Firehose's rule endpoints. */
import { Clock, Effect, Either, Option, Schema } from "effect"
import { PlatformUnavailable } from "../../core/model/Errors.ts"
import type { Acceptance, PlatformFailure, RuleRefusal } from "../../core/platforms/Platform.ts"
import { Budget } from "../http/Budget.ts"
import type { Answer } from "../http/call.ts"
import type { Upstream, UpstreamCall } from "../http/Upstream.ts"
import { failureOf, refusalOf, unreadable, verdictOf, waitMillisOf } from "./problems.ts"

export type FirehoseRule = typeof FirehoseRule.Type

export interface Api {
  /** All rules of the tap, including those of others. */
  readonly list: Effect.Effect<ReadonlyArray<FirehoseRule>, PlatformFailure>
  readonly create: (rule: {
    readonly value: string
    readonly tag: string
  }) => Effect.Effect<Either.Either<FirehoseRule, RuleRefusal>, PlatformFailure>
  /** Succeeds for an unknown id. */
  readonly remove: (id: string) => Effect.Effect<void, PlatformFailure>
  readonly validate: (value: string) => Effect.Effect<Either.Either<Acceptance, RuleRefusal>, PlatformFailure>
}

export const makeApi = (upstream: Upstream): Api => {
  const rules = new Budget(callLimit)
  const validations = new Budget(callLimit)

  const send = (budget: Budget, call: UpstreamCall): Effect.Effect<Answer, PlatformFailure> =>
    Effect.gen(function* () {
      const millis = yield* budget.take
      if (millis > 0) {
        return yield* new PlatformUnavailable({
          platform: "firehose",
          reason: "the rate limit for this minute is used up",
          retryAfterSeconds: Math.ceil(millis / 1_000)
        })
      }
      const answer = yield* Effect.mapError(
        upstream.call(call),
        ({ reason }) => new PlatformUnavailable({ platform: "firehose", reason })
      )
      if (answer.status === 429) {
        const wait = waitMillisOf(answer, yield* Clock.currentTimeMillis)
        if (Option.isSome(wait)) yield* budget.blockFor(wait.value)
      }
      return answer
    })

  const list = Effect.gen(function* () {
    const answer = yield* send(rules, { path: "/v1/rules" })
    if (answer.status !== 200) return yield* fail(answer)
    const { data, meta } = yield* Effect.mapError(decodeList(answer.text), unreadable)
    // With a partial list, the missing rules would be registered again and again.
    if ((meta?.count ?? 0) > data.length) return yield* unreadable()
    return data
  })

  const create: Api["create"] = (rule) =>
    Effect.gen(function* () {
      const answer = yield* send(rules, { method: "POST", path: "/v1/rules", body: rule })
      if (isRefusal(answer)) return Either.left(refusalOf(answer))
      if (!isSuccess(answer)) return yield* fail(answer)
      return Either.right((yield* Effect.mapError(decodeCreated(answer.text), unreadable)).data)
    })

  const remove: Api["remove"] = (id) =>
    Effect.gen(function* () {
      const answer = yield* send(rules, { method: "DELETE", path: `/v1/rules/${encodeURIComponent(id)}` })
      if (!isSuccess(answer) && answer.status !== 404) return yield* fail(answer)
    })

  const validate: Api["validate"] = (value) =>
    Effect.gen(function* () {
      const answer = yield* send(validations, { method: "POST", path: "/v1/validate", body: { value } })
      if (!isSuccess(answer) && !isRefusal(answer) && answer.status !== 404) return yield* fail(answer)
      return verdictOf(answer)
    })

  return { list, create, remove, validate }
}

// ---- helpers ----

/** A little below Firehose's limit of 60 per minute, because clocks differ. */
const callLimit = { limit: 55, windowMillis: 60_000 }

const FirehoseRule = Schema.Struct({
  // Opaque, but it must fit into a path.
  id: Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]{1,255}$/)),
  value: Schema.String,
  tag: Schema.optional(Schema.Unknown)
})

const Meta = Schema.Struct({ count: Schema.optional(Schema.Number) })

const decodeList = Schema.decodeUnknown(
  Schema.parseJson(Schema.Struct({ data: Schema.Array(FirehoseRule), meta: Schema.optional(Meta) }))
)

const decodeCreated = Schema.decodeUnknown(Schema.parseJson(Schema.Struct({ data: FirehoseRule })))

const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300

const isRefusal = ({ status }: Answer): boolean => status === 400 || status === 422

const fail = (answer: Answer): Effect.Effect<never, PlatformFailure> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(failureOf(answer, now)))
