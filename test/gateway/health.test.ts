import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { Disk } from "../../core/disk/Disk.ts"
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

  it.live("responds with 503 and the reason while the disk of the store cannot be written", () =>
    Effect.gen(function* () {
      const disk = { ...(yield* Disk), problem: Effect.succeedSome("disk_full" as const) }
      const targetOf = yield* Effect.provide(serve, Layer.provide(Status.layer, Layer.succeed(Disk, disk)))
      const { url } = yield* targetOf("someone")
      const answer = yield* Effect.promise(() => fetch(`${url}/health/ready`))
      assert.strictEqual(answer.status, 503)
      assert.include(yield* Effect.promise(() => answer.text()), '"reason":"disk_full"')
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})
