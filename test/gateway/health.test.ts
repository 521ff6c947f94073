import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { Ownership } from "../../core/ownership/Ownership.ts"
import { Status } from "../../core/status/Status.ts"
import { serve, service } from "./inProcess.ts"

describe("GET /health/ready", () => {
  it.live("responds with 503 once a newer version has changed the store", () =>
    Effect.gen(function* () {
      const outdated = yield* Deferred.make<never, Error>()
      const status = Layer.provide(Status.layer, Layer.succeed(Ownership, { ...(yield* Ownership), outdated }))
      const targetOf = yield* Effect.provide(serve, status)
      const { url } = yield* targetOf("someone")
      const ready = Effect.promise(async () => (await fetch(`${url}/health/ready`)).status)
      assert.strictEqual(yield* ready, 200)
      yield* Deferred.fail(outdated, new Error("newer"))
      assert.strictEqual(yield* ready, 503)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})
