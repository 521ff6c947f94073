/** Unique posts of about 1.5 kB as delivered by X. Each matches one rule. */

import { Random } from "../../fixtures/distributions.ts"
import { makePost } from "../engine/workload/posts.ts"

export interface Post {
  readonly id: string
  /** Index of the rule it matches. */
  readonly rule: number
  readonly payload: Record<string, unknown>
}

export const RULES = 100

/** Ids are unique across calls. */
export const newPosts = (count: number): ReadonlyArray<Post> =>
  Array.from({ length: count }, () => {
    const id = String(FIRST_ID + BigInt(made++) * 65_536n)
    return { id, rule: random.below(RULES), payload: random.pick(payloads) }
  })

/** Distinct payloads. */
export const somePayloads = (count: number): ReadonlyArray<Post["payload"]> => payloads.slice(0, count)

// ---- helpers ----

const FIRST_ID = 1_800_000_000_000_000_000n
let made = 0

const random = new Random(11)

/** Annotations that X adds to a post. */
const context_annotations = ["Brand Vertical", "Interests and Hobbies", "Unified Twitter Taxonomy"].map((name, at) => ({
  domain: { id: String(45 + at), name, description: "Top level entities that describe an industry or a field" },
  entity: { id: `78197459675284${at}`, name: "Natural disasters" }
}))

const payloads = Array.from({ length: 2_000 }, (_, index) =>
  Object.assign(
    { context_annotations, matching_rules: [{ id: "1866112233445566701" }] },
    makePost(random, index).record
  )
)
