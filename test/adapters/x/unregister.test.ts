/** Unregister deletes only the rules that were asked for, and reads whether X deleted them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import type { Platform } from "../../../core/platforms/Platform.ts"
import { pass, type Stage, stage } from "../../simulator/stage.ts"
import { passInSteps, withSimulator, withX } from "./platform.ts"

const register = (platform: Platform, texts: ReadonlyArray<string>) =>
  Effect.map(platform.register(texts), (outcomes) =>
    outcomes.map((outcome) => Either.getOrThrow(outcome).platformRuleId)
  )

const held = (on: Stage) => Effect.map(on.control.state, ({ x }) => x.rules.map(({ value }) => value))

describe("unregister", () => {
  it.scoped("keeps the other rules when X ignores the ids filter", () =>
    withSimulator({ x: { ids_filter: "ignored" } }, (on, { platform }) =>
      Effect.gen(function* () {
        const [cat = ""] = yield* register(platform, ["cat", "dog", "bird"])
        yield* platform.unregister([cat])
        assert.deepStrictEqual(yield* held(on), ["dog", "bird"])
        yield* platform.unregister(["12345"])
        assert.deepStrictEqual(yield* held(on), ["dog", "bird"])
      })
    )
  )

  it.scoped("finds a rule on a later page when X ignores the ids filter", () =>
    withSimulator({ x: { tier: "enterprise", ids_filter: "ignored" } }, (on, { platform }) =>
      Effect.gen(function* () {
        const texts = Array.from({ length: 1_001 }, (_, at) => `word${at}`)
        const ids = yield* register(platform, texts)
        yield* platform.unregister(ids.slice(-1))
        assert.deepStrictEqual(yield* held(on), texts.slice(0, -1))
      })
    )
  )

  it.scoped("fails while X does not delete a rule, and works once X does", () =>
    withSimulator({ x: { deletes: "none" } }, (on, { platform, watch }) =>
      Effect.gen(function* () {
        const ids = yield* register(platform, ["cat"])
        const watcher = yield* watch()
        const error = yield* Effect.flip(platform.unregister(ids))
        assert.deepStrictEqual([error._tag, error.reason], ["PlatformUnavailable", "it did not delete 1 of 1 rule"])
        yield* pass(1)
        yield* on.post("cat")
        yield* pass(1)
        assert.deepStrictEqual(watcher.texts(), ["cat"], "the stream stays open for a rule that still exists")
        yield* on.control.patch({ x: { deletes: "all" } })
        yield* platform.unregister(ids)
        assert.deepStrictEqual(yield* held(on), [])
        yield* passInSteps(61)
        assert.lengthOf((yield* on.control.state).x.connections, 0)
      })
    )
  )

  it.scoped("says how many rules X did not delete", () =>
    withSimulator({ x: { deletes: "half" } }, (on, { platform }) =>
      Effect.gen(function* () {
        const ids = yield* register(platform, ["cat", "dog", "bird"])
        assert.strictEqual((yield* Effect.flip(platform.unregister(ids))).reason, "it did not delete 2 of 3 rules")
        assert.deepStrictEqual(yield* held(on), ["dog", "bird"])
      })
    )
  )

  it.scoped("succeeds when another client deletes a rule between the look-up and the delete", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      let deletes = 0
      // Sends every delete twice: X answers the second one with not_deleted and an error.
      const send = async (request: Request): Promise<Response> => {
        if (request.method === "POST" && (await request.clone().text()).includes('"delete"')) {
          deletes++
          await on.handler(request.clone())
        }
        return on.handler(request)
      }
      yield* withX(send, ({ platform }) =>
        Effect.gen(function* () {
          yield* platform.unregister(yield* register(platform, ["cat", "dog"]))
          assert.deepStrictEqual([deletes, yield* held(on)], [1, []])
        })
      )
    })
  )
})
