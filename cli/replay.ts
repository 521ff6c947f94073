/** `earshot replay`: sends recorded events to a server, at full speed or at a given rate. */
import { Args, Command, Options } from "@effect/cli"
import { Clock, Console, Effect, Option, type Scope, Stream } from "effect"
import type { Language } from "../core/languages/Language.ts"
import { isGzip } from "../core/platforms/LocalFeed.ts"
import type { Line } from "../core/text/LineSplitter.ts"
import { eventLines } from "./lines.ts"
import { wholeNumberOption } from "./numberOption.ts"
import { count, duration, type Progress, plural, progressBar, type Screen } from "./progress.ts"
import { jsonOption, type Remote, urlOption } from "./remote.ts"
import { eventsOf, ReplayStopped, sender, type Tally } from "./sending.ts"

export interface Input<E> {
  /** For messages. */
  readonly name: string
  /** In bytes, if known in advance. */
  readonly size: Option.Option<number>
  /** A request never holds more lines than end in one chunk, so chunks should be small. */
  readonly chunks: Stream.Stream<Uint8Array, E>
}

export interface ReplayActions<E> {
  /** The configured server; `url` overrides the setting. */
  readonly remote: (url: Option.Option<string>) => Effect.Effect<Remote, E>
  /** Accepts shared events, as the operator. */
  readonly operatorRemote: (url: Option.Option<string>) => Effect.Effect<Remote, E>
  /** `-` is standard input. */
  readonly open: (path: string) => Effect.Effect<Input<E>, E, Scope.Scope>
  /** Standard error, if it is a terminal. */
  readonly screen: Option.Option<Screen>
}

export const replayCommand = <E>(actions: ReplayActions<E>, languages: ReadonlyArray<Language>) =>
  Command.make(
    "replay",
    {
      file: Args.text({ name: "file" }).pipe(
        Args.withDescription(
          "One event per line (NDJSON), of one or both platforms; - is standard input and must come after the options"
        )
      ),
      url: urlOption,
      shared: Options.boolean("shared").pipe(
        Options.withDescription(
          "Send the events to the rules of all accounts, as the operator: through the server that uses EARSHOT_DATA_DIR, or with the key in EARSHOT_OPERATOR_KEY"
        )
      ),
      rate: wholeNumberOption("rate", { min: 1, max: 1_000_000 }).pipe(
        Options.withDescription("Events per second (default: as fast as the server accepts them)"),
        Options.optional
      ),
      skipBadLines: Options.boolean("skip-bad-lines").pipe(
        Options.withDescription("Skip and count lines that the server rejects (default: stop at the first one)")
      ),
      json: jsonOption("Print the summary as JSON; after an interrupt it includes stopped_after_line")
    },
    (options) => replay(actions, languages, options)
  ).pipe(
    Command.withDescription(
      "Send recorded events to a server whose platforms run in process. They match the rules of your account only. It is safe to repeat a replay: no match is stored twice."
    )
  )

// ---- helpers ----

interface ReplayOptions {
  readonly file: string
  readonly url: Option.Option<string>
  readonly shared: boolean
  readonly rate: Option.Option<number>
  readonly skipBadLines: boolean
  readonly json: boolean
}

/** Per request. */
const MAX_LINES = 1_000

/** At a given rate: few enough to be cheap, enough to look steady. */
const REQUESTS_PER_SECOND = 10

/** At a given rate: a longer delay is not caught up. */
const MAX_BEHIND_SECONDS = 1

