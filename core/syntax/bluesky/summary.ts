/** The author, text and link of a Bluesky post, for a reader. */
import type { EventSummary } from "../expression/eventFields.ts"
import { Post } from "./Post.ts"

export const blueskySummary = (record: unknown): EventSummary => {
  const post = Post.of(record)
  if (typeof post === "string") return {}
  const [did, handle] = post.account(post.did)
  return {
    author: handle === undefined ? (did ?? "") : `@${handle}`,
    text: post.text,
    ...(isLinkable(post) && { link: `https://bsky.app/profile/${post.did}/post/${post.rkey}` })
  }
}

// ---- helpers ----

const isLinkable = ({ did, rkey }: Post): boolean => /^did:[\w:.%-]+$/.test(did) && /^[\w.~:-]+$/.test(rkey)
