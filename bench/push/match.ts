/** Matches with a payload of typical size that contains its creation time. */

import type { Match } from "../../core/matches/Match.ts"
import { firstMatchIdAt, matchIdsAfter } from "../../core/model/Ids.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import { rules } from "../gateway/data.ts"
import { Payload } from "../../core/matches/Payload.ts"

let last = firstMatchIdAt(Date.now())

/** `at`: milliseconds since 1970, with fractions. */
export const matchAt = (at: number): Match => {
  const [id = last] = matchIdsAfter(last, 1)
  const [rule] = rules
  if (rule === undefined) throw new Error("The benchmark has no rules")
  last = id
  return {
    id,
    rule_id: rule.id,
    rule_version: 1,
    created_at: Timestamp.fromMillis(at),
    platform: "x",
    platform_post_id: id,
    payload: Payload.of({ data: { id, text: "Felt a strong earthquake just now. ".repeat(8), lang: "en" }, at })
  }
}
