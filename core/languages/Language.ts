/** The part of a platform that needs no network: its filter language and its event format. */
import type { Either, Schema } from "effect"
import type { FilterEdits } from "../syntax/edits/FilterEdits.ts"
import type { Checked } from "../syntax/expression/checked.ts"
import type { EventSummary, PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { FieldNames } from "../syntax/expression/FieldNames.ts"
import type { LanguageHelp } from "../syntax/help/page.ts"
import type { FixOptions } from "../syntax/issues/Report.ts"
import type { TranslationTarget } from "../syntax/translation/target.ts"
import type { ExampleEvents } from "../syntax/translation/witness/content.ts"
import type { Turns } from "../work/turns.ts"

export interface Language {
  readonly id: string
  /** Display name: `X`. */
  readonly name: string
  /** The name of the platform whose language its filters are written in, with other operators. */
  readonly writtenAs?: string
  /** Completes a sentence such as "Earshot watches X posts". */
  readonly watches: string
  /** `premium`: the platform limits the number of rules. */
  readonly ruleType: "premium" | "regular"
  /** Never throws. */
  readonly check: (text: string, options?: FixOptions) => Checked
  /** For a text that a caller sent: verifying its fixes takes many times as long as the check alone. */
  readonly checkInTurns: (text: string, options?: FixOptions) => Turns<Checked>
  readonly help: LanguageHelp
  readonly events: EventFormat
  readonly fieldNames: FieldNames
  /** Changes of single clauses, to explain a miss; `undefined` if the text is not a filter. Absent: no changes are offered. */
  readonly edits?: (text: string) => FilterEdits | undefined
  /** Absent: the language is not a translation target. */
  readonly target?: TranslationTarget
  /** The platform sends all events, and this server keeps those that match some rule. */
  readonly keepsOnlyMatches?: true
  /** Absent: translations from and to the language have no witnesses. */
  readonly examples?: ExampleEvents
}

/** The format of the records in a platform's stream. */
export interface EventFormat {
  /** For an error message: `an X post has "data" with "id" and "text"`. */
  readonly shape: string
  /** For the API documentation and client types. A struct; nothing is decoded with it. */
  readonly schema: Schema.Schema.AnyNoContext
  /** Only tests the top-level shape. `read` and `idOf` report further problems. */
  readonly recognizes: (record: Readonly<Record<string, unknown>>) => boolean
  /** Left: why the record is not an event. `now`, in milliseconds, replaces a missing time. */
  readonly read: (record: unknown, now: number) => Either.Either<PlatformEvent, string>
  /** Stable id, to deduplicate matches. `digest` makes the id from the content of an event without one. */
  readonly idOf: (record: unknown, digest: (text: string) => string) => Either.Either<string, string>
  /** In milliseconds: the creation time of a post, the match time of an update. */
  readonly timeOf: (record: unknown) => number | undefined
  /** For lists: a post's text, a page's title. */
  readonly titleOf: (record: unknown) => string | undefined
  readonly summaryOf: (record: unknown) => EventSummary
}
