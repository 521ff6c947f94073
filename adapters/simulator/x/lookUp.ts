/** GET posts by id, and what became of posts: deleted, withheld, of a protected account, or edited. */
import { Schema } from "effect"
import { type JsonObject, objectOf } from "../../../core/text/json.ts"
import { jsonReply, type Reply } from "../wire.ts"
import { invalidRequest, missingPost } from "./problems.ts"
import type { XCall } from "./XCall.ts"

const PostState = Schema.Literal("present", "deleted", "withheld", "protected", "edited")
export type PostState = typeof PostState.Type

/** The body of POST /control/x/posts. */
export const PostChange = Schema.Struct({
  ids: Schema.Array(Schema.String.pipe(Schema.pattern(/^[0-9]{1,19}$/))),
  state: PostState
})

/** Published posts by id, oldest first. */
export class Posts {
  private readonly data = new Map<string, JsonObject>()
  private readonly states = new Map<string, Exclude<PostState, "present">>()

  add(id: string, payload: JsonObject): void {
    this.data.set(id, objectOf(payload["data"]) ?? {})
    for (const oldest of this.data.keys()) {
      if (this.data.size <= MAX_POSTS) break
      this.data.delete(oldest)
      this.states.delete(oldest)
    }
  }

  /** Returns how many of the posts are known. */
  change({ ids, state }: typeof PostChange.Type): number {
    const known = ids.filter((id) => this.data.has(id))
    for (const id of known) {
      if (state === "present") this.states.delete(id)
      else this.states.set(id, state)
    }
    return known.length
  }

  find(id: string): { readonly state: PostState; readonly data: JsonObject } | undefined {
    const data = this.data.get(id)
    return data === undefined ? undefined : { data, state: this.states.get(id) ?? "present" }
  }
}

export const lookUpPosts = ({ state, call, headers }: XCall): Reply => {
  const { settings } = state.world
  const text = call.query.get("ids") ?? ""
  const ids = [...new Set(text.split(","))]
  const refuse = (name: string, message: string, value: string) =>
    invalidRequest(settings, { message, parameters: { [name]: [value] } }, headers)
  const invalid = ids.find((id) => !/^[0-9]{1,19}$/.test(id))
  if (invalid !== undefined) {
    return refuse("ids", `The \`ids\` query parameter value [${invalid}] is not valid`, invalid)
  }
  if (ids.length > MAX_IDS) return refuse("ids", `size must be between 1 and ${MAX_IDS}`, text)
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
  return jsonReply(200, { ...(data.length > 0 && { data }), ...(errors.length > 0 && { errors }) }, headers)
}

// ---- helpers ----

const MAX_POSTS = 100_000
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
