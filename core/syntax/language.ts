/** What a platform's filters and events are: everything about a platform that needs no network. */
import type { Either } from "effect"
import type { PlatformEvent } from "./expression/eventFields.ts"
import type { Expression } from "./expression/expression.ts"
import type { FieldNames } from "./expression/FieldNames.ts"
import type { LanguageHelp } from "./helpPage.ts"
import type { Issue } from "./issue.ts"
import type { TranslationTarget } from "./translation/target.ts"

/** A platform's filter language and event format. */
export interface Language {
  readonly id: string
  /** As people write it: `X`. */
  readonly name: string
  /** What the platform delivers, for a sentence such as "Earshot watches X posts". */
  readonly watches: string
  /** Never throws, whatever the text. */
  readonly check: (text: string) => Checked
  readonly help: LanguageHelp
  readonly events: EventFormat
  readonly fieldNames: FieldNames
  /** How clauses of other languages are written in this one. Absent: nothing is translated into it. */
  readonly target?: TranslationTarget
}

/** A rule that its platform accepts. */
export interface Understood {
  /**
   * Equal for two rules that differ only in spelling. A rule whose canonical text is longer than the platform allows
   * keeps its own text.
   */
  readonly canonical: string
  readonly expression: Expression
}

export interface Checked {
  readonly issues: ReadonlyArray<Issue>
  /** Present if and only if no issue is an error. */
  readonly rule: Understood | undefined
}

/** The records of a platform's stream. */
export interface EventFormat {
  /** For an error message: `an X post has "data" with "id" and "text"`. */
  readonly shape: string
  /** JSON Schema of an event, for the API's documentation. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Whether a record has the platform's top-level shape. `read` and `idOf` say what else it lacks. */
  readonly recognizes: (record: Readonly<Record<string, unknown>>) => boolean
  /** Left: what the record lacks. `now`, in milliseconds, stands in for a missing time. */
  readonly read: (record: unknown, now: number) => Either.Either<PlatformEvent, string>
  /** What a match is identified by. `digest` names an event that has no id of its own: same content, same event. */
  readonly idOf: (record: unknown, digest: (text: string) => string) => Either.Either<string, string>
  /** The event's own time in milliseconds: when the post was written, when the update matched. */
  readonly timeOf: (record: unknown) => number | undefined
  /** What a list shows of the event: a post's text, a page's title. */
  readonly titleOf: (record: unknown) => string | undefined
}
