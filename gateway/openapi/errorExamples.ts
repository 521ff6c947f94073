/** Examples of errors for the OpenAPI document: what the server sends for these failures. */
import {
  CursorExpired,
  IdempotencyKeyInUse,
  IdempotencyKeyReused,
  InvalidArgument,
  LimitReached,
  PermissionDenied,
  RuleNotFound,
  StoreUnavailable,
  Unauthenticated
} from "../../core/model/Errors.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import { bodyTooLarge, internal, methodNotAllowed, toWire, type WireError, wrongContentType } from "../errors.ts"
import { MAX_BODY_BYTES } from "../http/body.ts"

/** The examples of a status, by name. */
export const errorExamples = (status: number): Readonly<Record<string, { readonly value: unknown }>> =>
  Object.fromEntries(
    Object.entries(examples)
      .filter(([, error]) => error.status === status)
      .map(([name, { code, message, details }]) => [name, { value: { code, message, details } }])
  )

// ---- helpers ----

const EXAMPLE_KEY = "0b9bd6c2-8f5e-4f62-9d2e-6d0c1f5a7a41"

const examples: Readonly<Record<string, WireError>> = {
  field: toWire(
    new InvalidArgument({ issues: [{ path: "limit", message: "Expected a whole number from 1 to 500, got 0" }] })
  ),
  filter: toWire(
    new InvalidArgument({
      issues: [
        {
          path: "overrides.x",
          message: 'Unknown operator "lnag:": did you mean "lang:"?',
          span: { start: 11, end: 18 },
          expected: ["lang:"],
          fix: { message: 'Write "lang:"', text: "earthquake lang:en" }
        }
      ]
    })
  ),
  cursor: toWire(new CursorExpired({ floor: Timestamp.fromMillis(Date.UTC(2026, 10, 1)) })),
  key: toWire(new Unauthenticated({ key: "missing" })),
  header: toWire(new Unauthenticated({ key: "unreadable" })),
  refused: toWire(new Unauthenticated({ key: "refused" })),
  scope: toWire(new PermissionDenied({ scope: "read", needed: "write" })),
  rule: toWire(new RuleNotFound({ ruleId: "rule_01kzyn3v8jf9g8w3q5r7t2x4c6" })),
  method: toWire(methodNotAllowed("GET", "/matches", ["POST"])),
  body: toWire(bodyTooLarge(MAX_BODY_BYTES, MAX_BODY_BYTES + 1)),
  type: toWire(wrongContentType("text/plain", ["application/json"])),
  running: toWire(new IdempotencyKeyInUse({ key: EXAMPLE_KEY })),
  reused: toWire(new IdempotencyKeyReused({ key: EXAMPLE_KEY })),
  limit: toWire(new LimitReached({ name: "requests", limit: 600, used: 600, retryAfterSeconds: 41 })),
  defect: internal,
  store: toWire(new StoreUnavailable({ operation: "matches.list", cause: undefined })),
  disk: toWire(new StoreUnavailable({ operation: "matches.list", cause: undefined, reason: "disk_full" }))
}
