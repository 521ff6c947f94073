/** The field `details` of an error. Which fields it has depends on the error. */
import { Schema } from "effect"
import { ArgumentIssue } from "../core/model/Errors.ts"
import { optional } from "../core/model/optional.ts"

const Json = Schema.Unknown.annotations({
  jsonSchema: { type: ["object", "array", "string", "number", "boolean", "null"] }
})

export const ErrorDetails = Schema.Struct({
  issues: optional(Schema.Array(ArgumentIssue), "Of invalid_argument: each problem with its path in the request"),
  platform: optional(Schema.String, "The platform that the error is about"),
  upstream: optional(Json, "What the platform answered"),
  rule_id: optional(Schema.String, "The rule that was not found, or is not ready"),
  webhook_id: optional(Schema.String, "The webhook that was not found"),
  match_id: optional(Schema.String, "The match that was not found"),
  platform_post_id: optional(Schema.String, "The event that was not found"),
  key_id: optional(Schema.String, "The key that was not found, or that cannot be changed"),
  grant_id: optional(Schema.String, "The grant that was not found"),
  name: optional(Schema.String, "Of resource_exhausted: the limit of the account, as in GET /account"),
  limit: optional(Schema.Number, "How many are allowed; of a body that is too large: how many bytes"),
  used: optional(Schema.Number, "How many are used"),
  scope: optional(Schema.String, "Of permission_denied: the scope of the key"),
  needed: optional(Schema.String, "Of permission_denied: the scope that is needed, or operator, or key"),
  header: optional(Schema.String, "Of permission_denied: the header whose value is not allowed"),
  expected_version: optional(Schema.Number, "Of aborted: the version that the request expected"),
  version: optional(Schema.Number, "Of aborted: the version that the rule has"),
  idempotency_key: optional(Schema.String, "The idempotency key that is in use, or was used with another request"),
  floor: optional(Schema.String, "Of an expired cursor: matches from before this time are deleted"),
  allowed: optional(Schema.Array(Schema.String), "Of unimplemented: the methods that the path accepts"),
  reason: optional(Schema.String, "Of unavailable: why the store does not accept the request, such as disk_full"),
  expected: optional(Schema.Array(Schema.String), "The content types that the path accepts")
}).annotations({ identifier: "ErrorDetails", description: "Fields that depend on the error. More may come" })
export type ErrorDetails = typeof ErrorDetails.Type
