/** Sends lines of recorded events, with retries, and skips rejected lines if asked to. */
import { Data, Effect, Option, Schema } from "effect"
import type { RemoteFailure } from "../api/calls.ts"
import { PlatformId } from "../core/model/PlatformId.ts"
import { NOT_LOCAL, TOO_LONG } from "../core/platforms/LocalFeed.ts"
import type { Line } from "../core/text/LineSplitter.ts"
import { bodyOf } from "./lines.ts"
import { type ProgressBar, plural } from "./progress.ts"
import type { Remote } from "./remote.ts"
import { visible } from "./terminal.ts"

export class ReplayStopped extends Data.TaggedError("ReplayStopped")<{ readonly message: string }> {}

/** Progress and results so far. */
export interface Tally {
  readonly accepted: Record<PlatformId, number>
  /** Undefined for shared events: the server does not count the matches of other accounts. */
  matches: number | undefined
  skipped: number
  doneBytes: number
  /** Number of the last line that was accepted or skipped. */
  doneLine: number
}

export const eventsOf = ({ accepted }: Tally): number =>
  Object.values(accepted).reduce((sum, events) => sum + events, 0)

/** Returns a function that sends lines in one request. */
export const sender = (options: {
  readonly remote: Remote
  readonly bar: ProgressBar
  readonly tally: Tally
  readonly skipBadLines: boolean
}) => {
  const { remote, bar, tally, skipBadLines } = options

  const publish = (
    lines: ReadonlyArray<Line>,
    attempt = 1
  ): Effect.Effect<typeof Published.Type, RemoteFailure | ReplayStopped> =>
    remote
      .request({
        method: "POST",
        path: "/local/events",
        body: { type: "application/x-ndjson", content: bodyOf(lines) },
        answer: Published
      })
      .pipe(
        Effect.catchIf(
          (failure) => isRetryable(failure) && (tally.doneLine > 0 || failure._tag === "RemoteRefused"),
          (failure) => {
            if (attempt === MAX_ATTEMPTS)
              return new ReplayStopped({ message: `${failure.message} (tried ${MAX_ATTEMPTS} times)` })
            const wait = Math.max(2 ** (attempt - 1), Math.min(retryAfter(failure), 60))
            return bar
              .print(`${failure.message}. Trying again in ${wait} s (try ${attempt + 1} of ${MAX_ATTEMPTS})`)
              .pipe(Effect.zipRight(Effect.sleep(wait * 1000)), Effect.zipRight(publish(lines, attempt + 1)))
          }
        )
      )

  /** Returns the rejected lines. If there are any, the server accepted none of the request. */
  const trySend = (
    lines: ReadonlyArray<Line>
  ): Effect.Effect<ReadonlyArray<BadLine>, RemoteFailure | ReplayStopped> => {
    const tooLong = lines.filter((line) => line.isTooLong)
    if (tooLong.length > 0) return Effect.succeed(tooLong.map((line) => ({ line, problem: TOO_LONG })))
    return Effect.matchEffect(publish(lines), {
      onSuccess: ({ accepted, matches }) => {
        for (const [platform, events] of Object.entries(accepted)) {
          tally.accepted[platform] = (tally.accepted[platform] ?? 0) + events
        }
        if (tally.matches !== undefined) tally.matches += matches
        return Effect.succeed([])
      },
      onFailure: (failure) => {
        const bad = badLines(failure, lines)
        if (bad.length > 0) return Effect.succeed(bad)
        return tally.doneLine === 0
          ? Effect.fail(failure)
          : new ReplayStopped({ message: `${failure.message}. ${describeProgress(lines, tally)}` })
      }
    })
  }

  return (lines: ReadonlyArray<Line>) =>
    Effect.gen(function* () {
      let rest = lines
      while (rest.length > 0) {
        const bad = yield* trySend(rest)
        if (bad.length === 0) break
        if (!skipBadLines) return yield* new ReplayStopped({ message: describeRejection(bad, lines, tally) })
        for (const { line, problem } of bad) {
          tally.skipped++
          if (tally.skipped <= MAX_LISTED) yield* bar.print(`Skipped line ${line.number}: ${visible(problem)}`)
          if (tally.skipped === MAX_LISTED) yield* bar.print("Further skipped lines are only counted")
        }
        const skipped = new Set(bad.map(({ line }) => line))
        rest = rest.filter((line) => !skipped.has(line))
      }
      const last = lines.at(-1)
      if (last === undefined) return
      tally.doneLine = last.number
      tally.doneBytes = last.end
    })
}

// ---- helpers ----

const MAX_ATTEMPTS = 5

/** Skipped lines printed one by one. */
const MAX_LISTED = 20

const Published = Schema.Struct({
  accepted: Schema.Record({ key: PlatformId, value: Schema.Number }),
  matches: Schema.Number
})

interface BadLine {
  readonly line: Line
  readonly problem: string
}

const isRetryable = (failure: RemoteFailure): boolean =>
  failure._tag === "RemoteUnreachable" ||
  failure.code === "unavailable" ||
  (failure.code === "resource_exhausted" && failure.retryAfterSeconds !== undefined)

const retryAfter = (failure: RemoteFailure): number =>
  failure._tag === "RemoteRefused" ? (failure.retryAfterSeconds ?? 0) : 0

const Issues = Schema.Struct({ issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })) })

/** The server numbers lines within the request. */
const badLines = (failure: RemoteFailure | ReplayStopped, lines: ReadonlyArray<Line>): ReadonlyArray<BadLine> => {
  if (failure._tag !== "RemoteRefused" || failure.code !== "invalid_argument") return []
  const details = Schema.decodeUnknownOption(Issues)(failure.details)
  return Option.match(details, {
    onNone: () => [],
    onSome: ({ issues }) =>
      issues.flatMap(({ path, message }) => {
        const line = lines[Number(/^line (\d{1,9})$/.exec(path)?.[1] ?? 0) - 1]
        return line === undefined ? [] : [{ line, problem: message }]
      })
  })
}

const describeRejection = (bad: ReadonlyArray<BadLine>, lines: ReadonlyArray<Line>, { doneLine }: Tally): string => {
  const [first] = bad
  const more = bad.length > 1 ? ` (and ${plural(bad.length - 1, "more line")} of this request)` : ""
  const accepted =
    doneLine === 0
      ? "No line was accepted"
      : `Accepted everything up to line ${doneLine}, and nothing of ${range(lines)}`
  const remedy = first?.problem.endsWith(NOT_LOCAL) ? RUN_IN_PROCESS : "--skip-bad-lines skips such lines"
  return `Line ${first?.line.number ?? 0}: ${first?.problem ?? ""}${more}. ${accepted}; ${remedy}`
}

const RUN_IN_PROCESS = "replay to a server without credentials for this platform, where it runs in process"

const describeProgress = (lines: ReadonlyArray<Line>, { doneLine }: Tally): string =>
  `Accepted everything up to line ${doneLine}, and possibly part of ${range(lines)}; replaying again is safe, nothing is stored twice`

const range = (lines: ReadonlyArray<Line>): string => {
  const [first, last] = [lines[0]?.number ?? 0, lines.at(-1)?.number ?? 0]
  return first === last ? `line ${first}` : `lines ${first} to ${last}`
}
