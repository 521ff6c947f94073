/** Filters on the command line: as they are given or from standard input, and drawn with what is wrong with them. */
import { Effect, Option, Schema, type Scope, Stream } from "effect"
import { ArgumentIssue } from "../core/model/Errors.ts"
import { draw } from "./drawing.ts"
import { WrongUsage } from "./failures.ts"
import type { Input } from "./replay.ts"
import { visible } from "./terminal.ts"

export interface FilterActions<E> {
  /** `-` is standard input. */
  readonly open: (path: string) => Effect.Effect<Input<E>, E, Scope.Scope>
}

/** For the help. Not `@file` for a file, as elsewhere: on X that is a filter. */
export const FROM_INPUT = "- reads it from standard input"

/** The filter that was meant: `-` stands for what comes on standard input. */
export const filterText = <E>({ open }: FilterActions<E>, given: string): Effect.Effect<string, E | WrongUsage> =>
  given === "-"
    ? Effect.scoped(
        Effect.gen(function* () {
          const input = yield* open("-")
          const decoder = new TextDecoder()
          let text = ""
          yield* Stream.runForEach(input.chunks, (chunk) => {
            text += decoder.decode(chunk, { stream: true })
            return text.length <= MOST_CHARACTERS
              ? Effect.void
              : new WrongUsage({
                  message: `Standard input is too long for a filter: more than ${MOST_CHARACTERS} characters`
                })
          })
          return (text + decoder.decode()).replace(/\r?\n$/, "")
        })
      )
    : Effect.succeed(given)

/** What a server says of the filters, drawn; empty when it is about something else. */
export const drawRefusal = (
  details: Readonly<Record<string, unknown>>,
  filters: Readonly<Record<string, string>>
): string => {
  const issues = Option.match(asIssues(details), { onNone: () => [], onSome: (known) => known.issues })
  const drawings = Object.entries(filters).flatMap(([platform, text]) => {
    const placed = issues.flatMap(({ path, span, message, expected, fix }) =>
      path === `overrides.${platform}` && span !== undefined
        ? [{ severity: "error" as const, code: "", span, message, ...(expected && { expected }), ...(fix && { fix }) }]
        : []
    )
    return placed.length === 0 ? [] : [`On ${platform}\n${draw(text, placed)}`]
  })
  const others = issues.flatMap(({ path, span, message }) =>
    span === undefined ? [`error: ${visible(path)}: ${visible(message)}`] : []
  )
  return [...others, ...drawings].join("\n\n")
}

// ---- helpers ----

/** More than any platform takes. */
const MOST_CHARACTERS = 65_536

const asIssues = Schema.decodeUnknownOption(Schema.Struct({ issues: Schema.Array(ArgumentIssue) }))
