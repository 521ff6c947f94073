/** Events as the platforms stream them: an X v2 post, a Firehose update. */
import { Either, Predicate } from "effect"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { eventIdOf, readEvent } from "../../core/syntax/event.ts"
import type { PlatformEvent } from "../../core/syntax/expression/eventFields.ts"
import { isDeep, MOST_LEVELS } from "../../core/syntax/json.ts"

/** An event that is as it should be, and not looked into yet. */
export interface CheckedEvent {
  readonly platform: PlatformId
  readonly platformPostId: string
  readonly payload: Record<string, unknown>
}

export interface LocalEvent extends CheckedEvent {
  readonly fields: PlatformEvent
}

/** Left says what is missing. `digest` names an event that has no id of its own. */
export const checkEvent = (data: unknown, digest: (text: string) => string): Either.Either<CheckedEvent, string> => {
  if (!Predicate.isRecord(data) || !("data" in data || "document" in data)) {
    return Either.left(
      'Is no event: an X post has "data" with "id" and "text", a Firehose update has "document" with "url"'
    )
  }
  if (isDeep(data)) return Either.left(`Is nested more than ${MOST_LEVELS} levels deep`)
  const platform = "data" in data ? "x" : "firehose"
  return Either.map(eventIdOf(platform, data, digest), (platformPostId) => ({
    platform,
    platformPostId,
    payload: data
  }))
}

/** Right for every event that `checkEvent` lets pass. `now` is in milliseconds. */
export const decodeEvent = (
  data: unknown,
  digest: (text: string) => string,
  now: number
): Either.Either<LocalEvent, string> =>
  Either.flatMap(checkEvent(data, digest), (event) =>
    Either.map(readEvent(event.platform, data, now), (fields) => ({ ...event, fields }))
  )
