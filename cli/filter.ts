/** Filters on the command line: reads them from an argument or standard input, and draws their issues. */
import { Effect, type Scope, Stream } from "effect"
import { draw } from "./drawing.ts"
import { issuesIn, UsageError } from "./failures.ts"
import { type OptionNames, optionFor } from "./optionNames.ts"
import type { Input } from "./replay.ts"
import { visible } from "./terminal.ts"

export interface FilterActions<E> {
  /** `-` is standard input. */
  readonly open: (path: string) => Effect.Effect<Input<E>, E, Scope.Scope>
}

/** For the help. There is no `@file` as in other programs: on X that is a valid filter. */
export const STDIN_HELP = "- reads it from standard input"

/** The filter; `-` reads it from standard input. */
export const filterText = <E>(actions: FilterActions<E>, given: string): Effect.Effect<string, E | UsageError> =>
  textOrInput(actions, given, { what: "a filter", max: MAX_CHARACTERS })

/** The text; `-` reads it from standard input. */
export const textOrInput = <E>(
  actions: FilterActions<E>,
  given: string,
  limit: TextLimit
): Effect.Effect<string, E | UsageError> =>
  given === "-"
    ? Effect.map(textIn(actions, given, limit), (text) => text.replace(/\r?\n$/, ""))
    : Effect.succeed(given)

/** What a text is for, and how long it may be. */
interface TextLimit {
  readonly what: string
  readonly max: number
}

/** The text of a file; `-` is standard input. */
export const textIn = <E>(
  { open }: FilterActions<E>,
  path: string,
  { what, max }: TextLimit
): Effect.Effect<string, E | UsageError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const input = yield* open(path)
      const decoder = new TextDecoder()
      let text = ""
      yield* Stream.runForEach(input.chunks, (chunk) => {
        text += decoder.decode(chunk, { stream: true })
        return text.length <= max
          ? Effect.void
          : new UsageError({
              message: `${input.name.replace(/^s/, "S")} is too long for ${what}: more than ${max} characters`
            })
      })
      return text + decoder.decode()
    })
  )

/** Draws the issues of a server's error. Empty if the error has none. */
export const drawRefusal = (
  details: Readonly<Record<string, unknown>>,
  filters: Readonly<Record<string, string>>
): string => {
  const issues = issuesIn(details)
  const ofFilters = Object.keys(filters).map((platform) => [`overrides.${platform}`, `--${platform}`])
  const options: OptionNames = { ...OPTIONS, ...Object.fromEntries(ofFilters) }
  const drawings = Object.entries(filters).flatMap(([platform, text]) => {
    const placed = issues.flatMap(({ path, span, message, expected, fix }) =>
      path === `overrides.${platform}` && span !== undefined
        ? [{ severity: "error" as const, code: "", span, message, ...(expected && { expected }), ...(fix && { fix }) }]
        : []
    )
    return placed.length === 0 ? [] : [`On ${platform}\n${draw(text, placed)}`]
  })
  const others = issues.flatMap(({ path, span, message }) =>
    span === undefined ? [`error: ${visible(optionFor(path, options) ?? path)}: ${visible(message)}`] : []
  )
  return [...others, ...drawings].join("\n\n")
}

// ---- helpers ----

const OPTIONS: OptionNames = { name: "--name", intent: "--intent", expected_version: "--expected-version" }

/** Above the limit of every platform. */
const MAX_CHARACTERS = 65_536
