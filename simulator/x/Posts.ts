/** The published posts, and what became of them: deleted, withheld, of a protected account, or edited. */
import { Schema } from "effect"
import { type JsonObject, objectOf } from "../../core/text/json.ts"

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

// ---- helpers ----

const MAX_POSTS = 100_000
