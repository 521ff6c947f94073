/** From a stream to those outside of Effect who take from it: what is read is what they take, and little more. */
import { Chunk, Data, Effect, type Exit, type Fiber, FiberId, Runtime, Stream } from "effect"

export interface Taking<A, E> {
  /** The next pieces; how the stream has ended when there are none. The stream begins with the first call. */
  readonly next: () => Promise<Chunk.NonEmptyChunk<A> | Exit.Exit<void, E | NothingTaken>>
  /** Interrupts the stream. */
  readonly leave: () => void
}

/** Pieces were there to be taken, and nobody came for them. */
export class NothingTaken extends Data.TaggedError("NothingTaken")<Record<never, never>> {}

/** Whoever takes nothing for this long while there is something to take is given up. */
export const PATIENCE = "2 minutes"

export const takingFrom = <A, E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<Taking<A, E>, never, R> =>
  Effect.map(Effect.runtime<R>(), (runtime) => {
    type Taken = Chunk.NonEmptyChunk<A> | Exit.Exit<void, E | NothingTaken>
    let fiber: Fiber.RuntimeFiber<void, E | NothingTaken> | undefined
    let taker: ((taken: Taken) => void) | undefined
    let offer: { readonly pieces: Chunk.NonEmptyChunk<A>; readonly taken: () => void } | undefined

    const give = (taken: Taken): void => {
      const waiting = taker
      taker = undefined
      waiting?.(taken)
    }

    const handOver = (pieces: Chunk.NonEmptyChunk<A>) =>
      Effect.suspend(() => {
        // The usual case, and the cheap one: somebody waits.
        if (taker !== undefined) return Effect.sync(() => give(pieces))
        return Effect.async<void>((resume) => {
          offer = { pieces, taken: () => resume(Effect.void) }
        }).pipe(Effect.timeoutFail({ duration: PATIENCE, onTimeout: () => new NothingTaken() }))
      })

    const start = () => {
      const running = Stream.runForEachChunk(stream, (pieces) =>
        Chunk.isNonEmpty(pieces) ? handOver(pieces) : Effect.void
      )
      const started = Runtime.runFork(runtime, running)
      started.addObserver((exit) => {
        offer = undefined
        give(exit)
      })
      return started
    }

    const next = () =>
      new Promise<Taken>((resolve) => {
        fiber ??= start()
        const ended = fiber.unsafePoll()
        if (offer !== undefined) {
          const { pieces, taken } = offer
          offer = undefined
          taken()
          resolve(pieces)
        } else if (ended !== null) {
          resolve(ended)
        } else {
          taker = resolve
        }
      })

    return { next, leave: () => fiber?.unsafeInterruptAsFork(FiberId.none) }
  })
