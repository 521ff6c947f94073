/** Runs a program as the process: signals, exit codes, and how a failure is reported. */
import process from "node:process"
import { Cause, ConfigError, Effect, Exit, Fiber, Option } from "effect"
import { AlreadyTold, errorBodyOf, exitCodeOf } from "../cli/failures.ts"
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
    // A second signal does not wait for anything.
    if (stopping) process.exit(130)
    stopping = true
    Effect.runFork(Fiber.interrupt(fiber))
  }
  process.on("SIGINT", stop)
  process.on("SIGTERM", stop)
  // Nobody reads what is printed any more.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0)
  })

  fiber.addObserver((exit) => {
    const { code, report } = outcomeOf(exit, options)
    process.stderr.write(report)
    process.exit(code)
  })
}

/** With which code a program ends, and what is left to say on standard error. */
export const outcomeOf = (
  exit: Exit.Exit<unknown, unknown>,
  { args, runsUntilStopped }: RunOptions
): { readonly code: number; readonly report: string } => {
  if (Exit.isSuccess(exit)) return { code: 0, report: "" }
  if (Cause.isInterruptedOnly(exit.cause)) return { code: runsUntilStopped ? 0 : 130, report: "" }
  const failure = failureOf(exit.cause)
  return {
    code: exitCodeOf(failure),
    report: failure instanceof AlreadyTold ? "" : reportOf(failure, args.includes("--json"))
  }
}

// ---- helpers ----

/** What a command failed with. A defect is shortened to one line, for a reader who cannot fix it. */
const failureOf = (cause: Cause.Cause<unknown>): unknown =>
  Option.getOrElse(Cause.failureOption(cause), () => {
    const [defect] = Cause.prettyErrors(cause)
    return new Error(`Unexpected failure: ${defect?.message ?? "unknown"}; LOG_LEVEL=debug tells all of it`)
  })

/** Plain, with a line for each setting that is wrong; or the fields of an error for a program. */
const reportOf = (failure: unknown, asJson: boolean): string => {
  const messages = ConfigError.isConfigError(failure) ? describeConfigError(failure) : [errorBodyOf(failure).message]
  return asJson
    ? `${JSON.stringify({ ...errorBodyOf(failure), message: messages.join("; ") })}\n`
    : messages.map((message) => `earshot: ${message}\n`).join("")
}
