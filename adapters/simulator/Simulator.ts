/** Both platforms' own wire protocols behind one web-standard handler, faults included. No socket is needed. */
import { Effect, FiberSet, type Scope, Stream } from "effect"
import { Control } from "./Control.ts"
import { answerControl } from "./controlDoor.ts"
import { startFeed } from "./feed.ts"
import { FirehoseState } from "./firehose/FirehoseState.ts"
import { answerFirehose } from "./firehose/router.ts"
import { defaultSettings, patched, type SettingsPatch } from "./settings.ts"
import { World } from "./World.ts"
import { type Call, type Dropped, jsonReply, type Reply } from "./wire.ts"
import { answerX } from "./x/router.ts"
import { XState } from "./x/XState.ts"

export interface Simulator {
  /** Rejects where a server would drop the connection before it answers; a body errors where it would be cut. */
  readonly handler: (request: Request) => Promise<Response>
  readonly control: Control
}

/** Runs until the scope closes, on the clock of whoever makes it. The same seed gives the same bytes. */
export const make = (options: {
  readonly seed: number
  readonly settings?: SettingsPatch
}): Effect.Effect<Simulator, never, Scope.Scope> =>
  Effect.gen(function* () {
    const settings = patched(defaultSettings(), options.settings ?? {})
    const world = new World({ settings, seed: options.seed })
    const x = new XState(world)
    const firehose = new FirehoseState(world, yield* world.now)
    const control = new Control(world, x, firehose)
    yield* startFeed(world, options.seed, {
      x: (payload, now) => x.publish(payload, now),
      firehose: (payload, now) => firehose.publish(payload, now)
    })

    const answer = (request: Request): Effect.Effect<Reply, Dropped> =>
      Effect.gen(function* () {
        const body = yield* Effect.promise(() => request.text())
        const call = callOf(request, body, yield* world.now)
        if (/^\/2(\/|$)/.test(call.path)) return yield* answerX(x, call)
        if (/^\/v1(\/|$)/.test(call.path)) return yield* answerFirehose(firehose, call)
        if (/^\/control(\/|$)/.test(call.path)) return yield* answerControl(control, call)
        return jsonReply(404, {
          message:
            "The simulator plays X below /2 and Firehose below /v1; its state, settings and faults are below /control"
        })
      }).pipe(
        // Not to be taken for one of the faults that it plays.
        Effect.catchAllDefect((defect) =>
          Effect.as(
            Effect.logError(`${request.method} ${request.url} failed`, defect),
            jsonReply(500, { message: "The simulator itself failed: its log has the reason" })
          )
        )
      )

    const runtime = yield* Effect.runtime()
    const run = yield* FiberSet.makeRuntimePromise()
    yield* Effect.addFinalizer(() => control.hangUp)

    const handler = async (request: Request): Promise<Response> => {
      const { status, headers, body } = await run(answer(request))
      if (body === null || typeof body === "string") return new Response(body, { status, headers })
      const bytes = Stream.interruptWhen(body, aborted(request))
      // Nothing is read ahead: an error must not overtake the bytes before it.
      return new Response(Stream.toReadableStreamRuntime(bytes, runtime, { strategy: { highWaterMark: 0 } }), {
        status,
        headers
      })
    }
    return { handler, control }
  })

// ---- helpers ----

const callOf = (request: Request, body: string, now: number): Call => {
  const { pathname, searchParams } = new URL(request.url)
  return { method: request.method, path: pathname, query: searchParams, headers: request.headers, body, now }
}

/** Fails as the body of a fetch does. Holds the request: on Node, the signal of one that is collected never tells. */
const aborted = (request: Request): Effect.Effect<never, unknown> =>
  Effect.async((resume) => {
    const abort = () => resume(Effect.fail(request.signal.reason))
    if (request.signal.aborted) abort()
    else request.signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => request.signal.removeEventListener("abort", abort))
  })
