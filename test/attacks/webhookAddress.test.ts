/** A webhook to a name of the operator's network: no answer tells its address. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Resolver } from "../../adapters/http/Resolver.ts"
import { call } from "../gateway/client.ts"
import { serve, service } from "../gateway/inProcess.ts"

it.scopedLive("a test of a webhook and its stored attempts name the host, not the address behind it", () =>
  Effect.gen(function* () {
    const target = yield* (yield* serve)("ann")
    yield* Effect.promise(async () => {
      const created = await call(target, "/webhooks/create", { url: "http://db.internal.example/" })
      const webhook_id = String(created.body["webhook"]?.["id"])
      const tested = await call(target, "/webhooks/test", { webhook_id })
      const attempts = await call(target, "/webhooks/attempts", { webhook_id })
      const listed = await call(target, "/webhooks")
      for (const { status, body } of [tested, attempts, listed]) {
        assert.strictEqual(status, 200)
        const json = JSON.stringify(body)
        assert.include(json, 'Not allowed: \\"db.internal.example\\" has an address that is not public')
        assert.notMatch(json, /10\.1\.2\.3|private/)
      }
    })
  }).pipe(
    Effect.provideService(Resolver, { addressesOf: () => Promise.resolve(["10.1.2.3"]) }),
    Effect.provide(service)
  )
)
