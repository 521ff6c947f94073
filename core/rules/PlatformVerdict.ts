/** What `ask_platforms` finds out: whether a filter is accepted, and who says so. */
import { Either, Schema } from "effect"
import { optional } from "../model/optional.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Acceptance, Platform, RuleRefusal } from "../platforms/Platform.ts"

export const PlatformVerdict = Schema.Struct({
  accepted: Schema.Boolean,
  reason: optional(Schema.String, "Why the filter is not accepted"),
  asked: Schema.Boolean.annotations({
    description: "Whether a service was asked. false: the platform runs in process, or this server leaves it alone"
  }),
  judged_by: Schema.Literal("platform", "other_service", "earshot").annotations({
    description:
      "platform: the platform's own service. other_service: the service at `address`, which is set in place of it. earshot: Earshot's own reading of the language, because nobody was asked, or the service gave no verdict"
  }),
  address: optional(Schema.String, "The service that was asked, if it is not the platform's own")
}).annotations({ identifier: "PlatformVerdict" })
export type PlatformVerdict = typeof PlatformVerdict.Type

export const toPlatformVerdict = (
  { capabilities: { isRemote, address } }: Platform,
  verdict: Either.Either<Acceptance, RuleRefusal>
): PlatformVerdict => {
  const isJudgedThere = isRemote && (Either.isLeft(verdict) || verdict.right === "confirmed")
  const service = address === undefined ? "platform" : "other_service"
  return {
    accepted: Either.isRight(verdict),
    ...(Either.isLeft(verdict) && { reason: verdict.left.reason }),
    asked: isRemote && (Either.isLeft(verdict) || verdict.right !== "unasked"),
    judged_by: isJudgedThere ? service : "earshot",
    ...(address !== undefined && { address })
  }
}

/** May quote the platform. */
export const describeVerdict = (
  platform: PlatformId,
  { accepted, reason = "no reason given", asked, judged_by, address }: PlatformVerdict
): string => {
  const verdict = accepted ? "accepts the filter" : `refuses the filter: ${reason}`
  if (!asked) return `${platform} was not asked: only Earshot judges its filters on this server. Its check ${verdict}`
  const service = address === undefined ? platform : `${address}, which is set in place of ${platform},`
  return judged_by === "earshot"
    ? `${service} was asked and gave no verdict; Earshot's own check ${verdict}`
    : `${address === undefined ? `${platform} itself` : service} ${verdict}`
}
