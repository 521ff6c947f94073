/** Filters that need much work per character, on events that are as long as possible. */

import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Stream } from "effect"
import { Backtests } from "../../core/backtests/Backtests.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { firehose } from "../../core/languages/firehose.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { LocalFeed, sentEvents } from "../../core/platforms/LocalFeed.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { checkFilters } from "../../core/rules/RuleCheck.ts"
import { Rules } from "../../core/rules/Rules.ts"
import { evaluate } from "../../core/syntax/expression/evaluate.ts"
import { ann } from "../core/world.ts"
import { localPlatforms } from "../platforms.ts"
import { memoryEvents } from "../stores/memoryEvents.ts"
import { memoryRules } from "../stores/memoryRules.ts"
import { cpuMillisOf } from "../cpuMillis.ts"

/** The filter of the attack, and the most expensive one of its kind that is accepted. */
const attack = (count: number) => `title:/.*a.{${count}}/`
const LARGEST = 1_400

/** Each character needs a new state. */
const letters = (length: number): string => {
  let seed = 1
  return Array.from({ length }, () => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
    return seed & 0x10000 ? "a" : "b"
  }).join("")
}

const page = (title: string) => ({ document: { url: "https://example.com", title } })

describe("a filter with a huge pattern", () => {
  it("is refused, which costs no more than checking an ordinary filter", () => {
    const refused = () => {
      for (let n = 0; n < 200; n++) {
        assert.strictEqual(firehose.check(attack(9_900 - n)).issues[0]?.code, "regex-too-large")
      }
    }
    const accepted = () => {
      for (let n = 0; n < 200; n++) assert.isDefined(firehose.check(`title:tesla AND NOT url:*\\/tag\\/${n}*`).rule)
    }
    cpuMillisOf(accepted)
    cpuMillisOf(refused)
    const ordinary = cpuMillisOf(accepted)
    const millis = cpuMillisOf(refused)
    assert.isBelow(millis, 5 * ordinary + 20, `${ordinary} ms for 200 ordinary filters`)
  })

  it("is refused in other forms too", () => {
    const codes = (text: string) => firehose.check(text).issues.map(({ code }) => code)
    assert.include(codes(`title:(${Array.from({ length: 200 }, (_, n) => `tesla${n}~2`).join(" OR ")})`), TOO_MUCH)
    assert.include(codes(`title:(${Array.from({ length: 500 }, (_, n) => `*a${n}*`).join(" OR ")})`), TOO_MUCH)
    assert.include(codes(`url:*${"a".repeat(4_000)}?*`), TOO_MUCH)
    assert.include(codes(`title:"${"a b ".repeat(1_000)}a a"`), TOO_MUCH)
    assert.include(codes(`title:"${"a ".repeat(1_000)}b b"~1000`), TOO_MUCH)
  })

  it("takes time in proportion to its length, to check and to match", () => {
    const character = (n: number) => String.fromCharCode(0x4e00 + n)
    const distinct = Array.from({ length: 8_000 }, (_, n) => character(n)).join("")
    const patterns = [
      ...["@", ".*", "a*@", "+a*@", "(ab)*", "b?()(字|a字)?"].map((part) => part.repeat(8_000 / part.length)),
      Array.from({ length: 1_400 }, (_, n) => `[^${character(n)}]`).join(""),
      distinct
    ]
    const millis = cpuMillisOf(() => {
      for (const pattern of patterns) {
        const { rule } = firehose.check(`url:/${pattern}/`)
        const read = firehose.events.read({ document: { url: distinct, title: "a" } }, 0)
        if (rule !== undefined) evaluate(rule.expression, Either.getOrThrow(read))
      }
    })
    // It took five seconds while some of the work was quadratic.
    assert.isBelow(millis, 3_000)
  })

  it("has ordinary relatives, which are accepted", () => {
    const ordinary = [
      `title:(${Array.from({ length: 50 }, (_, n) => `tesla${n}~2`).join(" OR ")})`,
      `url:(${Array.from({ length: 300 }, (_, n) => `*\\/tag\\/${n}*`).join(" OR ")})`,
      `title:/(${Array.from({ length: 400 }, (_, n) => `word${n}`).join("|")})s?/`,
      `"${"a long quotation of words ".repeat(6)}"`,
      '"electric vehicle tesla"~100',
      "title:te?la OR title:*electri?it*"
    ]
    for (const text of ordinary)
      assert.deepStrictEqual(
        firehose.check(text).issues.map(({ message }) => message),
        []
      )
  })

  it.live("does not stall the process when it is checked with a large event", () =>
    Effect.gen(function* () {
      const { value, stall } = yield* stallOf(
        checkFilters(ann, { overrides: { firehose: attack(LARGEST) }, events: { firehose: page(letters(900_000)) } })
      )
      assert.isTrue(value.platforms["firehose"]?.valid)
      assert.isFalse(value.platforms["firehose"]?.explanation?.matched)
      assert.isBelow(stall, MAX_STALL)
    }).pipe(Effect.provide(services))
  )

  it.live("does not stall the process when many such rules are stored", () =>
    Effect.gen(function* () {
      const { register } = yield* (yield* Platforms).get("firehose")
      const texts = Array.from({ length: 10 }, (_, n) => attack(LARGEST - n))
      const rules = yield* register(texts)
      assert.isTrue(rules.every(Either.isRight))
      const feed = yield* LocalFeed
      const { stall } = yield* stallOf(feed.publish(sentEvents([page(letters(100_000))])))
      assert.isBelow(stall, MAX_STALL)
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("does not stall the process in a backtest", () =>
    Effect.gen(function* () {
      const { rule } = firehose.check(attack(LARGEST))
      if (rule === undefined) return assert.fail("The filter is not accepted")
      const json = JSON.stringify(page(letters(900_000)))
      const log = Layer.mock(RecentEvents, {
        keep: 100,
        newest: () => Stream.make({ events: [{ receivedAt: 0, json }], missed: 0 })
      })
      const { value, stall } = yield* stallOf(
        Effect.flatMap(Backtests, ({ run }) =>
          run(
            { account: ann, language: firehose, basis: "all_events", expression: rule.expression, present: [] },
            { events: 100, samples: 0 }
          )
        ).pipe(Effect.provide(Layer.provide(Backtests.layer, log)))
      )
      assert.strictEqual(value.tested, 1)
      assert.isBelow(stall, MAX_STALL)
    })
  )
})

describe("a filter with very many problems", () => {
  it("is checked about as fast as one with few", () => {
    const few = `${Array.from({ length: 600 }, (_, n) => `word${n % 595}`).join(" OR ")}`
    const many = `${Array.from({ length: 600 }, (_, n) => `word${n % 10}`).join(" OR ")}`
    const time = (text: string) => cpuMillisOf(() => firehose.check(text))
    time(few)
    time(many)
    // Each of the few problems has a fix, which is verified with another check.
    assert.isBelow(time(many), time(few) + 50)
  })
})

// ---- helpers ----

const TOO_MUCH = "too-much-work"

/** In milliseconds. Before, the process stalled for seconds; a busy machine alone stalls it for some milliseconds. */
const MAX_STALL = 150

const recent = Layer.provide(RecentEvents.layerWith({ keep: 0 }), memoryEvents)

const services = Layer.provideMerge(
  Layer.mergeAll(localPlatforms({}), Backtests.layer, Layer.mock(Rules, {})),
  Layer.mergeAll(Platforms.layer, memoryRules, Layer.provideMerge(recent, Entropy.layerCounting))
)

/**
 * The result, and the longest time in milliseconds that the process worked without a turn for timers. CPU time, where the
 * system tells it: on a busy machine other processes run in between.
 */
const stallOf = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let stall = 0
    let before = workedMillis()
    const timer = setInterval(() => {
      const now = workedMillis()
      stall = Math.max(stall, now - before)
      before = now
    }, 1)
    const value = yield* Effect.ensuring(
      work,
      Effect.sync(() => clearInterval(timer))
    )
    return { value, stall: Math.max(stall, workedMillis() - before) }
  })

/** Of the main thread. */
const workedMillis = (): number =>
  existsSync(SCHEDSTAT) ? Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[0]) / 1e6 : performance.now()

const SCHEDSTAT = "/proc/self/schedstat"