const replay = <E>(actions: ReplayActions<E>, languages: ReadonlyArray<Language>, options: ReplayOptions) =>
  Effect.gen(function* () {
    const remote = yield* (options.shared ? actions.operatorRemote : actions.remote)(options.url)
    const input = yield* actions.open(options.file)
    const accepted = Object.fromEntries(languages.map(({ id }) => [id, 0]))
    const tally: Tally = { accepted, matches: options.shared ? undefined : 0, skipped: 0, doneBytes: 0, doneLine: 0 }
    const start = yield* Clock.currentTimeMillis
    const seconds = Effect.map(Clock.currentTimeMillis, (now) => (now - start) / 1000)
    const progress = Effect.map(
      seconds,
      (passed): Progress => ({ ...tally, totalBytes: input.size, events: eventsOf(tally), seconds: passed })
    )

    yield* Effect.gen(function* () {
      const bar = yield* progressBar(actions.screen, progress)
      const send = sender({ remote, bar, tally, skipBadLines: options.skipBadLines })
      let stalledSeconds = 0
      // With a rate: waits until the next event is due, then sends all that are due by the next request.
      const dueLines = Option.match(options.rate, {
        onNone: () => Effect.succeed(MAX_LINES),
        onSome: (rate) =>
          Effect.gen(function* () {
            yield* Effect.sleep(Math.max(0, 1000 * (eventsOf(tally) / rate + stalledSeconds - (yield* seconds))))
            // After an outage of the server, the events that became due meanwhile are not sent in a burst.
            const now = yield* seconds
            const behind = now - stalledSeconds - eventsOf(tally) / rate
            if (behind > MAX_BEHIND_SECONDS) stalledSeconds += behind
            const due = Math.ceil((now - stalledSeconds + 1 / REQUESTS_PER_SECOND) * rate) - eventsOf(tally)
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

      const splitter = eventLines()
      let isFirst = true
      yield* Stream.runForEach(input.chunks, (chunk) => {
        if (isFirst && isGzip(chunk)) return new ReplayStopped({ message: gzipMessage(input.name, options.file) })
        isFirst = false
        return sendAll(splitter.push(chunk))
      })
      yield* sendAll(splitter.end())
    }).pipe(
      Effect.scoped,
      Effect.onInterrupt(() =>
        Effect.flatMap(seconds, (passed) =>
          options.json
            ? Console.log(jsonSummary(tally, passed, { stopped_after_line: tally.doneLine }))
            : Console.error(`Stopped. ${summary(tally, passed)}${resumeHint(options, tally)}`)
        )
      )
    )

    if (tally.doneLine === 0) {
      return yield* new ReplayStopped({ message: `There is no event in ${input.name}: expected one per line, as JSON` })
    }
    yield* Console.log((options.json ? jsonSummary : summary)(tally, yield* seconds))
  }).pipe(Effect.scoped)

const gzipMessage = (name: string, file: string): string => {
  const compressed = file === "-" ? "recording.gz" : quoted(file)
  return `Cannot replay ${name}: it is compressed with gzip; decompress it: zcat ${compressed} | npx earshot replay -`
}

const resumeHint = (options: ReplayOptions, { doneLine }: Tally): string => {
  if (doneLine === 0) return ""
  if (options.file === "-") return `\nTo resume, start with line ${doneLine + 1} of the input`
  const flags = [
    ...Option.toArray(options.url).map((url) => `--url ${quoted(url)} `),
    ...(options.shared ? ["--shared "] : []),
    ...Option.toArray(options.rate).map((rate) => `--rate ${rate} `),
    ...(options.skipBadLines ? ["--skip-bad-lines "] : [])
  ]
  return `\nTo resume: tail -n +${doneLine + 1} ${quoted(options.file)} | npx earshot replay ${flags.join("")}-`
}

const quoted = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

const summary = (tally: Tally, seconds: number): string => {
  const each = Object.entries(tally.accepted)
    .filter(([, events]) => events > 0)
    .map(([platform, events]) => `${platform} ${count(events)}`)
    .join(", ")
  const skipped = tally.skipped === 0 ? "" : `; ${plural(tally.skipped, "bad line")} skipped`
  const matches = tally.matches === undefined ? SHARED : plural(tally.matches, "match", "matches")
  return `Replayed ${plural(eventsOf(tally), "event")}${each === "" ? "" : ` (${each})`} in ${duration(seconds)}: ${matches}${skipped}`
}

const SHARED = "they match the rules of all accounts, so matches are not counted here"

const jsonSummary = ({ accepted, matches, skipped }: Tally, seconds: number, more = {}): string =>
  JSON.stringify({ accepted, matches, skipped, seconds, ...more })
