/** Events of both platforms as a rule sees them. */
import type { Either } from "effect"
import type { PlatformId } from "../model/PlatformId.ts"
import type { PlatformEvent } from "./expression/eventFields.ts"
import { firehoseEvent, firehoseEventId, firehoseEventTime } from "./firehose/event.ts"
import { xEvent, xEventId, xEventTime } from "./x/event.ts"

/** A record of the platform's stream. Left says what it lacks. `now` is in milliseconds. */
export const readEvent = (platform: PlatformId, record: unknown, now: number): Either.Either<PlatformEvent, string> =>
  platform === "x" ? xEvent(record) : firehoseEvent(record, { now })

/** What a match is known by. `digest` names an event that has no id of its own: the same content is the same event. */
export const eventIdOf = (
  platform: PlatformId,
  record: unknown,
  digest: (text: string) => string
): Either.Either<string, string> => (platform === "x" ? xEventId(record) : firehoseEventId(record, digest))

/** The time that the event itself gives, in milliseconds: when the post was written, when the update matched. */
export const eventTimeOf = (platform: PlatformId, record: unknown): number | undefined =>
  platform === "x" ? xEventTime(record) : firehoseEventTime(record)
