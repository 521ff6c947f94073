/** Asks X what became of posts: deleted, withheld or edited. */
import { Effect } from "effect"
import type { PostLookUp, PostState } from "../../core/platforms/Platform.ts"
import { type JsonObject, objectsOf, textOf, textsOf } from "../../core/text/json.ts"
import type { Api } from "./api.ts"
import { problemIn } from "./problems.ts"

/** An interval of 0 turns it off. */
export const makeLookUp = (api: Api, intervalMillis: number): { readonly lookUp?: PostLookUp } =>
  intervalMillis === 0
    ? {}
    : {
        lookUp: {
          intervalMillis,
          batch: MAX_IDS,
          ask: (postIds) => {
            const ids = postIds.filter((id) => postIdPattern.test(id))
            return ids.length === 0 ? Effect.succeed(new Map()) : Effect.map(api.posts(ids), statesIn)
          }
        }
      }

// ---- helpers ----

/** X's limit per call. */
const MAX_IDS = 100

/** X refuses the whole call for one id of another form. */
const postIdPattern = /^[0-9]{1,19}$/

const statesIn = ({ data, errors }: JsonObject): ReadonlyMap<string, PostState> => {
  const states = new Map<string, PostState>()
  for (const post of objectsOf(data)) {
    const id = textOf(post["id"])
    if (id !== undefined) states.set(id, stateOf(id, post))
  }
  for (const error of objectsOf(errors)) {
    // Other errors are about parts of a post that X could not expand.
    const id = textOf(error["resource_type"]) === "tweet" ? textOf(error["resource_id"]) : undefined
    const state = missingStates[problemIn(error).kind]
    if (id !== undefined && state !== undefined && !states.has(id)) states.set(id, state)
  }
  return states
}

/** Not authorized: the author's account is protected or suspended. */
const missingStates: Readonly<Record<string, PostState>> = {
  "resource-not-found": "deleted",
  "not-authorized-for-resource": "withheld"
}

const stateOf = (id: string, post: JsonObject): PostState => {
  if (post["withheld"] !== undefined) return "withheld"
  return textsOf(post["edit_history_tweet_ids"]).some((version) => isNewer(version, id)) ? "edited" : "present"
}

/** Ids are numbers that grow with time, too large for a JavaScript number. */
const isNewer = (one: string, other: string): boolean =>
  one.length === other.length ? one > other : one.length > other.length
