/** Runs a program as the main fiber of the process: signals, exit codes and error reports. */
import process from "node:process"
import { Cause, ConfigError, Effect, Exit, Fiber, Option } from "effect"
import { AlreadyReported, errorBodyOf, exitCodeOf } from "../cli/failures.ts"
import { visibleJson, visibleLines } from "../cli/terminal.ts"
import { describeConfigError } from "./settings.ts"

export interface RunOptions {
  readonly args: ReadonlyArray<string>
  /** Interrupting a program that runs until it is stopped counts as success. */
  readonly runsUntilStopped: boolean
}

export const run = (program: Effect.Effect<unknown, unknown>, options: RunOptions): void => {
  const fiber = Effect.runFork(
    Effect.tapErrorCause(program, (cause) =>
      Cause.isFailure(cause) || Cause.isInterruptedOnly(cause)
        ? Effect.void
        : Effect.logDebug("Unexpected failure", cause)
    )
  )

  let stopping = false
  const stop = () => {
    // A second signal ends the process at once.
    if (stopping) process.exit(130)
    stopping = true
    Effect.runFork(Fiber.interrupt(fiber))
  }
  process.on("SIGINT", stop)
  process.on("SIGTERM", stop)
  // The reader closed the pipe, such as `head`.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0)
  })

  fiber.addObserver((exit) => {
    const { code, report } = outcomeOf(exit, options)
    const end = () => process.exit(code)
    // The end of the process drops what a pipe has not taken yet.
    process.stdout.write("", () => process.stderr.write(report, end))
    // A server ends even if nobody reads its output.
    if (options.runsUntilStopped) setTimeout(end, MAX_DRAIN_MILLIS)
  })
}

/** The exit code, and the report for standard error. */
export const outcomeOf = (
  exit: Exit.Exit<unknown, unknown>,
  { args, runsUntilStopped }: RunOptions
): { readonly code: number; readonly report: string } => {
  if (Exit.isSuccess(exit)) return { code: 0, report: "" }
  if (Cause.isInterruptedOnly(exit.cause)) return { code: runsUntilStopped ? 0 : 130, report: "" }
  const failure = failureOf(exit.cause)
  return {
    code: exitCodeOf(failure),
    report: failure instanceof AlreadyReported ? "" : reportOf(failure, args.includes("--json"))
  }
}

// ---- helpers ----

const MAX_DRAIN_MILLIS = 1_000

/** The error of a command. A defect is reduced to one line: users cannot act on its stack trace. */
const failureOf = (cause: Cause.Cause<unknown>): unknown =>
  Option.getOrElse(Cause.failureOption(cause), () => {
    const [defect] = Cause.prettyErrors(cause)
    return new Error(`Unexpected failure: ${defect?.message ?? "unknown"}; set LOG_LEVEL=debug for details`)
  })

/** One line per invalid setting, or a single JSON object. */
const reportOf = (failure: unknown, asJson: boolean): string => {
  const messages = ConfigError.isConfigError(failure) ? describeConfigError(failure) : [errorBodyOf(failure).message]
  return asJson
    ? `${visibleJson({ ...errorBodyOf(failure), message: messages.join("; ") })}\n`
    : messages.map((message) => `earshot: ${visibleLines(message)}\n`).join("")
}
