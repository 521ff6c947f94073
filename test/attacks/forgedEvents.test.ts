/** An account sends events that match the rules of another account. They reach nothing of that account. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { LocalFeed, sentEvents } from "../../core/platforms/LocalFeed.ts"
import { startReceiver } from "../adapters/webhooks/receiver.ts"
import { call, draft, type Target, xPost } from "../gateway/client.ts"
import { serve, serviceOn } from "../gateway/inProcess.ts"
import { openStream } from "../gateway/sse.ts"
import { localPlatforms } from "../platforms.ts"
import { storesOfDoors } from "../stores.ts"

const FORGED = [xPost("1", "storm forged"), xPost("2", "storm forged")]
const SHARED = [xPost("2", "storm shared"), xPost("3", "storm shared")]

for (const [name, stores] of storesOfDoors) {
  describe(`Events sent by another account, on ${name}`, () => {
    it.scopedLive("reach no matches, streams, webhooks or backtests, and suppress no shared event", () =>
      Effect.gen(function* () {
        const as = yield* serve
        const [ann, mallory] = [yield* as("ann"), yield* as("mallory")]
        const receiver = yield* startReceiver()
        // The same text: the rules share one rule of the platform.
        for (const owner of [ann, mallory]) yield* ask(owner, "/api.CreateRule", draft("storm", ["x"]))
        yield* ask(ann, "/webhooks/create", { url: receiver.url })
        const stream = yield* Effect.promise(() => openStream(`${ann.url}/matches/stream`, { key: ann.key }))
        yield* Effect.addFinalizer(() => Effect.sync(stream.leave))

        const sent = yield* ask(mallory, "/local/events", FORGED)
        assert.deepStrictEqual(sent.body as unknown, { accepted: { x: 2 }, matches: 2 })
        assert.deepStrictEqual(yield* textsOf(mallory), ["2 storm forged", "1 storm forged"])
        assert.deepStrictEqual(yield* textsOf(ann), [])
        assert.deepInclude(yield* backtest(ann), { tested: 0, matched: 0, samples: [] })
        assert.deepInclude(yield* backtest(mallory), { tested: 2, matched: 2 })

        const feed = yield* LocalFeed
        yield* feed.publish(sentEvents(SHARED))
        assert.deepStrictEqual(yield* textsOf(ann), ["3 storm shared", "2 storm shared"])
        assert.deepStrictEqual(yield* textsOf(mallory), ["3 storm shared", "2 storm forged", "1 storm forged"])
        assert.deepInclude(yield* backtest(ann), { tested: 2, matched: 2, samples: SHARED.toReversed() })

        // Streams and webhooks deliver in order: after the shared events, nothing forged can follow.
        assert.deepStrictEqual(yield* Effect.promise(() => streamedTexts(stream, 2)), [
          "2 storm shared",
          "3 storm shared"
        ])
        yield* Effect.repeat(Effect.sleep("50 millis"), { until: () => receiver.received.length === 2 })
        for (const { body } of receiver.received) assert.include(body, "storm shared")
      }).pipe(Effect.provide(serviceOn(localPlatforms(), stores)))
    )
  })
}

// ---- helpers ----

const ask = (target: Target, path: string, body?: unknown) =>
  Effect.map(
    Effect.promise(() => call(target, path, body)),
    (answer) => {
      assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
      return answer
    }
  )

interface Payload {
  readonly payload: ReturnType<typeof xPost>
}

const textOf = ({ payload: { data } }: Payload) => `${data.id} ${data.text}`

/** The posts of the matches, newest first. */
const textsOf = (target: Target) =>
  Effect.map(ask(target, "/matches", {}), ({ body }) =>
    (body["matches"] as unknown as ReadonlyArray<Payload>).map(textOf)
  )

const backtest = (target: Target) =>
  Effect.map(
    ask(target, "/rules/check", { overrides: { x: "storm" }, backtest: {} }),
    ({ body }): unknown => body["platforms"]?.["x"]?.["backtest"]
  )

const streamedTexts = async ({ next }: Awaited<ReturnType<typeof openStream>>, count: number) => {
  const texts: Array<string> = []
  while (texts.length < count) {
    const block = await next()
    if (block?.event === "match") texts.push(textOf(JSON.parse(block.data ?? "")))
  }
  return texts
}
