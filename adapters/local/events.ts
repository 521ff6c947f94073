/** Reads published events in the formats of all platforms. */
import { Either, Predicate } from "effect"
import type { Language } from "../../core/languages/Language.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import { isTooDeep, MAX_DEPTH } from "../../core/text/json.ts"

/** A well-formed event, before its fields are read. */
export interface CheckedEvent {
  readonly language: Language
  readonly platformPostId: string
  readonly payload: Record<string, unknown>
}

export interface LocalEvent extends CheckedEvent {
  readonly fields: PlatformEvent
}

export interface EventReader {
  /** Left: why it is not an event. */
  readonly check: (data: unknown) => Either.Either<CheckedEvent, string>
  /** Right for every event that passes `check`. `now` is in milliseconds. */
  readonly decode: (data: unknown, now: number) => Either.Either<LocalEvent, string>
}

/** `digest` makes the id of an event without one. */
export const eventReader = (languages: ReadonlyArray<Language>, digest: (text: string) => string): EventReader => {
  const notAnEvent = `Not an event: ${languages.map(({ events }) => events.shape).join(", ")}`

  const check: EventReader["check"] = (data) => {
    const [language, other] = Predicate.isRecord(data) ? languages.filter(({ events }) => events.recognizes(data)) : []
    if (language === undefined || !Predicate.isRecord(data)) return Either.left(notAnEvent)
    if (other !== undefined) {
      return Either.left(
        `Could be an event of ${language.id} or of ${other.id}: send two events, each with its own fields`
      )
    }
    if (isTooDeep(data)) return Either.left(`Nested more than ${MAX_DEPTH} levels deep`)
    return Either.map(language.events.idOf(data, digest), (platformPostId) => ({
      language,
      platformPostId,
      payload: data
    }))
  }

  const decode: EventReader["decode"] = (data, now) =>
    Either.flatMap(check(data), (event) =>
      Either.map(event.language.events.read(data, now), (fields) => ({ ...event, fields }))
    )

  return { check, decode }
}
