/** The errors of the methods for events, with the codes of the draft. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server"
import { CallbackFailed } from "../../core/model/Errors.ts"
import { nearest } from "../../core/text/nearest.ts"
import { shownValue } from "../../core/text/shownValue.ts"
import { type DoorFailure, toWire } from "../errors.ts"
import type { CallError } from "./calls.ts"

export const CODES = {
  notFound: -32_011,
  forbidden: -32_012,
  resourceExhausted: -32_013,
  unsupported: -32_014,
  callback: -32_015
}

export const unknownEvent = (name: string, names: ReadonlyArray<string>): ProtocolError => {
  const near = nearest(name, names)
  const advice = near === undefined ? `expected one of ${names.join(", ")}` : `did you mean ${near}?`
  return new ProtocolError(CODES.notFound, `There is no event ${shownValue(name)}: ${advice}`, { kind: "event" })
}

export const unsupported = (mode: string, message: string): ProtocolError =>
  new ProtocolError(CODES.unsupported, message, { feature: "deliveryMode", value: mode })

export const invalid = (field: string, message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, `"${field}": ${message}`, {
    field,
    issues: [{ path: field, message }]
  })

export const toProtocolError = (failure: DoorFailure | CallbackFailed): ProtocolError =>
  failure instanceof CallbackFailed
    ? new ProtocolError(CODES.callback, failure.message, { reason: failure.reason })
    : ofCall(toWire(failure))

/** `prefix`: where the arguments of the call were sent. */
export const ofCall = ({ code, message, details }: CallError): ProtocolError => {
  switch (code) {
    case "permission_denied":
    case "unauthenticated":
      return new ProtocolError(CODES.forbidden, message, details)
    case "resource_exhausted": {
      const { name = details["platform"], limit, used } = details
      return new ProtocolError(CODES.resourceExhausted, message, { limit: name, max: limit, used })
    }
    case "invalid_argument": {
      const [first] = issuesOf(details)
      return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { field: first?.path ?? "", ...details })
    }
    case "not_found":
      return new ProtocolError(ProtocolErrorCode.InvalidParams, message, {
        field: "arguments.rule_id",
        issues: [{ path: "arguments.rule_id", message }]
      })
    case "failed_precondition":
      return new ProtocolError(ProtocolErrorCode.InvalidParams, message, details)
    default:
      return new ProtocolError(ProtocolErrorCode.InternalError, message, details)
  }
}

// ---- helpers ----

const issuesOf = (details: CallError["details"]): ReadonlyArray<{ readonly path: string }> =>
  Array.isArray(details["issues"]) ? details["issues"] : []
