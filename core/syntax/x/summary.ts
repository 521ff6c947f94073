/** The author, text and link of a post, for a reader. */
import { objectOf, textOf } from "../../text/json.ts"
import type { EventSummary } from "../expression/eventFields.ts"
import { Post } from "./Post.ts"

/** A retweet has the whole text of its original. */
export const xSummary = (record: unknown): EventSummary => {
  const data = objectOf(objectOf(record)?.["data"])
  if (data === undefined) return {}
  const post = new Post(data, objectOf(objectOf(record)?.["includes"]) ?? {})
  const username = textOf(post.author?.["username"])
  const author = username === undefined ? textOf(data["author_id"]) : `@${username}`
  const id = textOf(data["id"]) ?? ""
  return {
    ...(author !== undefined && { author }),
    text: post.ownTexts().join("\n"),
    ...(/^\d+$/.test(id) && { link: `https://x.com/i/status/${id}` })
  }
}
