/** Matches with a payload of typical size that contains its creation time. */

import type { Match } from "../../core/matches/Match.ts"
import { firstMatchIdAt, fromUuid, matchIdsAfter } from "../../core/model/Ids.ts"
import { makeSecret } from "../../core/model/secretText.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import { Payload } from "../../core/matches/Payload.ts"

/** A valid key. */
export const KEY: string = makeSecret((length) => Uint8Array.from({ length }, (_, i) => i * 7))

const rule_id = fromUuid("rule", "01934f00-0000-7000-8000-000000000001")

let last = firstMatchIdAt(Date.now())

/** `at`: milliseconds since 1970, with fractions. */
export const matchAt = (at: number): Match => {
  const [id = last] = matchIdsAfter(last, 1)
  last = id
  return {
    id,
    rule_id,
    rule_version: 1,
    created_at: Timestamp.fromMillis(at),
    platform: "x",
    platform_post_id: id,
    payload: Payload.of({ data: { id, text: "Felt a strong earthquake just now. ".repeat(8), lang: "en" }, at })
  }
}
