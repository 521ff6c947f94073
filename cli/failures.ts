/** Errors of commands, their JSON form and exit codes. */
import { Data, Option, Predicate, Schema } from "effect"
import { ArgumentIssue } from "../core/model/Errors.ts"

/** The arguments are not valid. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

/** The failure was printed: only the exit code is left to set. */
export class AlreadyReported extends Data.TaggedError("AlreadyReported") {}

/** The wire form of every error. */
export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

export const exitCodeOf = (failure: unknown): number => (failure instanceof UsageError ? 2 : 1)

/** An error body of a server unchanged; any other failure in the same form. */
export const errorBodyOf = (failure: unknown): ErrorBody =>
  Option.getOrElse(asErrorBody(failure), () => ({
    code: codes[Predicate.hasProperty(failure, "_tag") ? String(failure._tag) : ""] ?? "failed_precondition",
    message: failure instanceof Error ? failure.message : String(failure),
    details: {}
  }))

/** The issues in the details of a server's error. Empty if it has none. */
export const issuesIn = (details: ErrorBody["details"]): ReadonlyArray<ArgumentIssue> =>
  Option.match(asIssues(details), { onNone: () => [], onSome: ({ issues }) => issues })

// ---- helpers ----

const asIssues = Schema.decodeUnknownOption(Schema.Struct({ issues: Schema.Array(ArgumentIssue) }))

const asErrorBody = Schema.decodeUnknownOption(
  Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    details: Schema.Record({ key: Schema.String, value: Schema.Unknown })
  })
)

const codes: Readonly<Record<string, string>> = {
  UsageError: "invalid_argument",
  RemoteSettingsInvalid: "unauthenticated",
  RemoteUnreachable: "unavailable",
  StoreCannotOpen: "unavailable",
  StoreUnavailable: "unavailable",
  CannotListen: "unavailable",
  CopyStopped: "unavailable",
  StoreInUse: "unavailable",
  NoServer: "unavailable",
  KeyNotFound: "not_found",
  AccountNotFound: "not_found",
  CannotRead: "not_found"
}
