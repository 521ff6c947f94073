/** The contract of `Platform`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, type Scope, Stream } from "effect"
import type { Acceptance, Delivery, Platform } from "../../core/platforms/Platform.ts"
import { deliveriesOf } from "../adapters/deliveries.ts"
import { untilTrue } from "../eventually.ts"

export interface Fixture {
  readonly platform: Platform
  /** Publishes an event with the text, and returns its id on the platform. */
  readonly publish: (text: string) => Effect.Effect<string>
  /** Returns the rule id. Absent on platforms without foreign rules. */
  readonly createForeignRule?: (text: string) => Effect.Effect<string>
}

export interface Subject {
  readonly name: string
  readonly id: string
  /** What `verify` answers for a valid text. By default the platform's service is asked, unless it runs in process. */
  readonly acceptance?: Acceptance
  readonly open: Effect.Effect<Fixture, unknown, Scope.Scope>
  /** Test title to the reason why it does not apply. */
  readonly skip?: Readonly<Record<string, string>>
}

const runtime = "Deno" in globalThis ? "Deno" : "Node"

export const platformContract = ({ name, id, acceptance, open, skip = {} }: Subject) =>
  describe(`Platform ${name} on ${runtime}`, () => {
    const test = (title: string, body: (fixture: Fixture) => Effect.Effect<void, unknown, Scope.Scope>) => {
      const reason = skip[title]
      if (reason !== undefined) return it.skip(`${title}: ${reason}`, () => {})
      it.scopedLive(title, () => Effect.flatMap(open, body))
    }

    test("has its id, its syntax help and valid examples", ({ platform }) =>
      Effect.sync(() => {
        assert.strictEqual(platform.id, id)
        assert.strictEqual(platform.syntax.platform, id)
        assert.strictEqual(platform.syntax.rule_type, id === "x" ? "premium" : "regular")
        assert.isTrue(platform.syntax.examples.every(({ rule }) => platform.language.check(rule).rule !== undefined))
        assert.isUndefined(platform.language.check("word AND (").rule)
      }))

    test("register keeps the order of the texts and is idempotent", ({ platform }) =>
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

    test("register refuses an invalid text with the platform's reason, and registers the others", ({ platform }) =>
      Effect.gen(function* () {
        const [right, wrong] = yield* platform.register(["storm", "(storm"])
        assert.isTrue(right !== undefined && Either.isRight(right))
        if (wrong === undefined || Either.isRight(wrong)) return assert.fail("registered an unclosed parenthesis")
        assert.strictEqual(wrong.left._tag, "PlatformRefused")
        assert.isNotEmpty(wrong.left.reason)
        assert.exists(wrong.left.upstream)
        assert.deepStrictEqual(yield* textsOn(platform), ["storm"])
      }))

    test("verify returns the verdict of register, and registers nothing", ({ platform }) =>
      Effect.gen(function* () {
        const right = Either.getOrThrow(yield* platform.verify("storm"))
        assert.strictEqual(right, acceptance ?? (platform.capabilities.isRemote ? "confirmed" : "unasked"))
        const wrong = yield* platform.verify("(storm")
        assert.isTrue(Either.isLeft(wrong) && wrong.left._tag === "PlatformRefused")
        assert.deepStrictEqual(yield* textsOn(platform), [])
      }))

    test("unregister removes rules and ignores unknown ids", ({ platform }) =>
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

    test("inventory marks a foreign rule, and unregister ignores it", ({ platform, createForeignRule }) =>
      Effect.gen(function* () {
        const platformRuleId = yield* createForeignRule?.("earthquake") ?? Effect.die("no foreign rules")
        yield* platform.register(["storm"])
        yield* platform.unregister([platformRuleId])
        const { rules } = yield* platform.inventory
        assert.deepStrictEqual(
          rules.find((rule) => !rule.isOurs),
          { platformRuleId, translatedValue: "earthquake", isOurs: false }
        )
      }))

    test("watch delivers a matching event once, unchanged and with all its rules", ({ platform, publish }) =>
      Effect.gen(function* () {
        const [storm, flood, heat] = (yield* platform.register(["storm", "flood", "heat"])).map(rightOf)
        const watcher = yield* watch(platform)
        yield* watcher.until("the stream is open", () => publishAndCheck(watcher, publish))
        const calm = yield* publish("calm weather")
        const both = yield* publish("storm and flood")
        const one = yield* publish("heat \u{1F525} ünïcode")
        yield* watcher.until("both are delivered", () => Effect.succeed(watcher.has(both) && watcher.has(one)))
        assert.isFalse(watcher.has(calm))
        const [first, second, ...others] = watcher.deliveries.filter((d) => [both, one].includes(d.platformPostId))
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

    test("register and unregister take effect on the open stream", ({ platform, publish }) =>
      Effect.gen(function* () {
        const watcher = yield* watch(platform)
        const [storm] = (yield* platform.register(["storm"])).map(rightOf)
        yield* watcher.until("the stream is open", () => publishAndCheck(watcher, publish))
        const [flood] = (yield* platform.register(["flood"])).map(rightOf)
        const wet = yield* publish("a flood")
        yield* watcher.until("the new rule matches", () => Effect.succeed(watcher.has(wet)))
        yield* platform.unregister([storm?.platformRuleId ?? ""])
        const gone = yield* publish("a storm too late")
        const last = yield* publish("a last flood")
        yield* watcher.until("the other rule still matches", () => Effect.succeed(watcher.has(last)))
        assert.isFalse(watcher.has(gone))
        assert.isTrue(watcher.deliveries.some(({ platformRuleIds }) => platformRuleIds[0] === flood?.platformRuleId))
      }))

    test("status has the stream's state and the time of the last event", ({ platform, publish }) =>
      Effect.gen(function* () {
        const watcher = yield* watch(platform)
        assert.isTrue(Option.isNone((yield* platform.status).lastEventAt))
        yield* platform.register(["storm"])
        yield* watcher.until("the stream is open", () => publishAndCheck(watcher, publish))
        const status = yield* platform.status
        assert.strictEqual(status.state, "live")
        assert.isNotEmpty(status.detail)
        assert.isTrue(Option.isSome(status.lastEventAt))
        assert.isTrue(Option.isNone(status.lastError))
      }))

    test("watch delivers the events since the cursor", ({ platform, publish }) =>
      Effect.gen(function* () {
        yield* platform.register(["storm"])
        const watcher = yield* Effect.scoped(
          Effect.gen(function* () {
            const watcher = yield* watch(platform)
            yield* watcher.until("the stream is open", () => publishAndCheck(watcher, publish))
            return watcher
          })
        )
        const missed = [yield* publish("storm one"), yield* publish("storm two")]
        const cursor = watcher.deliveries.at(-1)?.cursor ?? Option.none()
        assert.isTrue(Option.isSome(cursor))
        const resumed = yield* watch(platform, cursor)
        yield* resumed.until("the missed events are delivered", () => Effect.succeed(resumed.has(missed[1] ?? "")))
        const again = resumed.deliveries.map(({ platformPostId }) => platformPostId)
        assert.deepStrictEqual(again.slice(-2), missed)
        assert.isFalse(again.some(watcher.has), "no event is repeated")
      }))
  })

// ---- helpers ----

const rightOf = <A>(outcome: Either.Either<A, unknown>): A => Either.getOrThrow(outcome)

const textsOn = (platform: Platform) =>
  Effect.map(platform.inventory, ({ rules }) => rules.map(({ translatedValue }) => translatedValue))

/** Repeat it until the stream is open: events before that are not delivered. */
const publishAndCheck = (watcher: Watcher, publish: Fixture["publish"]) =>
  Effect.map(publish("a storm to begin with"), () => watcher.deliveries.length > 0)

interface Watcher {
  readonly deliveries: ReadonlyArray<Delivery>
  readonly has: (platformPostId: string) => boolean
  readonly until: (description: string, condition: () => Effect.Effect<boolean>) => Effect.Effect<void>
}

const watch = (
  platform: Platform,
  from: Option.Option<string> = Option.none()
): Effect.Effect<Watcher, never, Scope.Scope> =>
  Effect.gen(function* () {
    const deliveries: Array<Delivery> = []
    yield* Effect.forkScoped(
      Stream.runForEach(deliveriesOf(platform, from), (delivery) =>
        Effect.sync(() => void deliveries.push(delivery)).pipe(Effect.zipRight(delivery.ack))
      )
    )
    const until: Watcher["until"] = (description, condition) => untilTrue(description, Effect.suspend(condition))
    return { deliveries, has: (id) => deliveries.some(({ platformPostId }) => platformPostId === id), until }
  })
