/** The id of a platform: a lower-case name such as `x`. `Platforms` has the list of those that exist. */
import { Schema } from "effect"

/** The name by which doors find this schema in others, to replace it by the list of the platforms. */
export const PLATFORM_ID = "PlatformId"

export const PlatformId = Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9_]*$/)).annotations({
  identifier: PLATFORM_ID,
  description: "Identifier of a platform"
})
export type PlatformId = typeof PlatformId.Type
