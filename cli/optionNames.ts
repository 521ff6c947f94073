/** Errors of the server in the words of the command line: options instead of fields of the request. */
import { type RemoteFailure, RemoteRefused } from "../api/calls.ts"
import { issuesIn } from "./failures.ts"

/** Of a command, by field: `{ url: "<address>" }`. */
export type OptionNames = Readonly<Record<string, string>>

/** The option for a path such as `url` or `rule_ids.0`. Undefined for a field that no option sets. */
export const optionFor = (path: string, names: OptionNames): string | undefined =>
  Object.entries(names).find(([field]) => path === field || path.startsWith(`${field}.`))?.[1]

export const afterColon = (message: string): string => `${message.charAt(0).toLowerCase()}${message.slice(1)}`

/** The same failure; if it names a field of the request, with the option instead. */
export const namingOptions =
  (names: OptionNames) =>
  (failure: RemoteFailure): RemoteFailure => {
    if (failure._tag !== "RemoteRefused") return failure
    const { code, details, retryAfterSeconds } = failure
    const [first, ...others] = issuesIn(details)
    const option = first === undefined ? undefined : optionFor(first.path, names)
    if (first === undefined || option === undefined) return failure
    const more = others.length === 0 ? "" : ` (and ${others.length} more, see --json)`
    const message = `${option}: ${afterColon(first.message)}${more}`
    return new RemoteRefused({ code, message, details, retryAfterSeconds })
  }
