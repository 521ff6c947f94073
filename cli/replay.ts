/** `earshot replay`: sends a recorded stream to a running Earshot, as fast as it takes it or at a given rate. */
import { Args, Command, Options } from "@effect/cli"
import { Clock, Console, Effect, Option, type Scope, Stream } from "effect"
import { isGzip } from "../core/platforms/LocalFeed.ts"
import { type Line, lineCutter } from "./lines.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { count, duration, type Progress, plural, progressBar, type Screen } from "./progress.ts"
import { jsonOption, type Remote, urlOption } from "./remote.ts"
import { eventsOf, ReplayStopped, sender, type Tally } from "./sending.ts"

/** What is replayed. */
export interface Input<E> {
  /** For messages. */
  readonly name: string
  /** In bytes, where it is known beforehand. */
  readonly size: Option.Option<number>
  /** Small ones: a request never holds more than the lines that end in one of them. */
  readonly chunks: Stream.Stream<Uint8Array, E>
}

export interface ReplayActions<E> {
  /** The server that the settings name; the address here goes before theirs. */
  readonly remote: (url: Option.Option<string>) => Effect.Effect<Remote, E>
  /** `-` is standard input. */
  readonly open: (path: string) => Effect.Effect<Input<E>, E, Scope.Scope>
  /** Standard error, if it is a terminal. */
  readonly screen: Option.Option<Screen>
}

export const replayCommand = <E>(actions: ReplayActions<E>) =>
  Command.make(
    "replay",
    {
      file: Args.text({ name: "file" }).pipe(
        Args.withDescription(
          "One event a line (NDJSON), of both platforms as they come; - is standard input, and comes after the options"
        )
      ),
      url: urlOption,
      rate: wholeNumberOption("rate", { min: 1, max: 1_000_000 }).pipe(
        Options.withDescription("Events per second, to replay as if live (default: as fast as the server takes them)"),
        Options.optional
      ),
      skipBadLines: Options.boolean("skip-bad-lines").pipe(
        Options.withDescription(
          "Leave out lines that the server refuses, and count them (default: the first one stops)"
        )
      ),
      json: jsonOption("Print the summary as JSON, also when it is stopped: then with stopped_after_line")
    },
    (options) => replay(actions, options)
  ).pipe(
    Command.withDescription(
      "Send recorded events to a running Earshot whose platforms run in process. Events that are there already change nothing, so a replay can be repeated."
    )
  )

// ---- helpers ----

interface ReplayOptions {
  readonly file: string
  readonly url: Option.Option<string>
  readonly rate: Option.Option<number>
  readonly skipBadLines: boolean
  readonly json: boolean
}

/** What one request holds at most. */
const MAX_LINES = 1_000

/** Requests a second when the rate is given: few enough to cost nothing, many enough to look steady. */
const BEATS = 10

/** Seconds that are made up for when the rate is given. */
const MOST_BEHIND = 1

const replay = <E>(actions: ReplayActions<E>, options: ReplayOptions) =>
  Effect.gen(function* () {
    const remote = yield* actions.remote(options.url)
    const input = yield* actions.open(options.file)
    const tally: Tally = { accepted: {}, matches: 0, skipped: 0, doneBytes: 0, doneLine: 0 }
    const start = yield* Clock.currentTimeMillis
    const seconds = Effect.map(Clock.currentTimeMillis, (now) => (now - start) / 1000)
    const progress = Effect.map(
      seconds,
      (passed): Progress => ({ ...tally, totalBytes: input.size, events: eventsOf(tally), seconds: passed })
    )

    yield* Effect.gen(function* () {
      const bar = yield* progressBar(actions.screen, progress)
      const send = sender({ remote, bar, tally, skipBadLines: options.skipBadLines })
      let away = 0
      // With a rate: waits until the next event is due, and then sends all that are by the next beat.
      const dueLines = Option.match(options.rate, {
        onNone: () => Effect.succeed(MAX_LINES),
        onSome: (rate) =>
          Effect.gen(function* () {
            yield* Effect.sleep(Math.max(0, 1000 * (eventsOf(tally) / rate + away - (yield* seconds))))
            // What was not sent while the server was away is not sent all at once then.
            const now = yield* seconds
            const behind = now - away - eventsOf(tally) / rate
            if (behind > MOST_BEHIND) away += behind
            const due = Math.ceil((now - away + 1 / BEATS) * rate) - eventsOf(tally)
            return Math.max(1, Math.min(MAX_LINES, due))
          })
      })
      const sendAll = (lines: ReadonlyArray<Line>) =>
        Effect.gen(function* () {
          for (let at = 0; at < lines.length; ) {
            const due = yield* dueLines
            yield* send(lines.slice(at, at + due))
            at += due
          }
        })

      const cutter = lineCutter()
      let isFirst = true
      yield* Stream.runForEach(input.chunks, (chunk) => {
        if (isFirst && isGzip(chunk)) return new ReplayStopped({ message: unpackFirst(input.name, options.file) })
        isFirst = false
        return sendAll(cutter.push(chunk))
      })
      yield* sendAll(cutter.end())
    }).pipe(
      Effect.scoped,
      Effect.onInterrupt(() =>
        Effect.flatMap(seconds, (passed) =>
          options.json
            ? Console.log(jsonSummary(tally, passed, { stopped_after_line: tally.doneLine }))
            : Console.error(`Stopped. ${summary(tally, passed)}${toGoOn(options, tally)}`)
        )
      )
    )

    if (tally.doneLine === 0) {
      return yield* new ReplayStopped({ message: `There is no event in ${input.name}: expected one a line, as JSON` })
    }
    yield* Console.log((options.json ? jsonSummary : summary)(tally, yield* seconds))
  }).pipe(Effect.scoped)

const unpackFirst = (name: string, file: string): string => {
  const packed = file === "-" ? "recording.gz" : quoted(file)
  return `Cannot replay ${name}: it is packed with gzip; unpack it on the way: zcat ${packed} | npx earshot replay -`
}

const toGoOn = (options: ReplayOptions, { doneLine }: Tally): string => {
  if (doneLine === 0) return ""
  if (options.file === "-") return `\nTo go on: begin with line ${doneLine + 1} of what was sent`
  const flags = [
    ...Option.toArray(options.url).map((url) => `--url ${quoted(url)} `),
    ...Option.toArray(options.rate).map((rate) => `--rate ${rate} `),
    ...(options.skipBadLines ? ["--skip-bad-lines "] : [])
  ]
  return `\nTo go on: tail -n +${doneLine + 1} ${quoted(options.file)} | npx earshot replay ${flags.join("")}-`
}

const quoted = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

const summary = (tally: Tally, seconds: number): string => {
  const each = Object.entries(tally.accepted)
    .map(([platform, events]) => `${platform} ${count(events)}`)
    .join(", ")
  const skipped = tally.skipped === 0 ? "" : `; ${plural(tally.skipped, "bad line")} left out`
  return `Replayed ${plural(eventsOf(tally), "event")}${each === "" ? "" : ` (${each})`} in ${duration(seconds)}: ${plural(tally.matches, "match", "matches")}${skipped}`
}

const jsonSummary = ({ accepted, matches, skipped }: Tally, seconds: number, more = {}): string =>
  JSON.stringify({ accepted, matches, skipped, seconds, ...more })
