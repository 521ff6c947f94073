/** Long work in turns: generators that yield after a little work, so that the rest of the process can run in between. */
import { Effect, FiberRef } from "effect"

export const STEPS_PER_TURN = 200_000

/** Yields at the end of each turn, which takes well under a millisecond, and returns the result. */
export type Turns<A> = Generator<void, A>

/** Divides work into turns. One step takes about a nanosecond. */
export class Pace {
  private readonly stepsPerTurn: number
  private left: number

  constructor(stepsPerTurn = STEPS_PER_TURN) {
    this.stepsPerTurn = stepsPerTurn
    this.left = stepsPerTurn
  }

  /** Whether the turn ends with this piece of work. */
  endsTurn(steps: number): boolean {
    this.left -= steps
    if (this.left > 0) return false
    this.left = this.stepsPerTurn
    return true
  }
}

/** Limits work to a number of turns. */
export class TurnBudget {
  private left: number

  constructor(turns: number) {
    this.left = turns
  }

  /** `undefined` if the budget is used up before the work is done. */
  *run<A>(work: Turns<A>): Turns<A | undefined> {
    if (this.left <= 0) return undefined
    let turn = work.next()
    for (; turn.done !== true; turn = work.next()) {
      if (this.left-- <= 0) return undefined
      yield
    }
    return turn.value
  }
}

/** Runs all turns at once. */
export const finish = <A>(turns: Turns<A>): A => {
  let turn = turns.next()
  while (turn.done !== true) turn = turns.next()
  return turn.value
}

/** Runs the turns, and yields to other fibers every few milliseconds. `yieldIfDue`: from `yieldRegularly`. */
export const inTurns = <A>(turns: Turns<A>, yieldIfDue?: Effect.Effect<void>): Effect.Effect<A> =>
  Effect.gen(function* () {
    const work = begun++
    // Many callers can start in the same turn of the event loop.
    if (yieldIfDue === undefined) yield* yieldIfLong(work)
    const giveWay = yieldIfDue ?? (yield* yieldRegularlyFrom(work))
    const meter = yield* FiberRef.get(currentMeter)
    const run = () => {
      const startedAt = performance.now()
      const turn = turns.next()
      meter.seconds += (performance.now() - startedAt) / 1_000
      return turn
    }
    let turn = run()
    while (turn.done !== true) {
      yield* giveWay
      turn = run()
    }
    return turn.value
  })

/** Reports how long the turns of the effect took, however it ends. */
export const metered = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  report: (seconds: number) => Effect.Effect<void>
): Effect.Effect<A, E, R> =>
  withMeter((workedSeconds) =>
    Effect.ensuring(
      effect,
      Effect.suspend(() => report(workedSeconds()))
    )
  )

/** Tells the effect how long its turns took so far, without the time that it waited. They count for an outer meter, too. */
export const withMeter = <A, E, R>(use: (workedSeconds: () => number) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(FiberRef.get(currentMeter), (outer) => {
    const meter = { seconds: 0 }
    return Effect.locally(
      Effect.suspend(() => use(() => meter.seconds)),
      currentMeter,
      meter
    ).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          outer.seconds += meter.seconds
        })
      )
    )
  })

/**
 * Gives an effect to run between two pieces of work: once `MAX_MILLIS` have passed, it lets others go on before. So any
 * number of callers together hold the loop as long as one.
 */
export const yieldRegularly: Effect.Effect<Effect.Effect<void>> = Effect.suspend(() => yieldRegularlyFrom(begun++))

/** Whose work a fiber does. Works of one party come one after the other, those of several parties take turns. */
export const currentParty: FiberRef.FiberRef<string> = FiberRef.unsafeMake("")

/** Whether this turn of the event loop has lasted for long, as far as it is known: since the first call in it. */
export const isTurnLong = (): boolean => {
  const now = performance.now()
  if (turnStartedAt === undefined) {
    turnStartedAt = now
    setImmediate(() => {
      turnStartedAt = undefined
    })
  }
  return now - turnStartedAt > LONG_MILLIS
}

/**
 * Before something short that others may begin in the same turn of the event loop, hundreds at a time: undefined, or
 * what to wait for. Those that wait go on one after the other, in order, in turns that are not long yet, and before work
 * that takes some milliseconds.
 */
export const roomInTurn = (): Promise<void> | undefined =>
  short.length === 0 && !isTurnLong() ? undefined : turnWithRoom()

/** Like `roomInTurn`, for what takes some milliseconds: of callers that ask for it at the same time, one goes on per turn. */
export const turnWithRoom = (): Promise<void> =>
  new Promise((resume) => {
    short.push(resume)
    serveInNextTurn()
  })

export const nextTurn = (): Promise<void> => new Promise((resume) => setImmediate(resume))

/** Before work that takes some milliseconds: callers that were resumed in the same turn do it one after the other. */
export const yieldIfTurnIsLong: Effect.Effect<void> = Effect.suspend(() => yieldIfLong(begun++))

// ---- helpers ----

let turnStartedAt: number | undefined

/** Requests that wait for room in a turn. */
const short: Array<() => void> = []

/** Pieces of long work that wait, by party in the order of their turns, and the oldest work of each first. */
const long = new Map<string, Array<Piece>>()

interface Piece {
  readonly work: number
  readonly resume: () => void
}

let begun = 0
let isServing = false

const nextPiece = (work: number): Effect.Effect<void> =>
  Effect.flatMap(FiberRef.get(currentParty), (party) =>
    Effect.promise(
      () =>
        new Promise((resume) => {
          const waiting = long.get(party) ?? []
          const at = waiting.findLastIndex((other) => other.work < work)
          long.set(party, waiting.toSpliced(at + 1, 0, { work, resume }))
          serveInNextTurn()
        })
    )
  )

const yieldIfLong = (work: number): Effect.Effect<void> =>
  Effect.suspend(() => (isTurnLong() ? nextPiece(work) : Effect.void))

const yieldRegularlyFrom = (work: number): Effect.Effect<Effect.Effect<void>> =>
  Effect.map(Effect.clock, (clock) => {
    const now = () => clock.unsafeCurrentTimeMillis()
    let since = now()
    const next = Effect.map(nextPiece(work), () => {
      since = now()
    })
    return Effect.suspend(() => (now() - since < MAX_MILLIS ? Effect.void : next))
  })

const serveInNextTurn = (): void => {
  if (isServing) return
  isServing = true
  setImmediate(serve)
}

/** In each turn: what is short while there is room, then one piece of long work. */
const serve = (): void => {
  if (short.length > 0 && !isTurnLong()) {
    short.shift()?.()
    // After what was resumed.
    queueMicrotask(serve)
    return
  }
  for (const [party, [piece, ...others]] of long) {
    long.delete(party)
    if (others.length > 0) long.set(party, others)
    piece?.resume()
    break
  }
  isServing = false
  if (short.length + long.size > 0) serveInNextTurn()
}

/** Of a turn of the event loop. Less than a large statement or answer takes. */
const LONG_MILLIS = 4

/** Sums up the turns of a fiber. */
const currentMeter = FiberRef.unsafeMake({ seconds: 0 })

/** How long one caller may block the process. Short: a request of another one waits for its turn several times. */
const MAX_MILLIS = 2
