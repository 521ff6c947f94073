/** Reads events of every platform, each in the form in which its platform streams it. */
import { Either, Predicate } from "effect"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import { isTooDeep, MAX_DEPTH } from "../../core/syntax/json.ts"
import type { Language } from "../../core/syntax/language.ts"

/** A well-formed event whose fields are not read yet. */
export interface CheckedEvent {
  readonly language: Language
  readonly platformPostId: string
  readonly payload: Record<string, unknown>
}

export interface LocalEvent extends CheckedEvent {
  readonly fields: PlatformEvent
}

export interface EventReader {
  /** Left: what the event lacks. */
  readonly check: (data: unknown) => Either.Either<CheckedEvent, string>
  /** Right for every event that passes `check`. `now` is in milliseconds. */
  readonly decode: (data: unknown, now: number) => Either.Either<LocalEvent, string>
}

/** `digest` names an event that has no id of its own. */
export const eventReader = (languages: ReadonlyArray<Language>, digest: (text: string) => string): EventReader => {
  const notAnEvent = `Is not an event: ${languages.map(({ events }) => events.shape).join(", ")}`

  const check: EventReader["check"] = (data) => {
    const language = Predicate.isRecord(data) ? languages.find(({ events }) => events.recognizes(data)) : undefined
    if (language === undefined || !Predicate.isRecord(data)) return Either.left(notAnEvent)
    if (isTooDeep(data)) return Either.left(`Is nested more than ${MAX_DEPTH} levels deep`)
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
