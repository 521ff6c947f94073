/** Logs to standard error, as JSON or as plain lines, with the request id. */
import process from "node:process"
import { Cause, FiberRefs, Inspectable, type Layer, Logger, Option } from "effect"
import { RequestId } from "../../core/model/RequestId.ts"
import { withSources } from "./stacks.ts"

export type LogFormat = "json" | "pretty"

export const layerWith = (format: LogFormat, write: (text: string) => void = toStandardError): Layer.Layer<never> =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make((entry) => write(`${(format === "json" ? jsonLine : plainLine)(lineOf(entry))}\n`))
  )

// ---- helpers ----

const toStandardError = (text: string): void => void process.stderr.write(text)

interface Line {
  readonly at: string
  readonly level: string
  readonly message: string
  readonly request_id?: string
  readonly cause?: string
}

const lineOf = ({ date, logLevel, message, cause, context }: Logger.Logger.Options<unknown>): Line => {
  const requestId = FiberRefs.getOrDefault(context, RequestId)
  const parts = Array.isArray(message) ? message : [message]
  return {
    at: date.toISOString(),
    level: logLevel.label.toLowerCase(),
    message: parts.map(describe).join(" "),
    ...(Option.isSome(requestId) ? { request_id: requestId.value } : {}),
    ...(Cause.isEmpty(cause) ? {} : { cause: withSources(Cause.pretty(cause, { renderErrorCause: true })) })
  }
}

/** An error is logged by its message, without its other properties. */
const describe = (part: unknown): string =>
  part instanceof Error && part.message !== "" ? part.message : Inspectable.toStringUnknown(part, 0)

const jsonLine = (line: Line): string => JSON.stringify(line)

const plainLine = ({ at, level, message, request_id, cause }: Line): string => {
  const request = request_id === undefined ? "" : ` (request ${request_id})`
  return `${at.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${message}${request}${cause === undefined ? "" : `\n${cause}`}`
}
