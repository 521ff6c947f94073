/** The platforms a rule can watch. */
import { Schema } from "effect"

export const PlatformId = Schema.Literal("x", "firehose").annotations({
  identifier: "PlatformId",
  description: "Identifier of a platform",
  message: () => ({ message: 'Expected one of "x", "firehose"', override: true })
})
export type PlatformId = typeof PlatformId.Type

/** In the order in which the service shows them. */
export const PLATFORM_IDS: ReadonlyArray<PlatformId> = PlatformId.literals
