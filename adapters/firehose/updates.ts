/** From an update of the stream to what was found. */
import { Effect, Either, Option } from "effect"
import type { Delivery } from "../../core/platforms/Platform.ts"
import { firehoseEventId } from "../../core/syntax/firehose/event.ts"
import { isTooDeep, jsonOf, MAX_DEPTH, objectOf, textOf, textsOf } from "../../core/syntax/json.ts"
import type { SseEvent } from "../http/sse.ts"

/** Left says what is wrong with it. `digest` names the page change: Firehose gives it no name. */
export const deliveryOf = (
  { id, data }: SseEvent,
  { digest, receivedAt }: { readonly digest: (text: string) => string; readonly receivedAt: number }
): Either.Either<Delivery, string> => {
  const update = objectOf(jsonOf(data))
  if (update === undefined) return Either.left("Is no JSON object")
  if (isTooDeep(update)) return Either.left(`Is nested more than ${MAX_DEPTH} levels deep`)
  // One update told of one rule before it told of all that were met; a page then comes once for each.
  const { tap_id: _, query_id, query_ids, ...payload } = update
  const platformRuleIds = textsOf(query_ids ?? [textOf(query_id)])
  if (platformRuleIds.length === 0) return Either.left("Names no rule")
  return Either.map(firehoseEventId(payload, digest), (platformPostId) => ({
    platformPostId,
    payload,
    platformRuleIds,
    cursor: Option.fromNullable(id),
    receivedAt,
    ack: Effect.void
  }))
}
