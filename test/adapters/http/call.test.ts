/** Interrupted calls are aborted on the wire, too. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { call } from "../../../adapters/http/call.ts"
import { Fetch } from "../../../adapters/http/Fetch.ts"

describe("call", () => {
  it.live("aborts its request when interrupted, also after a garbage collection", () =>
    Effect.gen(function* () {
      setFlagsFromString("--expose-gc")
      const collect: () => void = runInNewContext("gc")
      let signal: AbortSignal | undefined
      const send = (request: Request) => {
        signal = request.signal
        return new Promise<Response>(() => {})
      }
      const calling = yield* Effect.fork(Effect.provideService(call(new Request("http://x.test/")), Fetch, { send }))
      for (let turn = 0; turn < 5; turn++) {
        yield* Effect.sleep("10 millis")
        collect()
      }
      yield* Fiber.interrupt(calling)
      assert.isTrue(signal?.aborted)
    })
  )
})
