/** What every `Platform` does, wherever it runs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, type Scope, Stream } from "effect"
import type { Delivery, Platform } from "../../core/platforms/Platform.ts"
import { deliveriesOf } from "../adapters/deliveries.ts"
import type { PlatformId } from "../platforms.ts"

/** A platform, and the world that it watches. */
export interface Watched {
  readonly platform: Platform
  /** An event with that text happens; gives its name on the platform. */
  readonly happens: (text: string) => Effect.Effect<string>
  /** Someone else makes a rule there. Absent where nobody else can. */
  readonly foreign?: (text: string) => Effect.Effect<string>
}

export interface Subject {
  readonly name: string
  readonly id: PlatformId
  readonly open: Effect.Effect<Watched, unknown, Scope.Scope>
  /** Cases that are not for this platform, each with the reason. */
  readonly skip?: Readonly<Record<string, string>>
}

const runtime = "Deno" in globalThis ? "Deno" : "Node"

export const platformContract = ({ name, id, open, skip = {} }: Subject) =>
  describe(`Platform ${name} on ${runtime}`, () => {
    const test = (title: string, body: (watched: Watched) => Effect.Effect<void, unknown, Scope.Scope>) => {
      const reason = skip[title]
      if (reason !== undefined) return it.skip(`${title}: ${reason}`, () => {})
      it.scopedLive(title, () => Effect.flatMap(open, body))
    }

    test("is what it says it is, and tells how to write for it", ({ platform }) =>
      Effect.sync(() => {
        assert.strictEqual(platform.id, id)
        assert.strictEqual(platform.syntax.platform, id)
        assert.strictEqual(platform.syntax.rule_type, id === "x" ? "premium" : "regular")
        assert.isTrue(platform.syntax.examples.every(({ rule }) => platform.language.check(rule).rule !== undefined))
        assert.isUndefined(platform.language.check("word AND (").rule)
      }))

    test("register answers for each text in order, and the same text again is the same rule", ({ platform }) =>
      Effect.gen(function* () {
        const texts = ["storm", "flood", "storm warning"]
        const first = (yield* platform.register(texts)).map(rightOf)
        assert.deepStrictEqual(
          first.map(({ translatedValue }) => translatedValue),
          texts
        )
        assert.lengthOf(new Set(first.map(({ platformRuleId }) => platformRuleId)), 3)
        const again = (yield* platform.register([...texts].reverse())).map(rightOf)
        assert.deepStrictEqual(again, [...first].reverse())
        assert.lengthOf((yield* platform.inventory).rules, 3)
        assert.deepStrictEqual(yield* platform.register([]), [])
      }))

    test("register refuses a wrong text in the platform's words, and takes the others", ({ platform }) =>
      Effect.gen(function* () {
        const [right, wrong] = yield* platform.register(["storm", "(storm"])
        assert.isTrue(right !== undefined && Either.isRight(right))
        if (wrong === undefined || Either.isRight(wrong)) return assert.fail("it takes an open parenthesis")
        assert.strictEqual(wrong.left._tag, "PlatformRefused")
        assert.isNotEmpty(wrong.left.reason)
        assert.exists(wrong.left.upstream)
        assert.deepStrictEqual(yield* textsOn(platform), ["storm"])
      }))

    test("verify says what register would, and registers nothing", ({ platform }) =>
      Effect.gen(function* () {
        assert.isTrue(Either.isRight(yield* platform.verify("storm")))
        const wrong = yield* platform.verify("(storm")
        assert.isTrue(Either.isLeft(wrong) && wrong.left._tag === "PlatformRefused")
        assert.deepStrictEqual(yield* textsOn(platform), [])
      }))

    test("unregister makes it forget, and passes over what is not there", ({ platform }) =>
      Effect.gen(function* () {
        const [storm, flood] = (yield* platform.register(["storm", "flood"])).map(rightOf)
        const ids = [storm?.platformRuleId ?? ""]
        yield* platform.unregister(ids)
        yield* platform.unregister([...ids, "12345"])
        yield* platform.unregister([])
        assert.deepStrictEqual((yield* platform.inventory).rules, [
          { platformRuleId: flood?.platformRuleId ?? "", translatedValue: "flood", isOurs: true }
        ])
      }))

    test("a rule of someone else is told from ours and never removed", ({ platform, foreign }) =>
      Effect.gen(function* () {
        const platformRuleId = yield* foreign?.("earthquake") ?? Effect.die("nobody else is there")
        yield* platform.register(["storm"])
        yield* platform.unregister([platformRuleId])
        const { rules } = yield* platform.inventory
        assert.deepStrictEqual(
          rules.find((rule) => !rule.isOurs),
          { platformRuleId, translatedValue: "earthquake", isOurs: false }
        )
      }))

    test("an event comes once with all the rules it meets, as it was sent, and others do not come", ({
      platform,
      happens
    }) =>
      Effect.gen(function* () {
        const [storm, flood, heat] = (yield* platform.register(["storm", "flood", "heat"])).map(rightOf)
        const seen = yield* watching(platform)
        yield* seen.until("it is open", () => happensUntilSeen(seen, happens))
        const calm = yield* happens("calm weather")
        const both = yield* happens("storm and flood")
        const one = yield* happens("heat \u{1F525} ünïcode")
        yield* seen.until("both are here", () => Effect.succeed(seen.has(both) && seen.has(one)))
        assert.isFalse(seen.has(calm))
        const [first, second, ...others] = seen.deliveries.filter((d) => [both, one].includes(d.platformPostId))
        assert.deepStrictEqual(others, [])
        assert.strictEqual(first?.platformPostId, both)
        assert.sameMembers(
          [...(first?.platformRuleIds ?? [])],
          [storm?.platformRuleId ?? "", flood?.platformRuleId ?? ""]
        )
        assert.strictEqual(second?.platformPostId, one)
        assert.deepStrictEqual(second?.platformRuleIds, [heat?.platformRuleId ?? ""])
        assert.include(JSON.stringify(second?.payload), "heat \u{1F525} ünïcode")
        assert.notProperty(second?.payload, "matching_rules")
      }))

    test("a rule has effect on the open stream, and none once it is unregistered", ({ platform, happens }) =>
      Effect.gen(function* () {
        const seen = yield* watching(platform)
        const [storm] = (yield* platform.register(["storm"])).map(rightOf)
        yield* seen.until("it is open", () => happensUntilSeen(seen, happens))
        const [flood] = (yield* platform.register(["flood"])).map(rightOf)
        const wet = yield* happens("a flood")
        yield* seen.until("the new rule has effect", () => Effect.succeed(seen.has(wet)))
        yield* platform.unregister([storm?.platformRuleId ?? ""])
        const gone = yield* happens("a storm too late")
        const last = yield* happens("a last flood")
        yield* seen.until("the other rule still has", () => Effect.succeed(seen.has(last)))
        assert.isFalse(seen.has(gone))
        assert.isTrue(seen.deliveries.some(({ platformRuleIds }) => platformRuleIds[0] === flood?.platformRuleId))
      }))

    test("status tells of the stream and of the last event", ({ platform, happens }) =>
      Effect.gen(function* () {
        const seen = yield* watching(platform)
        assert.isTrue(Option.isNone((yield* platform.status).lastEventAt))
        yield* platform.register(["storm"])
        yield* seen.until("it is open", () => happensUntilSeen(seen, happens))
        const status = yield* platform.status
        assert.strictEqual(status.state, "live")
        assert.isNotEmpty(status.detail)
        assert.isTrue(Option.isSome(status.lastEventAt))
        assert.isTrue(Option.isNone(status.lastError))
      }))

    test("a stream that begins at a cursor brings what happened since", ({ platform, happens }) =>
      Effect.gen(function* () {
        yield* platform.register(["storm"])
        const seen = yield* Effect.scoped(
          Effect.gen(function* () {
            const seen = yield* watching(platform)
            yield* seen.until("it is open", () => happensUntilSeen(seen, happens))
            return seen
          })
        )
        const missed = [yield* happens("storm one"), yield* happens("storm two")]
        const cursor = seen.deliveries.at(-1)?.cursor ?? Option.none()
        assert.isTrue(Option.isSome(cursor))
        const resumed = yield* watching(platform, cursor)
        yield* resumed.until("what was missed is here", () => Effect.succeed(resumed.has(missed[1] ?? "")))
        const again = resumed.deliveries.map(({ platformPostId }) => platformPostId)
        assert.deepStrictEqual(again.slice(-2), missed)
        assert.isFalse(again.some(seen.has), "nothing comes again")
      }))
  })

