/** GET posts by id. */
import type { JsonObject } from "../../core/text/json.ts"
import { jsonReply, type Reply } from "../wire.ts"
import type { PostState } from "./Posts.ts"
import { invalidRequest, missingPost } from "./problems.ts"
import type { XCall } from "./XCall.ts"

export const lookUpPosts = ({ state, call, refuse }: XCall): Reply => {
  const { settings } = state.world
  const text = call.query.get("ids") ?? ""
  const ids = [...new Set(text.split(","))]
  const invalid = ids.find((id) => !/^[0-9]{1,19}$/.test(id))
  if (invalid !== undefined) {
    const message = `The \`ids\` query parameter value [${invalid}] is not valid`
    return invalidRequest(settings, { message, parameters: { ids: [invalid] } })
  }
  if (ids.length > MAX_IDS) return refuse("ids", `size must be between 1 and ${MAX_IDS}`)
  const fields = new Set([...DEFAULT_FIELDS, ...(call.query.get("tweet.fields") ?? "").split(",")])
  const data: Array<JsonObject> = []
  const errors: Array<unknown> = []
  for (const id of ids) {
    const post = state.postsById.find(id)
    if (post === undefined || post.state === "deleted" || post.state === "protected") {
      errors.push(missingPost(settings, id, post?.state === "protected"))
      continue
    }
    state.usage.recordRead(id, call.now)
    const shown = Object.entries(shownAs(id, post)).filter(([name]) => fields.has(name))
    data.push(Object.fromEntries(shown))
  }
  return jsonReply(200, { ...(data.length > 0 && { data }), ...(errors.length > 0 && { errors }) })
}

// ---- helpers ----

const MAX_IDS = 100

const DEFAULT_FIELDS = ["id", "text", "edit_history_tweet_ids"]

const shownAs = (
  id: string,
  { state, data }: { readonly state: PostState; readonly data: JsonObject }
): JsonObject => ({
  ...data,
  edit_history_tweet_ids: state === "edited" ? [id, String(BigInt(id) + 1n)] : [id],
  ...(state === "withheld" && { withheld: { copyright: false, country_codes: ["XX"] } })
})
