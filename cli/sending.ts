/** Sending the lines of a recorded stream: again where that may help, and without the bad ones where that is asked for. */
import { Data, Effect, Option, Schema } from "effect"
import { PlatformId } from "../core/model/PlatformId.ts"
import { NOT_LOCAL } from "../core/platforms/LocalFeed.ts"
import { bodyOf, type Line, MAX_LINE_BYTES } from "./lines.ts"
import { type ProgressBar, plural } from "./progress.ts"
import type { Remote, RemoteFailure } from "./remote.ts"

/** It came to an end before the input did. */
export class ReplayStopped extends Data.TaggedError("ReplayStopped")<{ readonly message: string }> {}

/** How far it got. */
export interface Tally {
  readonly accepted: Record<PlatformId, number>
  matches: number
  skipped: number
  doneBytes: number
  /** The last line that the server has taken in, or that was left out. */
  doneLine: number
}

export const eventsOf = ({ accepted }: Tally): number =>
  Object.values(accepted).reduce((sum, events) => sum + events, 0)

/** Sends lines in one request, and again for as long as that may help. */
export const sender = (options: {
  readonly remote: Remote
  readonly bar: ProgressBar
  readonly tally: Tally
  readonly skipBadLines: boolean
}) => {
  const { remote, bar, tally, skipBadLines } = options

  const publish = (
    lines: ReadonlyArray<Line>,
    tried = 1
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
          (failure) => isPassing(failure) && (tally.doneLine > 0 || failure._tag === "RemoteRefused"),
          (failure) => {
            if (tried === TRIES) return new ReplayStopped({ message: `${failure.message} (tried ${TRIES} times)` })
            const wait = Math.max(2 ** (tried - 1), Math.min(retryAfter(failure), 60))
            return bar
              .tell(`${failure.message}. Trying again in ${wait} s (try ${tried + 1} of ${TRIES})`)
              .pipe(Effect.zipRight(Effect.sleep(wait * 1000)), Effect.zipRight(publish(lines, tried + 1)))
          }
        )
      )

  /** The lines that the server refuses: when there are any, it has taken in none. */
  const attempt = (
    lines: ReadonlyArray<Line>
  ): Effect.Effect<ReadonlyArray<BadLine>, RemoteFailure | ReplayStopped> => {
    const tooLong = lines.filter((line) => line.isTooLong)
    if (tooLong.length > 0) return Effect.succeed(tooLong.map((line) => ({ line, problem: TOO_LONG })))
    return Effect.matchEffect(publish(lines), {
      onSuccess: ({ accepted, matches }) => {
        for (const [platform, events] of Object.entries(accepted)) {
          tally.accepted[platform] = (tally.accepted[platform] ?? 0) + events
        }
        tally.matches += matches
        return Effect.succeed([])
      },
      onFailure: (failure) => {
        const bad = badLines(failure, lines)
        if (bad.length > 0) return Effect.succeed(bad)
        return tally.doneLine === 0
          ? Effect.fail(failure)
          : new ReplayStopped({ message: `${failure.message}. ${leftAt(lines, tally)}` })
      }
    })
  }

  return (lines: ReadonlyArray<Line>) =>
    Effect.gen(function* () {
      let rest = lines
      while (rest.length > 0) {
        const bad = yield* attempt(rest)
        if (bad.length === 0) break
        if (!skipBadLines) return yield* new ReplayStopped({ message: refused(bad, lines, tally) })
        for (const { line, problem } of bad) {
          tally.skipped++
          if (tally.skipped <= MAX_TOLD) yield* bar.tell(`Left out line ${line.number}: ${problem}`)
          if (tally.skipped === MAX_TOLD) yield* bar.tell("Further lines that are left out are only counted")
        }
        const out = new Set(bad.map(({ line }) => line))
        rest = rest.filter((line) => !out.has(line))
      }
      const last = lines.at(-1)
      if (last === undefined) return
      tally.doneLine = last.number
      tally.doneBytes = last.end
    })
}

// ---- helpers ----

const TRIES = 5

/** Of the lines that are left out, so many are told one by one. */
const MAX_TOLD = 20

const Published = Schema.Struct({
  accepted: Schema.Record({ key: PlatformId, value: Schema.Number }),
  matches: Schema.Number
})

interface BadLine {
  readonly line: Line
  readonly problem: string
}

const TOO_LONG = `Is too long: at most ${MAX_LINE_BYTES} bytes are allowed`

/** Trying again may help. */
const isPassing = (failure: RemoteFailure): boolean =>
  failure._tag === "RemoteUnreachable" || failure.code === "unavailable"

const retryAfter = (failure: RemoteFailure): number =>
  failure._tag === "RemoteRefused" ? (failure.retryAfterSeconds ?? 0) : 0

const Issues = Schema.Struct({ issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })) })

/** The server counts the lines of the request. */
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

const refused = (bad: ReadonlyArray<BadLine>, lines: ReadonlyArray<Line>, { doneLine }: Tally): string => {
  const [first] = bad
  const more = bad.length > 1 ? ` (and ${plural(bad.length - 1, "more line")} of this request)` : ""
  const taken =
    doneLine === 0
      ? "Nothing was taken in"
      : `Nothing of ${range(lines)} was taken in, everything up to line ${doneLine} was`
  const remedy = first?.problem.endsWith(NOT_LOCAL) ? RUN_IN_PROCESS : "--skip-bad-lines leaves such lines out"
  return `Line ${first?.line.number ?? 0}: ${first?.problem ?? ""}${more}. ${taken}; ${remedy}`
}

const RUN_IN_PROCESS = "replay to a server on which the platform runs in process: one that has no credentials for it"

const leftAt = (lines: ReadonlyArray<Line>, { doneLine }: Tally): string =>
  `Everything up to line ${doneLine} was taken in, of ${range(lines)} perhaps a part; replaying again is safe, nothing is stored twice`

const range = (lines: ReadonlyArray<Line>): string => {
  const [first, last] = [lines[0]?.number ?? 0, lines.at(-1)?.number ?? 0]
  return first === last ? `line ${first}` : `lines ${first} to ${last}`
}
