/** Progress on standard error: a bar that is redrawn in place, or without a terminal a line every ten seconds. */
import { Console, Effect, Option, Schedule, type Scope } from "effect"
import { counted } from "../core/text/counted.ts"

export interface Progress {
  readonly doneBytes: number
  readonly totalBytes: Option.Option<number>
  readonly events: number
  /** If something else is counted than events: `row`. */
  readonly counted?: string
  /** Undefined if they are not counted. */
  readonly matches: number | undefined
  readonly seconds: number
}

/** A terminal to draw on. */
export interface Screen {
  readonly columns: Effect.Effect<number>
  readonly write: (text: string) => Effect.Effect<void>
}

/** One line, shorter than the screen: a full line would wrap and could not be erased. */
export const draw = (progress: Progress, columns: number): string => {
  const figures = figuresOf(progress)
  const line = Option.match(shareDone(progress), {
    onNone: () => figures,
    onSome: (share) => {
      const width = Math.min(MAX_BAR_COLUMNS, columns - figures.length - 4)
      return `${width < 5 ? "" : bar(share, width)}${figures}`
    }
  })
  return line.slice(0, Math.max(columns - 1, 0))
}

export interface ProgressBar {
  /** Prints a line on standard error above the bar. */
  readonly print: (line: string) => Effect.Effect<void>
}

/** Shows the progress until the scope closes, then erases the bar. */
export const progressBar = (
  screen: Option.Option<Screen>,
  progress: Effect.Effect<Progress>
): Effect.Effect<ProgressBar, never, Scope.Scope> =>
  Effect.gen(function* () {
    if (Option.isNone(screen)) {
      const printFigures = Effect.flatMap(progress, (current) => Console.error(figuresOf(current).trimStart()))
      yield* Effect.forkScoped(Effect.schedule(printFigures, Schedule.spaced("10 seconds")))
      return { print: Console.error }
    }
    const { columns, write } = screen.value
    const show = Effect.gen(function* () {
      yield* write(`${ERASE}${draw(yield* progress, yield* columns)}`)
    })
    yield* Effect.addFinalizer(() => write(ERASE))
    yield* Effect.forkScoped(Effect.schedule(show, Schedule.spaced("100 millis")))
    return { print: (line) => Effect.zipRight(write(ERASE), Console.error(line)) }
  })

/** `12,345` */
export const count = (value: number): string => value.toLocaleString("en-US")

/** `1 match`, `12,345 matches` */
export const plural = (value: number, one: string, many?: string): string => counted(value, one, many, count)

/** `4.2 s`, `42 s`, `3 min 5 s`, `2 h 10 min` */
export const duration = (seconds: number): string => {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${count(Math.floor(whole / 3600))} h ${Math.floor((whole % 3600) / 60)} min`
}

// ---- helpers ----

const ERASE = "\r\u001b[K"

const MAX_BAR_COLUMNS = 30

const shareDone = ({ doneBytes, totalBytes }: Progress): Option.Option<number> =>
  Option.map(totalBytes, (total) => (total === 0 ? 1 : Math.min(1, doneBytes / total)))

/** ` 50%  12,345 events  3,086/s  87 matches  4.0 s left` */
const figuresOf = (progress: Progress): string => {
  const { events, counted = "event", matches, seconds } = progress
  const counters = [
    plural(events, counted),
    `${count(Math.round(seconds > 0 ? events / seconds : 0))}/s`,
    ...(matches === undefined ? [] : [plural(matches, "match", "matches")])
  ]
  return Option.match(shareDone(progress), {
    onNone: () => counters,
    onSome: (share) => [
      `${Math.floor(share * 100)}%`.padStart(4),
      ...counters,
      ...(share > 0 && share < 1 ? [`${duration((seconds / share) * (1 - share))} left`] : [])
    ]
  }).join("  ")
}

const bar = (share: number, width: number): string => {
  const full = Math.floor(share * width)
  return `[${"#".repeat(full)}${"-".repeat(width - full)}] `
}
