/** Platform ids: lower-case names such as `x`. The registry `Platforms` has the existing ones. */
import { Schema } from "effect"

/** Schema identifier: the gateway finds it in other schemas and replaces it by an enum of the installed platforms. */
export const PLATFORM_ID = "PlatformId"

export const PlatformId = Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9_]*$/)).annotations({
  identifier: PLATFORM_ID,
  description: "Identifier of a platform"
})
export type PlatformId = typeof PlatformId.Type
