/** Translates a clause of X or Firehose to Bluesky. */
import { blueskyDialect } from "../bluesky/operators.ts"
import { languageCode } from "../bluesky/Post.ts"
import type { ClauseTranslation } from "./clauseTranslation.ts"
import { type PostTarget, postClause } from "./postClauses.ts"
import type { TranslationTarget } from "./target.ts"
import { rawTextOfFirehose, toX } from "./toX.ts"

export const toBluesky: TranslationTarget["clause"] = (predicate, raw, positive) => {
  const isOfPage = "field" in predicate ? predicate.field.startsWith("firehose.") : predicate._tag === "Recent"
  if (!isOfPage) return postClause(predicate, positive, target)
  if (predicate._tag === "Equals" && predicate.field === "firehose.language") {
    return postClause({ ...predicate, field: "x.lang" }, positive, target)
  }
  return renamed(toX(predicate, raw, positive))
}

export const rawTextForBluesky = rawTextOfFirehose

// ---- helpers ----

const ACCOUNTS = "Accounts of X and of Bluesky are not the same"

const target: PostTarget = {
  dialect: blueskyDialect,
  languageCode: (code) => (/^[a-z]{2}(-|$)/.test(code) ? languageCode(code) : undefined),
  reasons: [
    ["x.from_affiliate", "Accounts of Bluesky have no affiliates"],
    ["x.to_affiliate", "Accounts of Bluesky have no affiliates"],
    ["x.retweets_of", "Reposts on Bluesky are not read"],
    ["x.from", ACCOUNTS],
    ["x.to", ACCOUNTS],
    ["x.mention", ACCOUNTS],
    ["x.conversation_id", "Posts of X and of Bluesky are not the same"],
    ["x.in_reply_to", "Posts of X and of Bluesky are not the same"],
    ["x.bio", "Bluesky's stream has no profiles of authors"],
    ["x.place", "Posts on Bluesky have no location"],
    ["x.has", "Posts on Bluesky have no location"],
    ["x.context", "Posts on Bluesky have no annotations"],
    ["x.entity", "Posts on Bluesky have no annotations"],
    ["x.source", "Posts on Bluesky do not name the app that made them"],
    ["x.", "Bluesky's stream has no profiles of authors"]
  ],
  absentKinds: new Map([
    ["retweet", "Reposts on Bluesky are not read"],
    ["nullcast", "Bluesky has no posts for ads only"]
  ])
}

/** Bluesky's filters are those of X, and so are the reasons. */
const renamed = (translation: ClauseTranslation): ClauseTranslation => {
  const onBluesky = (reason: string) => reason.replace(/\bX\b/g, "Bluesky")
  return "impossible" in translation
    ? { impossible: onBluesky(translation.impossible) }
    : { ...translation, reason: onBluesky(translation.reason) }
}
