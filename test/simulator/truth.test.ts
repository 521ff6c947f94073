/** GET /control/x/truth over HTTP: the posts that meet a rule, and for which rules each was delivered. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import { eventually } from "../eventually.ts"
import { postOf, RULES, STREAM, X } from "./stage.ts"

describe("/control/x/truth", () => {
  it.scopedLive("names each post and rule that match, and what was delivered before, during and after a cut", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator.make({ seed: 1, settings: { x: { dead_slot_seconds: 0 } } })
      const port = yield* serve(simulator, { host: "127.0.0.1", port: 0 })
      const sim = clientOf(`http://127.0.0.1:${port}`)
      yield* Effect.promise(async () => {
        const { data } = await sim.send(RULES, { add: [{ value: "cat" }, { value: "dog" }] })
        const idOf = (value: string) => data.find((rule: { value: string }) => rule.value === value).id
        const [cat, dog] = [idOf("cat"), idOf("dog")]
        const before = await sim.listen()
        await sim.publish("a cat", 1)
        await before.has(1)
        await sim.send("/control/faults", { kind: "cut", platform: "x" })
        await sim.publish("a cat and a dog", 2)
        await before.hasEnded()
        await sim.publish("a dog", 3)
        await sim.publish("a bird", 4)

        const after = await sim.listen()
        await sim.send("/control/settings", { x: { rule_delay_seconds: 60 } }, "PATCH")
        const later = await sim.send(RULES, { add: [{ value: "cat dog" }] })
        await sim.publish("a cat and a dog", 5)
        await after.has(5)
        await after.hangUp()

        const { posts } = await sim.get("/control/x/truth")
        const ruleOf = (id: string, value: string, delivered: boolean) => ({ id, value, delivered })
        assert.deepStrictEqual(
          posts.map(({ at: _, ...post }: { at: number }) => post),
          [
            { id: idOfPost(1), rules: [ruleOf(cat, "cat", true)] },
            { id: idOfPost(2), rules: [ruleOf(cat, "cat", false), ruleOf(dog, "dog", false)] },
            { id: idOfPost(3), rules: [ruleOf(dog, "dog", false)] },
            {
              id: idOfPost(5),
              rules: [ruleOf(cat, "cat", true), ruleOf(dog, "dog", true), ruleOf(later.data[0].id, "cat dog", false)]
            }
          ]
        )
      })
    })
  )
})

// ---- helpers ----

const idOfPost = (number: number) => postOf("", number).data.id

const clientOf = (url: string) => {
  const ask = async (path: string, init: RequestInit) => (await fetch(url + path, init)).json()
  const headers = { ...X, "content-type": "application/json" }
  const send = (path: string, body: unknown, method = "POST") =>
    ask(path, { method, headers, body: JSON.stringify(body) })
  return {
    send,
    get: (path: string) => ask(path, { headers }),
    publish: (text: string, number: number) => send("/control/events", postOf(text, number, Date.now())),
    listen: async () => {
      const { body } = await fetch(url + STREAM, { headers })
      const reader = body?.getReader()
      const state = { text: "", isOpen: true }
      const reading = async () => {
        for (;;) {
          const chunk = await reader?.read()
          if (chunk === undefined || chunk.done) return
          state.text += new TextDecoder().decode(chunk.value)
        }
      }
      void reading()
        .catch(() => {})
        .finally(() => {
          state.isOpen = false
        })
      return {
        has: (number: number) => eventually(() => assert.include(state.text, idOfPost(number))),
        hasEnded: () => eventually(() => assert.isFalse(state.isOpen)),
        hangUp: () => reader?.cancel()
      }
    }
  }
}
