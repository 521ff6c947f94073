/** More event streams than allowed, opened at the same moment: each is counted before it is answered. */
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Keys } from "../../core/keys/Keys.ts"
import { Quotas } from "../../core/quotas/Quotas.ts"
import type { Target } from "../gateway/client.ts"
import { serve, serviceOn } from "../gateway/inProcess.ts"
import { requestText } from "../gateway/raw.ts"
import { localPlatforms } from "../platforms.ts"
import { attackedProgram } from "./program.ts"

const LIMIT = 20
const OPENED = 60

const limited = serviceOn(localPlatforms({}, { streams: LIMIT }))

const openStreams = Effect.gen(function* () {
  return yield* (yield* Quotas).used(yield* (yield* Keys).account("ann"), "streams")
})

/** tRPC answers before it counts the stream. */
const openStreamsBecome = (count: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < 100 && (yield* openStreams) !== count; i++) yield* Effect.sleep("50 millis")
    assert.strictEqual(yield* openStreams, count)
  })

const openAll = (ann: Target, path: string, signal: AbortSignal) =>
  Effect.promise(() =>
    Promise.all(
      Array.from({ length: OPENED }, async () => {
        const response = await fetch(ann.url + path, { headers: { authorization: `Bearer ${ann.key}` }, signal })
        return response.status
      })
    )
  )

describe("event streams that are opened at the same moment", () => {
  const attacked = attackedProgram(() => ({ EARSHOT_LIMIT_STREAMS: String(LIMIT) }))

  it.live("get 429 beyond the limit, and make room when they end", () =>
    Effect.gen(function* () {
      const { target } = attacked()
      const statuses = (signal: AbortSignal) =>
        Effect.map(openAll(target, "/matches/stream", signal), (all) => ({
          ok: all.filter((status) => status === 200).length,
          refused: all.filter((status) => status === 429).length
        }))
      for (let round = 0; round < 2; round++) {
        const aborting = new AbortController()
        assert.deepStrictEqual(yield* statuses(aborting.signal), { ok: LIMIT, refused: OPENED - LIMIT })
        aborting.abort()
        // Until the server has noticed.
        yield* Effect.sleep("1 second")
      }
    })
  )

  it.scopedLive("are limited on tRPC, too, and make room when they end", () =>
    Effect.gen(function* () {
      const ann = yield* (yield* serve)("ann")
      const aborting = new AbortController()
      yield* openAll(ann, "/trpc/matches.watch", aborting.signal)
      yield* openStreamsBecome(LIMIT)
      aborting.abort()
      yield* openStreamsBecome(0)
    }).pipe(Effect.provide(limited))
  )

  it.scopedLive("are not counted for clients that leave at once", () =>
    Effect.gen(function* () {
      const { host, port, key } = yield* (yield* serve)("ann")
      const request = requestText("GET", "/matches/stream", { authorization: `Bearer ${key}` })
      for (let delay = 0; delay < 10; delay++) {
        yield* Effect.promise(() => leave({ host, port, request, delay }))
      }
      yield* Effect.sleep("300 millis")
      yield* openStreamsBecome(0)
    }).pipe(Effect.provide(limited))
  )
})

/** Sends the request and cuts the connection after some milliseconds. */
const leave = (options: {
  readonly host: string
  readonly port: number
  readonly request: string
  readonly delay: number
}): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(options.port, options.host, () => {
      socket.write(options.request)
      setTimeout(() => socket.destroy(), options.delay)
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve())
  })
