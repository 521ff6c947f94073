/** Rules that name accounts by handle: while a handle is not known, no interface says that the rule is watched. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { untilTrue } from "../../eventually.ts"
import { ANN, BEN, simulated } from "./simulated.ts"

describe("a rule that names a handle", () => {
  it.scopedLive("is not created while the handle cannot be looked up", () =>
    Effect.gen(function* () {
      const { jetstream, start, post, untilOpen } = yield* simulated
      const { create, state, untilMatched, matches } = yield* start
      jetstream.inject({ noProfiles: true }, 0)
      const { status, body } = yield* create("from:ann.example.com")
      assert.strictEqual(status, 503)
      assert.include(
        String(body["message"]),
        'the handle "ann.example.com" cannot be looked up: it answered with status 503'
      )
      assert.strictEqual(yield* state, "undefined")
      jetstream.inject({ noProfiles: false }, 0)
      assert.strictEqual((yield* create("from:ann.example.com")).status, 200)
      yield* untilOpen
      yield* post(ANN, "1")
      yield* untilMatched("1")
      assert.deepStrictEqual((yield* matches).gaps, [])
    })
  )

  it.scopedLive("has a gap from the last comparison on, if the handle cannot be looked up after a restart", () =>
    Effect.gen(function* () {
      const { jetstream, start, post, untilOpen } = yield* simulated
      const first = yield* start
      assert.strictEqual((yield* first.create("from:ann.example.com OR storm")).status, 200)
      yield* untilOpen
      yield* post(ANN, "1")
      yield* first.untilMatched("1")
      yield* first.reconcile
      yield* first.stop
      const stoppedAt = yield* Clock.currentTimeMillis
      jetstream.inject({ noProfiles: true }, 0)

      const second = yield* start
      yield* post(ANN, "2")
      yield* post(BEN, "3", "A storm")
      yield* second.untilMatched("1 3")
      yield* second.reconcile
      assert.strictEqual(yield* second.state, "failed")
      assert.include(yield* second.reason, 'the handle "ann.example.com" cannot be looked up')
      const [open, ...others] = (yield* second.matches).gaps
      assert.deepStrictEqual(others, [])
      assert.strictEqual(String(open?.["cause"]), "rule_failed")
      assert.isAtMost(Date.parse(String(open?.["from"])), stoppedAt)
      assert.isUndefined(open?.["to"])
      yield* untilTrue(
        "the replay is suspected",
        Effect.map(second.matches, ({ suspected }) =>
          suspected.includes(
            "Handles that rules name could not be looked up yet: posts of these accounts may be missing"
          )
        )
      )

      jetstream.inject({ noProfiles: false }, 0)
      yield* second.reconcile
      assert.strictEqual(yield* second.state, "active")
      yield* post(ANN, "4")
      yield* second.untilMatched("1 3 4")
      const [closed] = (yield* second.matches).gaps
      assert.isAbove(Date.parse(String(closed?.["to"])), Date.parse(String(open?.["from"])))
    })
  )

  it.scopedLive("has a gap when the handle goes to another account, whose posts match from then on", () =>
    Effect.gen(function* () {
      const { jetstream, start, post, untilOpen } = yield* simulated
      const { create, reconcile, state, reason, matches, untilMatched } = yield* start
      assert.strictEqual((yield* create("from:ann.example.com")).status, 200)
      yield* untilOpen
      yield* post(ANN, "1")
      yield* untilMatched("1")
      yield* reconcile
      jetstream.handles.set(ANN, "other.example.com")
      jetstream.identity(BEN, "ann.example.com", yield* Clock.currentTimeMillis)
      yield* untilTrue(
        "the change is noticed",
        Effect.zipRight(
          Effect.sleep("1 second"),
          Effect.zipRight(
            reconcile,
            Effect.map(matches, ({ gaps }) => gaps.length > 0)
          )
        )
      )
      assert.deepStrictEqual(
        (yield* matches).gaps.map(({ cause }) => String(cause)),
        ["rules_dropped"]
      )
      yield* post(ANN, "2")
      yield* post(BEN, "3")
      yield* untilMatched("1 3")

      jetstream.identity(BEN, "ben.example.com", yield* Clock.currentTimeMillis)
      yield* untilTrue(
        "nobody has the handle",
        Effect.zipRight(
          Effect.sleep("1 second"),
          Effect.zipRight(
            reconcile,
            Effect.map(state, (one) => one === "failed")
          )
        )
      )
      assert.include(yield* reason, 'no account on Bluesky has the handle "ann.example.com"')
    })
  )
})