// ---- helpers ----

const rightOf = <A>(outcome: Either.Either<A, unknown>): A => Either.getOrThrow(outcome)

const textsOn = (platform: Platform) =>
  Effect.map(platform.inventory, ({ rules }) => rules.map(({ translatedValue }) => translatedValue))

/** A stream takes a moment to open, and what happens before that is not on it. */
const happensUntilSeen = (seen: Seen, happens: Watched["happens"]) =>
  Effect.map(happens("a storm to begin with"), () => seen.deliveries.length > 0)

interface Seen {
  readonly deliveries: ReadonlyArray<Delivery>
  readonly has: (platformPostId: string) => boolean
  readonly until: (what: string, isSo: () => Effect.Effect<boolean>) => Effect.Effect<void>
}

const watching = (
  platform: Platform,
  from: Option.Option<string> = Option.none()
): Effect.Effect<Seen, never, Scope.Scope> =>
  Effect.gen(function* () {
    const deliveries: Array<Delivery> = []
    yield* Effect.forkScoped(
      Stream.runForEach(deliveriesOf(platform, from), (delivery) =>
        Effect.sync(() => void deliveries.push(delivery)).pipe(Effect.zipRight(delivery.ack))
      )
    )
    const until: Seen["until"] = (what, isSo) =>
      Effect.repeat(Effect.delay(Effect.suspend(isSo), "50 millis"), { until: (so) => so, times: 400 }).pipe(
        Effect.flatMap((so) => (so ? Effect.void : Effect.dieMessage(`Twenty seconds on, it is not so that ${what}`)))
      )
    return { deliveries, has: (id) => deliveries.some(({ platformPostId }) => platformPostId === id), until }
  })
