/** The author, text and link of a Bluesky post, for a reader. */
import { Either } from "effect"
import type { EventSummary } from "../expression/eventFields.ts"
import { Post } from "./Post.ts"

export const blueskySummary = (record: unknown): EventSummary =>
  Either.match(Post.of(record), {
    onLeft: () => ({}),
    onRight: (post) => {
      const [did, handle] = post.account(post.did)
      return {
        author: handle === undefined ? (did ?? "") : `@${handle}`,
        text: post.text,
        ...(isLinkable(post) && { link: `https://bsky.app/profile/${post.did}/post/${post.rkey}` })
      }
    }
  })

// ---- helpers ----

const isLinkable = ({ did, rkey }: Post): boolean => /^did:[\w:.%-]+$/.test(did) && /^[\w.~:-]+$/.test(rkey)
