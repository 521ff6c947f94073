/** Turns an update of the stream into a delivery. */
import { Effect, Either, Option } from "effect"
import type { Delivery } from "../../core/platforms/Platform.ts"
import { firehoseEventId } from "../../core/syntax/firehose/event.ts"
import { isTooDeep, jsonOf, MAX_DEPTH, objectOf, textOf, textsOf } from "../../core/text/json.ts"
import { numberProblem } from "../../core/text/numbers.ts"
import type { SseEvent } from "../http/sse.ts"

/** Left is the reason why the update is not valid. `digest` makes the event id: Firehose has none for a page change. */
export const deliveryOf = (
  { id, data }: SseEvent,
  { digest, receivedAt }: { readonly digest: (text: string) => string; readonly receivedAt: number }
): Either.Either<Delivery, string> => {
  const update = objectOf(jsonOf(data))
  if (update === undefined) return Either.left("Not a JSON object")
  if (isTooDeep(update)) return Either.left(`Nested more than ${MAX_DEPTH} levels deep`)
  // Old updates have one rule in `query_id`, and a page comes once per rule. New ones list all rules in `query_ids`.
  const { tap_id: _, query_id, query_ids, ...payload } = update
  const platformRuleIds = textsOf(query_ids ?? [textOf(query_id)])
  if (platformRuleIds.length === 0) return Either.left("No rule ids")
  const reason = numberProblem(data)
  return Either.map(firehoseEventId(payload, digest), (platformPostId) => ({
    platformPostId,
    payload,
    ...(reason !== undefined && { damaged: { reason, text: data } }),
    platformRuleIds,
    cursor: Option.fromNullable(id),
    receivedAt,
    ack: Effect.void
  }))
}
