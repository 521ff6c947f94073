/** How a command fails: what is told of it, in words or as JSON, and the exit code. */
import { Data, Option, Predicate, Schema } from "effect"

/** The arguments make no sense; the message says why. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

/** Everything has been told: only the exit code is left to set. */
export class AlreadyTold extends Data.TaggedError("AlreadyTold") {}

/** The fields of every error of Earshot. */
export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

export const exitCodeOf = (failure: unknown): number => (failure instanceof WrongUsage ? 2 : 1)

/** What a server said as it said it; what went wrong on this side in the same terms. */
export const errorBodyOf = (failure: unknown): ErrorBody =>
  Option.getOrElse(asErrorBody(failure), () => ({
    code: CODES[Predicate.hasProperty(failure, "_tag") ? String(failure._tag) : ""] ?? "failed_precondition",
    message: failure instanceof Error ? failure.message : String(failure),
    details: {}
  }))

// ---- helpers ----

const asErrorBody = Schema.decodeUnknownOption(
  Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    details: Schema.Record({ key: Schema.String, value: Schema.Unknown })
  })
)

const CODES: Readonly<Record<string, string>> = {
  WrongUsage: "invalid_argument",
  RemoteNotSet: "unauthenticated",
  RemoteUnreachable: "unavailable",
  StoreCannotOpen: "unavailable",
  StorageUnavailable: "unavailable",
  CannotListen: "unavailable",
  KeyNotFound: "not_found",
  AccountNotFound: "not_found",
  CannotRead: "not_found"
}
