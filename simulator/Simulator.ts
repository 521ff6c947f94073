/** Simulates the platforms' wire protocols, faults included, behind one fetch-style handler. */
import { Effect, FiberSet, type Scope, Stream } from "effect"
import { Jetstream } from "./bluesky/Jetstream.ts"
import { answerBluesky } from "./bluesky/router.ts"
import { Control } from "./Control.ts"
import { answerControl } from "./controlRouter.ts"
import { startFeed } from "./feed.ts"
import { FeedsState } from "./feeds/FeedsState.ts"
import { answerFeeds } from "./feeds/router.ts"
import { FirehoseState } from "./firehose/FirehoseState.ts"
import { answerFirehose } from "./firehose/router.ts"
import { applyPatch, defaultSettings, type SettingsPatch } from "./settings.ts"
import { World } from "./World.ts"
import { answerWikimedia } from "./wikimedia/router.ts"
import { WikimediaState } from "./wikimedia/WikimediaState.ts"
import { type Call, type Dropped, jsonReply, type Reply } from "./wire.ts"
import { answerX } from "./x/router.ts"
import { XState } from "./x/XState.ts"

export interface Simulator {
  /** Rejects if the connection is dropped before the reply; the body errors if it is cut. */
  readonly handler: (request: Request) => Promise<Response>
  readonly control: Control
  /** Bluesky: connections to it are WebSockets. */
  readonly jetstream: Jetstream
}

/** Runs until the scope closes, on the caller's clock. The same seed gives the same bytes. */
export const make = (options: {
  readonly seed: number
  readonly settings?: SettingsPatch
}): Effect.Effect<Simulator, never, Scope.Scope> =>
  Effect.gen(function* () {
    const settings = applyPatch(defaultSettings(), options.settings ?? {})
    const world = new World({ settings, seed: options.seed })
    const x = new XState(world)
    const firehose = new FirehoseState(world, yield* world.now)
    const wikimedia = new WikimediaState(world)
    const feeds = new FeedsState(world, options.seed + 5)
    const control = new Control(world, { x, firehose, wikimedia, feeds })
    const jetstream = new Jetstream()
    yield* startFeed(world, options.seed, {
      x: (payload, now) => x.publish(payload, now),
      firehose: (payload, now) => firehose.publish(payload, now),
      bluesky: (payload, now) => jetstream.publish(payload, now),
      wikimedia: (payload, now) => wikimedia.publish(payload, now),
      feeds: (payload, now) => feeds.publish(payload, now)
    })

    const answer = (request: Request): Effect.Effect<Reply, Dropped> =>
      Effect.gen(function* () {
        const body = yield* Effect.promise(() => request.text())
        const call = toCall(request, body, yield* world.now)
        if (/^\/2(\/|$)/.test(call.path)) return yield* answerX(x, call)
        if (/^\/v1(\/|$)/.test(call.path)) return yield* answerFirehose(firehose, call)
        if (/^\/(xrpc|control\/bluesky)\//.test(call.path)) return answerBluesky(jetstream, call)
        if (/^\/v2(\/|$)/.test(call.path)) return yield* answerWikimedia(wikimedia, call)
        if (/^\/feeds(\/|$)/.test(call.path)) return yield* answerFeeds(feeds, call)
        if (/^\/control(\/|$)/.test(call.path)) return yield* answerControl(control, call)
        return jsonReply(404, {
          message:
            "Unknown path: X is under /2, Firehose under /v1, Wikimedia under /v2, feeds under /feeds, and the simulator's state, settings and faults under /control"
        })
      }).pipe(
        // A bug of the simulator must not look like an injected fault.
        Effect.catchAllDefect((defect) =>
          Effect.as(
            Effect.logError(`${request.method} ${request.url} failed`, defect),
            jsonReply(500, { message: "The simulator failed: see its log" })
          )
        )
      )

    const runtime = yield* Effect.runtime()
    const run = yield* FiberSet.makeRuntimePromise()
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(
        Effect.sync(() => jetstream.close()),
        control.close
      )
    )

    const handler = async (request: Request): Promise<Response> => {
      const { status, headers, body } = await run(answer(request))
      if (body === null || typeof body === "string") return new Response(body, { status, headers })
      const bytes = Stream.interruptWhen(body, aborted(request))
      // No prefetch: an error must not overtake the bytes before it.
      return new Response(Stream.toReadableStreamRuntime(bytes, runtime, { strategy: { highWaterMark: 0 } }), {
        status,
        headers
      })
    }
    return { handler, control, jetstream }
  })

// ---- helpers ----

const toCall = (request: Request, body: string, now: number): Call => {
  const { pathname, searchParams } = new URL(request.url)
  return { method: request.method, path: pathname, query: searchParams, headers: request.headers, body, now }
}

/** Fails with the abort reason. Keeps a reference to the request: on Node, a collected request's signal never fires. */
const aborted = (request: Request): Effect.Effect<never, unknown> =>
  Effect.async((resume) => {
    const abort = () => resume(Effect.fail(request.signal.reason))
    if (request.signal.aborted) abort()
    else request.signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => request.signal.removeEventListener("abort", abort))
  })
